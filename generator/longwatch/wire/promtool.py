"""Scenarios → the test file that promtool reads.

Alerts are asserted through ALERTS, which every version of promtool evaluates alike and which lets one case say that
nothing else fires. Each expression ends with its scenario's key, since promtool prints no test name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from longwatch.ir import names
from longwatch.ir.model import Firing, Scenario, Silence
from longwatch.units import promql_duration

_GROUP = 24
"""Scenarios that share a test group: rules are evaluated once for all of them, and an error spoils no more than these."""


def test_file(rule_file: str, group: str, scenarios: Sequence[Scenario]) -> dict[str, object]:
    """`rule_file` is relative to the test file. All scenarios have one interval."""
    shared = sorted((s for s in scenarios if s.scope), key=horizon)
    chunks = [shared[at : at + _GROUP] for at in range(0, len(shared), _GROUP)]
    return {
        "rule_files": [rule_file],
        "evaluation_interval": promql_duration(scenarios[0].interval),
        "group_eval_order": [group],
        "tests": [_test(chunk) for chunk in (*chunks, *([s] for s in scenarios if not s.scope))],
    }


def horizon(scenario: Scenario) -> float:
    """Seconds up to the last assertion."""
    return max((*(f.at for f in scenario.firing), *(s.until for s in scenario.silences)), default=0.0)


def _test(scenarios: Sequence[Scenario]) -> dict[str, object]:
    return {
        "name": scenarios[0].key
        if len(scenarios) == 1
        else f"{len(scenarios)} scenarios, each in a cluster of its own",
        "interval": promql_duration(scenarios[0].interval),
        "input_series": [{"series": s.selector, "values": s.values} for scenario in scenarios for s in scenario.series],
        "promql_expr_test": [case for scenario in scenarios for case in _cases(scenario)],
    }


def _cases(scenario: Scenario) -> list[dict[str, object]]:
    return [
        *(_firing(firing, scenario) for firing in scenario.firing),
        *(_silence(silence, scenario) for silence in scenario.silences),
    ]


def _firing(firing: Firing, scenario: Scenario) -> dict[str, object]:
    by = list(dict.fromkeys(("alertname", *(label for labels in firing.labels for label in labels))))
    alerts = names.selector("ALERTS", {"alertname": firing.alert, "alertstate": "firing", **scenario.scope})
    return {
        "expr": f"count by ({', '.join(by)}) ({alerts}) # scenario: {scenario.key}",
        "eval_time": promql_duration(firing.at),
        "exp_samples": [
            {"labels": _labels({"alertname": firing.alert, **labels}), "value": 1} for labels in firing.labels
        ],
    }


def _silence(silence: Silence, scenario: Scenario) -> dict[str, object]:
    which = ""
    if silence.alerts:
        which = f', alertname=~"{"|".join(silence.alerts)}"'
    elif silence.allowed:
        which = f', alertname!~"{"|".join(silence.allowed)}"'
    which += "".join(f", {key}={names.quote(value)}" for key, value in scenario.scope.items())
    window = promql_duration(silence.until or 1)
    return {
        "expr": f'count by (alertname) (last_over_time(ALERTS{{alertstate="firing"{which}}}[{window}]))'
        f" # scenario: {scenario.key}",
        "eval_time": promql_duration(silence.until),
        "exp_samples": [],
    }


def _labels(labels: Mapping[str, str]) -> str:
    return names.selector("", labels)
