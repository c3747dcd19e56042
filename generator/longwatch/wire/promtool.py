"""Scenarios → the test file that promtool reads.

Alerts are asserted through ALERTS, which every version of promtool evaluates alike and which lets one case say that
nothing else fires. Each expression ends with its scenario's key, since promtool prints no test name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from longwatch.ir import names
from longwatch.ir.model import Firing, Scenario, Silence
from longwatch.units import promql_duration


def test_file(rule_file: str, group: str, scenarios: Sequence[Scenario]) -> dict[str, object]:
    """`rule_file` is relative to the test file."""
    return {
        "rule_files": [rule_file],
        "evaluation_interval": promql_duration(scenarios[0].interval),
        "group_eval_order": [group],
        "tests": [_test(scenario) for scenario in scenarios],
    }


def _test(scenario: Scenario) -> dict[str, object]:
    cases = [case for firing in scenario.firing for case in _firing(firing, scenario.key)]
    cases += [_silence(silence, scenario.key) for silence in scenario.silences]
    return {
        "name": f"{scenario.key}: {scenario.title}",
        "interval": promql_duration(scenario.interval),
        "input_series": [{"series": s.selector, "values": s.values} for s in scenario.series],
        "promql_expr_test": cases,
    }


def _firing(firing: Firing, key: str) -> list[dict[str, object]]:
    by = list(dict.fromkeys(("alertname", *(label for labels in firing.labels for label in labels))))
    expr = f'count by ({", ".join(by)}) (ALERTS{{alertname="{firing.alert}", alertstate="firing"}}) # scenario: {key}'
    samples = [{"labels": _labels({"alertname": firing.alert, **labels}), "value": 1} for labels in firing.labels]
    return [{"expr": expr, "eval_time": promql_duration(firing.at), "exp_samples": samples}]


def _silence(silence: Silence, key: str) -> dict[str, object]:
    which = ""
    if silence.alerts:
        which = f', alertname=~"{"|".join(silence.alerts)}"'
    elif silence.allowed:
        which = f', alertname!~"{"|".join(silence.allowed)}"'
    window = promql_duration(silence.until or 1)
    expr = f'count by (alertname) (last_over_time(ALERTS{{alertstate="firing"{which}}}[{window}])) # scenario: {key}'
    return {"expr": expr, "eval_time": promql_duration(silence.until), "exp_samples": []}


def _labels(labels: Mapping[str, str]) -> str:
    return names.selector("", labels)
