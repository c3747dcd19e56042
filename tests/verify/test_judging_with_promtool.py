"""Rules and tests before the real promtool: what passes, what fails, and at which line of the policy."""

from __future__ import annotations

import msgspec
import pytest

from longwatch.artifact import Artifact
from longwatch.diagnostics import Origin
from longwatch.tools.toolbox import Tool, Toolbox
from longwatch.verify.judge import judge, needed
from longwatch.verify.verdict import FileVerdict, Verdict

POLICY = "policies/families/gpt.yaml"
ALERT = Origin(file=POLICY, path=("alerts", 0))
RECORD = Origin(file=POLICY, path=("signals", "loss"))
QUIET = Origin(file=POLICY, path=("alerts", 0, "quiet"))
LOUD = Origin(file=POLICY, path=("alerts", 0, "loud"))

RULES = """\
# Compiled from policies/families/gpt.yaml
groups:
- name: gpt
  rules:
  - record: gpt:loss
    expr: max by (run_id) (loss)
  - alert: LossHigh
    expr: gpt:loss > 10
    labels:
      severity: critical
    annotations:
      summary: |-
        The loss of {{ $labels.run_id }}
        - alert: is not a rule here
"""

TEST = """\
# Compiled from policies/families/gpt.yaml
rule_files:
- gpt.rules.yml
evaluation_interval: 1m
tests:
- name: loss
  interval: 1m
  input_series:
  - series: loss{run_id="loud"}
    values: 1x4 20x10
  - series: loss{run_id="quiet"}
    values: 1x20
  promql_expr_test:
  - expr: 'count by (run_id) (ALERTS{alertname="LossHigh",alertstate="firing",run_id="loud"}) # scenario: loud'
    eval_time: 4m
    exp_samples: []
  - expr: |-
      count by (run_id) (ALERTS{alertname="LossHigh",run_id="loud"})
        # scenario: loud
    eval_time: 5m
    exp_samples:
    - labels: '{run_id="loud"}'
      value: 1
  - expr: 'count(ALERTS{alertname=~"LossHigh",run_id="quiet"}) # scenario: quiet'
    eval_time: 15m
    exp_samples: []
"""


def rules(text: str = RULES, name: str = "gpt") -> Artifact:
    return Artifact(
        path=f"prometheus/{name}.rules.yml",
        text=text,
        target="prometheus",
        subject=name,
        origins={"alert/LossHigh": ALERT, "record/gpt:loss": RECORD},
    )


def test_file(text: str = TEST, name: str = "gpt") -> Artifact:
    return Artifact(
        path=f"prometheus/{name}.test.yml",
        text=text,
        target="promtool",
        subject=name,
        origins={"scenario/loud": LOUD, "scenario/quiet": QUIET},
    )


test_file.__test__ = False  # type: ignore[attr-defined]


def verdict(tools: Toolbox, *artifacts: Artifact, jobs: int = 2) -> Verdict:
    return judge(artifacts, tools, jobs=jobs)


def only(tools: Toolbox, text: str, old: str = "", new: str = "") -> FileVerdict:
    """The verdict on the test file after one change to it."""
    assert not old or old in text
    return verdict(tools, rules(), test_file(text.replace(old, new) if old else text)).files[1]


def test_right_rules_and_tests_are_proved(tools: Toolbox) -> None:
    found = verdict(tools, rules(), test_file())

    assert found.diagnostics == ()
    assert found.ok
    assert (found.rules, found.cases, found.proved) == (2, 3, 2)
    assert [(file.path, file.subject) for file in found.files] == [
        ("prometheus/gpt.rules.yml", "gpt"),
        ("prometheus/gpt.test.yml", "gpt"),
    ]
    assert found.files[1].proved == ("loud", "quiet")
    assert found.tools == {"promtool": tools["promtool"].release}


