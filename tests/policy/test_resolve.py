"""Packs, organisation, family and variants are merged by name, and every value knows who set it."""

from __future__ import annotations

from pathlib import Path

import pytest

from longwatch.compiler import Front, read
from longwatch.diagnostics import Origin, Severity
from longwatch.policy.model import AlertSetting, Family, ResolvedVariant

ORGANISATION = (Path(__file__).parents[1] / "diagnostics" / "_base" / "organisation.yaml").read_text()
FAMILY = """
apiVersion: longwatch/v1
kind: ModelFamily
name: gpt
title: GPT
owner: models
tier: flagship
stage: page
exporters: [canonical, kube_state_metrics]
runs: {select: {job: gpt}, name_pattern: 'gpt-[0-9]+', examples: [gpt-1, gpt-2]}
lifecycle: {expected: scheduler, finished: [scheduler]}
variants: [{name: small, step_time: 10s}]
"""
PROFILE = """
apiVersion: longwatch/v1
kind: Exporter
profile:
  name: canonical
  title: Our own idea of it
  labels: {run_id: {label: run_id}, cluster: {label: cluster}}
  metrics:
    step: [{name: house_step, type: gauge, source: tests of this project}]
    loss:
      - {name: house_loss_v2, type: gauge, source: tests of this project}
      - {name: house_loss, type: gauge, source: tests of this project}
"""


def front(family: str = "", organisation: str = "", **more: str) -> Front:
    """What the policies resolve to; `family` and `organisation` are appended to a healthy policy."""
    texts = {"organisation.yaml": ORGANISATION + organisation, "family.yaml": FAMILY + family, **more}
    return read([(name.replace("_", "."), text.encode()) for name, text in texts.items()])


def family(text: str = "", organisation: str = "", **more: str) -> Family:
    found = front(text, organisation, **more)
    assert found.policy is not None
    assert [d.message for d in found.diagnostics if d.severity is Severity.ERROR] == []
    return found.policy.families[0]


def setting(resolved: Family, name: str) -> AlertSetting:
    [found] = [s for s in resolved.settings if s.name == name]
    return found


def set_by(resolved: AlertSetting) -> dict[str, str]:
    """Parameter → the layer that set it."""
    return {value.path: value.layer for value in resolved.values}


def codes(found: Front) -> list[str]:
    return [d.code for d in found.diagnostics if d.severity is Severity.ERROR]


# layers -----------------------------------------------------------------------------------------------------------

LOSS = "alerts:\n  packs: [loss]\n"
OVERRIDDEN = LOSS + "  override: {LossSpike: {above: 200%}}\n"
FOR_ALL = "override: {LossSpike: {above: 150%, for: 9m}}\n"


def above(resolved: Family) -> float:
    return float(setting(resolved, "LossSpike").parameters.above)  # type: ignore[attr-defined]


def test_a_pack_gives_the_first_word() -> None:
    assert above(family(LOSS)) == 1.3


def test_the_organisation_has_a_word_over_the_pack() -> None:
    assert above(family(LOSS, FOR_ALL)) == 1.5


def test_the_family_has_the_last_word() -> None:
    assert above(family(OVERRIDDEN, FOR_ALL)) == 2.0


def test_what_a_later_layer_does_not_say_stays() -> None:
    parameters = setting(family(OVERRIDDEN, FOR_ALL), "LossSpike").parameters
    assert (parameters.for_, parameters.keep_firing_for) == (540.0, 900.0)


def test_every_value_knows_the_layer_that_set_it() -> None:
    layers = set_by(setting(family(OVERRIDDEN, FOR_ALL), "LossSpike"))
    assert layers["above"] == "family"
    assert layers["for"] == "organisation"
    assert layers["keep_firing_for"] == "pack loss"


def test_an_overridden_value_points_at_the_line_of_the_family() -> None:
    written = setting(family(OVERRIDDEN, FOR_ALL), "LossSpike").written("above")
    assert written == Origin(file="family.yaml", path=("alerts", "override", "LossSpike", "above"))


def test_a_value_of_the_organisation_points_at_its_file() -> None:
    written = setting(family(LOSS, FOR_ALL), "LossSpike").written("for")
    assert written == Origin(file="organisation.yaml", path=("override", "LossSpike", "for"))


def test_a_value_of_a_pack_was_written_nowhere() -> None:
    assert setting(family(LOSS), "LossSpike").written("above") is None


def test_an_inherited_alert_points_at_the_pack_that_brought_it() -> None:
    assert setting(family(LOSS), "LossSpike").origin == Origin(file="family.yaml", path=("alerts", "packs", 0))


def test_an_overridden_alert_points_at_its_override() -> None:
    origin = setting(family(OVERRIDDEN), "LossSpike").origin
    assert origin == Origin(file="family.yaml", path=("alerts", "override", "LossSpike"), key=True)


