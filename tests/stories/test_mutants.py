"""Generated rules with one fault each: the generated tests notice it.

Each mutant is a text edit of one rule, of the kind that a person or a careless refactoring makes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from compiling import compiled, plan_of, proofs
from playback import Player

from longwatch.compiler import Compiled
from longwatch.render.yaml import dump
from longwatch.wire.prometheus import rule_file

RECSYS, LLM, POD = "recsys-ranking", "llm-pretraining", "h100-pod"


@dataclass(frozen=True)
class Mutant:
    fault: str
    subject: str
    rule: str
    """The alert or record that is edited; the first of its name, unless `which` stands in it."""
    old: str
    """A regular expression that must match."""
    new: str
    noticed_by: str
    """The generated scenario that is run."""
    which: str = ""


MUTANTS = {
    mutant.fault: mutant
    for mutant in (
        Mutant("operator-turned", RECSYS, "TrainingStalled", r"\) > on", ") < on", "training-stalled.checkpoint-pause"),
        Mutant("threshold-moved", LLM, "lw_run:tflops_per_gpu:limit", r"144\.53", "119.2", "throughput-degraded.degraded-straggler"),
        Mutant("for-too-long", RECSYS, "LossSpike", r"for: \w+", "for: 30m", "loss-spike.loss-spike"),
        Mutant("for-dropped", RECSYS, "RunVanished", r"    for: \w+\n", "", "run-vanished.crash"),
        Mutant("keep-firing-for-dropped", RECSYS, "LossNotFinite", r"    keep_firing_for: \w+\n", "", "loss-not-finite.loss-infinite-then-exit"),
        Mutant("warm-up-guard-dropped", LLM, "ThroughputDegraded", r"first_step:time(\{[^}]*\}) > [0-9]+", r"first_step:time\1 > 0",  "throughput-degraded.degraded-warm-up"),
        Mutant("window-too-short", RECSYS, "GradNormExploding", r"\[1h30s\]", "[2m]", "grad-norm-exploding.grad-norm-spike"),
        Mutant("window-of-the-curve-too-short", RECSYS, "LossDiverging", r"quantile_over_time\(0\.5, (lw_run:loss:max\{[^}]*\})\[\w+\]\)", r"\1", "loss-diverging.loss-outlier-above-its-curve"),
        Mutant("band-too-wide", RECSYS, "LossDiverging", r"> 1\.1", "> 1.5", "loss-diverging.loss-drifts-from-its-curve"),
        Mutant("finish-forgotten", RECSYS, "RunVanished", r"\n +unless on .*lw_run:over.*", "", "run-vanished.normal-finish"),
        Mutant("absence-forgotten", RECSYS, "SignalMissing", r" unless on \(cluster, run_id\) max", " and on (cluster, run_id) max", "signal-missing.loss-not-exported"),
        Mutant("identity-not-asked-for", RECSYS, "RunIdentityMissing", r'run_id=""', 'run_id!=""', "run-vanished.requeue"),
        Mutant("carry-dropped", RECSYS, "lw_run:seen:time", r" or on \(cluster, run_id\) \(last_over_time\(lw_run:seen:time.*", "", "run-not-recovered.death-without-return"),
        Mutant("carry-of-the-end-dropped", RECSYS, "lw_run:finished:time", r" or on \(cluster, run_id\) \(last_over_time\(lw_run:finished:time.*", "", "run-vanished.normal-finish"),
        Mutant("variant-not-joined", LLM, "lw_run:variant:info", r'sequence="8192"', 'sequence="4096"', "throughput-degraded.degraded-healthy-8k", which="8192"),
        Mutant("phase-limit-too-short", RECSYS, "lw_run:stall_limit:seconds", r"\+ 1800", "+ 180", "training-stalled.evaluation-of-20-minutes"),
        Mutant("label-filter-dropped", RECSYS, "lw_run:variant:info", r', model_size="small"', "", "baseline-missing.run-of-no-variant", which="small"),
        Mutant("nan-compared-with-itself", LLM, "LossNotFinite", r"\) != \(", ") == NaN * (", "loss-not-finite.loss-nan-on-one-rank"),
        Mutant("ranks-aggregated-before-the-look", LLM, "LossNotFinite", r"label_replace\(sum_over_time\((megatron_training_loss\{[^}]*\})\[\w+\]\)", r"label_replace(max without (rank) (\1)", "loss-not-finite.loss-nan-on-one-rank"),
        Mutant("placement-not-joined", POD, "GpuThrottled", r"\n *\* on \(cluster, node\) group_left .*lw_node:placement:info", "", "gpu-throttled.throttled-gpu-under-a-run"),
        Mutant("edge-not-keyed-by-its-code", POD, "GpuXidCritical", r"on \(cluster, node, gpu, code\)", "on (cluster, node, gpu)", "gpu-xid-critical.xid-31-then-79"),
        Mutant("bit-of-the-mask-wrong", POD, "GpuThrottled", r"% 256\) >= 128", "% 256) >= 256", "gpu-throttled.throttled-gpu-under-a-run"),
        Mutant("floor-dropped", POD, "DiskFillingUp", r"< 0\.4\b", "< 4", "disk-filling-up.disk-free-plenty-left"),
        Mutant("forecast-too-near", POD, "HostMemoryRunningOut", r", 43200\)", ", 60)", "host-memory-running-out.host-memory-available-runs-out"),
    )
}  # fmt: skip


def mutated(rules: str, mutant: Mutant) -> str:
    """The rule file with one rule edited; fails when there is nothing to edit."""
    blocks = re.split(r"(?m)^(?=  - (?:alert|record): )", rules)
    named = re.compile(rf"  - (?:alert|record): {re.escape(mutant.rule)}\n")
    at = next(index for index, block in enumerate(blocks) if named.match(block) and mutant.which in block)
    edited, times = re.subn(mutant.old, mutant.new, blocks[at])
    assert times and edited != blocks[at], f"{mutant.fault} finds nothing to edit in:\n{blocks[at]}"
    return "".join((*blocks[:at], edited, *blocks[at + 1 :]))


@pytest.mark.parametrize("fault", MUTANTS)
def test_a_fault_in_a_rule_is_noticed_by_the_generated_tests(fault: str, player: Player, sample: Compiled) -> None:
    mutant = MUTANTS[fault]
    plan = plan_of(sample, mutant.subject)
    chosen = proofs(plan, lambda scenario: scenario.key == mutant.noticed_by)
    broken = mutated(chosen["rules.yml"], mutant)
    assert player.disproved({**chosen, "rules.yml": broken}) == {mutant.noticed_by}


@pytest.mark.parametrize("subject", [RECSYS, LLM, POD])
def test_the_rules_without_a_fault_pass_the_same_generated_tests(
    subject: str, player: Player, sample: Compiled
) -> None:
    used = {mutant.noticed_by for mutant in MUTANTS.values() if mutant.subject == subject}
    assert player.disproved(proofs(plan_of(sample, subject), lambda scenario: scenario.key in used)) == set()


# the guard of a disabled alert ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def disabled(sample_files: Sequence[tuple[str, bytes]]) -> dict[str, str]:
    """The files of a family whose LossSpike is disabled for a while."""
    before, after = (
        "  override:\n",
        ("  override:\n    LossSpike: {disable: true, reason: optimiser experiments, until: 2026-12-20}\n"),
    )
    changed = [
        (name, raw.decode().replace(before, after).encode() if name.endswith(f"{LLM}.yaml") else raw)
        for name, raw in sample_files
    ]
    made = compiled(changed)
    wanted = [a for a in made.artifacts if a.subject == LLM and a.path.endswith((".rules.yml", ".disabled.test.yml"))]
    return {a.path.rsplit("/", 1)[-1]: a.text for a in wanted}


def test_a_disabled_alert_that_is_armed_too_early_is_noticed(player: Player, disabled: dict[str, str]) -> None:
    name = f"{LLM}.rules.yml"
    rearmed = re.sub(r"and on \(\) \(vector\(time\(\)\) >= [0-9]+\)", "", disabled[name])
    assert rearmed != disabled[name]
    assert player.disproved({**disabled, name: rearmed}) == {"loss-spike.loss-spike"}


def test_a_disabled_alert_stays_silent_until_it_is_due(player: Player, disabled: dict[str, str]) -> None:
    assert player.disproved(disabled) == set()


def test_an_edit_that_changes_nothing_is_no_mutant(sample: Compiled) -> None:
    rules = dump(rule_file(plan_of(sample, LLM)))
    with pytest.raises(AssertionError, match="finds nothing to edit"):
        mutated(rules, Mutant("typo", LLM, "LossSpike", "no such text", "", "LossSpike"))