def test_a_failed_scenario_is_told_with_both_sides_at_its_place_in_the_policy(tools: Toolbox) -> None:
    found = only(tools, TEST, "1x20", "1x10 30x10")

    (failure,) = found.failures
    assert not found.ok
    assert (failure.scenario, failure.origin) == ("quiet", QUIET)
    assert failure.message == (
        'count(ALERTS{alertname=~"LossHigh",run_id="quiet"}) at 15m: expected nothing, got {} 1E+00'
    )
    assert found.proved == ("loud",)
    assert failure.diagnostic.code == "scenario-failed"
    assert failure.diagnostic.origin == QUIET


def test_several_cases_of_one_scenario_are_one_failure(tools: Toolbox) -> None:
    found = only(tools, TEST, "1x4 20x10", "1x20").failures + only(tools, TEST, "1x4 20x10", "20x20").failures

    assert [failure.scenario for failure in found] == ["loud", "loud"]
    both = only(tools, TEST.replace("eval_time: 4m", "eval_time: 6m"), "value: 1", "value: 2").failures
    assert [failure.message.count("\n") for failure in both] == [1]


def test_an_alert_rule_test_is_told_by_the_name_of_its_group(tools: Toolbox) -> None:
    text = TEST + (
        '- name: quiet\n  interval: 1m\n  input_series:\n  - series: loss{run_id="a b, c"}\n    values: 30x9\n'
        "  alert_rule_test:\n  - eval_time: 5m\n    alertname: LossHigh\n    exp_alerts: []\n"
    )
    (failure,) = only(tools, text).failures

    assert failure.scenario == "quiet"
    assert failure.message.startswith("LossHigh at 5m: expected nothing, got [")
    assert 'run_id="a b, c"' in failure.message


def test_a_wrong_expression_in_a_rule_points_at_the_alert_once(tools: Toolbox) -> None:
    found = verdict(tools, rules(RULES.replace("gpt:loss > 10", "gpt:loss > (")), test_file())

    assert [(d.code, d.origin) for d in found.diagnostics] == [("rule-invalid", ALERT)]
    assert "/gpt.rules.yml: " in found.diagnostics[0].message
    assert "longwatch-" not in found.diagnostics[0].message
    assert (found.ok, found.proved) == (False, 0)


def test_a_copy_of_the_rules_without_origins_borrows_those_of_its_family(tools: Toolbox) -> None:
    copy = Artifact(
        path="prometheus/gpt.armed.yml",
        text=RULES.replace("gpt:loss > 10", "gpt:loss > ("),
        target="prometheus",
        subject="gpt",
    )

    assert [d.origin for d in verdict(tools, rules(), copy).diagnostics] == [ALERT]


def test_a_wrong_template_in_a_rule_points_at_the_alert(tools: Toolbox) -> None:
    found = verdict(tools, rules(RULES.replace("$labels.run_id", "$label.run_id")))

    assert [(d.code, d.origin) for d in found.diagnostics] == [("rule-invalid", ALERT)]


def test_one_wrong_file_leaves_the_verdict_on_the_others_alone(tools: Toolbox) -> None:
    found = verdict(tools, rules(), rules(RULES.replace("max by", "maxi by"), "bad"), test_file())

    assert [file.ok for file in found.files] == [True, False, True]
    assert found.proved == 2


def test_rules_that_stand_twice_in_a_file_are_refused(tools: Toolbox) -> None:
    again = "  - record: gpt:loss\n    expr: max by (run_id) (loss)\n"
    twice = RULES.replace("  - alert:", again + "  - alert:", 1)

    found = verdict(tools, rules(twice))

    assert not found.ok
    assert "duplicate rule" in found.diagnostics[0].message