def test_the_familys_own_packs_come_first() -> None:
    names = [s.name for s in family(LOSS).settings]
    assert names.index("LossSpike") < names.index("SignalMissing")


def test_a_pack_that_both_name_comes_once() -> None:
    names = [s.name for s in family("alerts: {packs: [monitoring]}\n").settings]
    assert len(names) == len(set(names))


def test_a_pack_for_machines_of_the_organisation_does_not_reach_families() -> None:
    both = ORGANISATION.replace("packs: [monitoring]", "packs: [monitoring, gpu]")
    names = {s.name for s in family(organisation_yaml=both).settings}
    assert "SignalMissing" in names
    assert "GpuThrottled" not in names


ADDED = """alerts:
  packs: [loss]
  add:
    LearningRateOdd: {detect: not_finite, signal: learning_rate, severity: info, remediation: Look at the schedule.}
"""


def test_an_added_alert_is_one_that_was_asked_for_by_name() -> None:
    added = setting(family(ADDED), "LearningRateOdd")
    assert (added.detector, added.pack, added.asked_for) == ("not_finite", "", True)


def test_a_packs_alert_was_not_asked_for_by_name() -> None:
    assert not setting(family(ADDED), "LossSpike").asked_for


def test_an_added_alert_has_all_its_values_from_the_family() -> None:
    assert set(set_by(setting(family(ADDED), "LearningRateOdd")).values()) == {"family"}


def test_added_alerts_come_after_the_packs() -> None:
    assert family(ADDED).settings[-1].name == "LearningRateOdd"


# variants ---------------------------------------------------------------------------------------------------------


def variants(text: str) -> dict[str, ResolvedVariant]:
    policy = FAMILY.replace("variants: [{name: small, step_time: 10s}]\n", f"variants:\n{text}")
    return {variant.name: variant for variant in family(family_yaml=policy).variants}


THREE = """
  - {name: small, when: {size: s}, ranks: 8, step_time: 10s, log_every: 4, baselines: {mfu: {value: 0.4, spread: 0.01}}}
  - {name: large, extends: small, when: {size: l}, step_time: 20s}
  - {name: huge, extends: large, when: {size: h}, ranks: 64, baselines: {mfu: {value: 0.5, spread: 0.02}}}
"""


def test_a_variant_takes_what_it_does_not_say_from_the_one_that_it_extends() -> None:
    large = variants(THREE)["large"]
    assert (large.ranks, large.step_time, large.baselines["mfu"].value) == (8, 20.0, 0.4)


def test_a_variant_extends_through_several_steps() -> None:
    huge = variants(THREE)["huge"]
    assert (huge.ranks, huge.step_time, huge.baselines["mfu"].value) == (64, 20.0, 0.5)


def test_a_variant_does_not_take_the_labels_that_choose_another() -> None:
    assert [dict(v.when) for v in variants(THREE).values()] == [{"size": "s"}, {"size": "l"}, {"size": "h"}]


def test_a_variant_publishes_every_log_interval() -> None:
    assert [v.publish_every for v in variants(THREE).values()] == [40.0, 80.0, 80.0]


def test_a_variant_publishes_no_faster_than_it_is_scraped() -> None:
    assert variants("  - {name: fast, step_time: 100ms}\n")["fast"].publish_every == 15.0


def test_a_variant_may_say_how_often_it_publishes() -> None:
    slow = "  - {name: slow, step_time: 1s, log_every: 10, publish_every: 70m}\n"
    assert variants(slow)["slow"].publish_every == 4200.0


def test_a_family_is_as_slow_as_its_slowest_variant() -> None:
    policy = FAMILY.replace("variants: [{name: small, step_time: 10s}]\n", f"variants:\n{THREE}")
    resolved = family(family_yaml=policy)
    assert (resolved.step_time, resolved.publish_every) == (20.0, 80.0)


@pytest.mark.parametrize(
    ("text", "message", "help"),
    [
        (
            "  - {name: a, step_time: 1s}\n  - {name: b, extends: aa}\n",
            'extends "aa", which is no variant',
            'mean "a"?',
        ),
        ("  - {name: a, step_time: 1s, extends: a}\n", "extends itself", "name another variant"),
        ("  - {name: a, extends: b}\n  - {name: b, extends: a}\n", "extends itself", "name another variant"),
    ],
    ids=["unknown", "itself", "in a ring"],
)
def test_a_variant_that_extends_nothing_real_is_a_diagnostic(text: str, message: str, help: str) -> None:
    policy = FAMILY.replace("variants: [{name: small, step_time: 10s}]\n", f"variants:\n{text}")
    found = [d for d in front(family_yaml=policy).diagnostics if d.code == "unknown-variant"]
    assert found
    assert message in found[0].message
    assert help in found[0].help


# what a family inherits ---------------------------------------------------------------------------------------------


def test_a_tier_says_what_pages() -> None:
    relaxed = ORGANISATION.replace("flagship: {pages: [critical]}", "flagship: {pages: []}")
    assert family(organisation_yaml=relaxed).pages == ()


def test_without_a_tier_critical_alerts_page() -> None:
    assert family(family_yaml=FAMILY.replace("tier: flagship\n", "")).pages == ("critical",)


def test_scraping_is_the_organisations() -> None:
    resolved = family(organisation="scrape: {interval: 30s, rules: 90s}\n")
    assert (resolved.scrape, resolved.rules, resolved.sample_every) == (30.0, 90.0, 30.0)


def test_a_pushing_exporter_gives_samples_as_often_as_it_pushes() -> None:
    policy = FAMILY.replace("exporters: [canonical, kube_state_metrics]", "exporters: [megatron, slurm_soperator]")
    resolved = family(organisation="scrape: {interval: 5s}\n", family_yaml=policy)
    assert (resolved.push_every, resolved.sample_every) == (10.0, 10.0)


def test_a_family_was_compiled_from_the_organisation_and_its_own_file() -> None:
    assert family().sources == ("organisation.yaml", "family.yaml")


def test_phases_are_those_of_the_exporter_that_has_them() -> None:
    assert family().phases["evaluating"] == 4


# exporters ------------------------------------------------------------------------------------------------------------


def test_a_role_is_read_from_every_exporter_that_plays_it() -> None:
    policy = FAMILY.replace("[canonical, kube_state_metrics]", "[canonical, prime_rl, kube_state_metrics]")
    sources = family(family_yaml=policy).readings["loss"].sources
    assert [source.metric.name for source in sources] == ["train_loss", "trainer_loss"]


def test_a_profile_among_the_policies_stands_in_for_one_of_ours() -> None:
    resolved = family(profile_yaml=PROFILE)
    assert [source.metric.name for source in resolved.readings["loss"].sources] == ["house_loss_v2", "house_loss"]


def test_a_role_that_nobody_plays_is_absent() -> None:
    assert "tflops_per_gpu" not in family().readings


# order and what is unknown --------------------------------------------------------------------------------------------


def test_families_come_by_name_whatever_their_files_are_called() -> None:
    second = FAMILY.replace("name: gpt\n", "name: bert\n").replace("job: gpt", "job: bert")
    found = front(z_yaml=second)
    assert found.policy is not None
    assert [f.name for f in found.policy.families] == ["bert", "gpt"]


@pytest.mark.parametrize(
    ("text", "code", "help"),
    [
        ("alerts: {packs: [losses]}\n", "unknown-pack", 'did you mean "loss"?'),
        ("alerts: {packs: [gpu]}\n", "unknown-pack", "packs for a family: progress"),
        ("alerts: {override: {LossSpike: {above: 200%}}}\n", "unknown-alert", 'add "loss" to packs'),
        (LOSS + "  override: {LossSpikes: {above: 200%}}\n", "unknown-alert", 'did you mean "LossSpike"?'),
        ("alerts: {override: {Nonsense: {above: 200%}}}\n", "unknown-alert", "alerts here: "),
    ],
    ids=["pack", "pack of machines", "alert of another pack", "misspelt alert", "alert of no pack"],
)
def test_an_unknown_name_is_a_diagnostic_that_suggests_one(text: str, code: str, help: str) -> None:
    [found] = [d for d in front(text).diagnostics if d.severity is Severity.ERROR]
    assert found.code == code
    assert help in found.help


def test_an_unknown_exporter_is_a_diagnostic_that_suggests_one() -> None:
    policy = FAMILY.replace("canonical", "canonicle")
    found = [d for d in front(family_yaml=policy).diagnostics if d.code == "unknown-exporter"]
    assert [d.help for d in found] == ['did you mean "canonical"?']


def test_a_fault_of_the_organisation_is_said_once_for_all_families() -> None:
    second = FAMILY.replace("name: gpt\n", "name: bert\n").replace("job: gpt", "job: bert")
    bad = ORGANISATION.replace("packs: [monitoring]", "packs: [monitorings]")
    found = read([(n, t.encode()) for n, t in {"o.yaml": bad, "a.yaml": FAMILY, "b.yaml": second}.items()])
    assert codes(found).count("unknown-pack") == 1


def test_two_organisations_cannot_be_resolved() -> None:
    found = front(other_yaml=ORGANISATION)
    assert found.policy is None
    assert "two-organisations" in codes(found)


def test_resolving_twice_gives_the_same_policy() -> None:
    assert front(OVERRIDDEN, FOR_ALL).policy == front(OVERRIDDEN, FOR_ALL).policy