def test_an_error_while_a_rule_is_evaluated_points_at_the_rule_and_proves_nothing(tools: Toolbox) -> None:
    broken = RULES.replace("max by (run_id) (loss)", "loss * on () loss")

    found = verdict(tools, rules(broken), test_file())

    assert ("rule-evaluation-failed", RECORD) in [(d.code, d.origin) for d in found.diagnostics]
    assert found.proved == 0


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        pytest.param("gpt.rules.yml", "gtp.rules.yml", "rules-not-found", id="a file that does not exist"),
        pytest.param("rule_files:\n- gpt.rules.yml\n", "", "rules-not-found", id="no rule_files"),
        pytest.param(TEST[TEST.index("tests:") :], "tests: []\n", "test-without-cases", id="empty tests"),
        pytest.param(TEST[TEST.index("tests:") :], "", "test-without-cases", id="no tests"),
        pytest.param(TEST[TEST.index("  promql_expr") :], "", "test-without-cases", id="a group without a case"),
        pytest.param("# scenario: quiet", "# about quiet", "scenario-not-run", id="a scenario without a case"),
        pytest.param('=~"LossHigh"', '=~"LossHihg"', "alert-unknown", id="a misspelt alert"),
    ],
)
def test_what_promtool_passes_in_silence_is_refused(tools: Toolbox, old: str, new: str, code: str) -> None:
    found = only(tools, TEST, old, new)

    assert code in [diagnostic.code for diagnostic in found.diagnostics]
    assert not found.ok
    assert found.proved == ()


def test_a_rule_file_without_rules_is_refused(tools: Toolbox) -> None:
    assert [d.code for d in verdict(tools, rules("groups: []\n")).diagnostics] == ["rules-not-found"]


def test_a_test_file_that_promtool_cannot_read_is_told_as_such(tools: Toolbox) -> None:
    found = only(tools, TEST, "  interval: 1m\n", "  intervall: 1m\n")

    assert [diagnostic.code for diagnostic in found.diagnostics] == ["test-invalid"]
    assert "intervall" in found.diagnostics[0].message


def test_each_of_many_files_in_one_process_gets_its_own_verdict(tools: Toolbox) -> None:
    wrong = {3, 7, 8, 20}
    names = [f"family{number}" for number in range(24)]
    artifacts: list[Artifact] = []
    for number, name in enumerate(names):
        text = TEST.replace("gpt.rules", f"{name}.rules")
        artifacts += [rules(name=name), test_file(text.replace("1x20", "30x20") if number in wrong else text, name)]
    seen: list[tuple[int, int, str]] = []

    found = judge(artifacts, tools, jobs=1, progress=lambda *step: seen.append(step))

    tests = [file for file in found.files if file.target == "promtool"]
    assert [file.subject for file in tests if not file.ok] == [names[number] for number in sorted(wrong)]
    assert found.proved == 48 - len(wrong)
    assert found.cases == 72
    assert seen[-1][:2] == (25, 25)
    assert [step[0] for step in seen] == sorted(step[0] for step in seen)


def test_artifacts_of_other_targets_are_left_alone(tools: Toolbox) -> None:
    other = Artifact(path="grafana/a.json", text="{", target="grafana")

    assert verdict(tools, other).files == ()
    assert needed([other]) == ()
    assert needed([rules(), test_file()]) == ("promtool",)


def with_promtool(tools: Toolbox, path: str) -> Toolbox:
    tool = Tool(name="promtool", path=path, version=tools["promtool"].version)
    return msgspec.structs.replace(tools, tools={**tools.tools, "promtool": tool})


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("exec /bin/sleep 30", "tool-timeout"),
        ("kill -SEGV $$", "tool-crashed"),
        ("echo unheard of", "tool-unclear"),
        ("exit 0", "tool-unclear"),
    ],
)
def test_a_promtool_that_does_not_answer_is_a_diagnostic(
    tools: Toolbox, tmp_path_factory: pytest.TempPathFactory, script: str, code: str
) -> None:
    path = tmp_path_factory.mktemp("fake") / "promtool"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)

    found = judge([test_file()], with_promtool(tools, str(path)), jobs=1, timeout=0.5)

    assert [diagnostic.code for diagnostic in found.diagnostics] == [code]
    assert not found.ok
