"""Every detector is proved to fire and to stay quiet, and every plug-in carries the manual that its kind asks for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from longwatch.ir.model import Fleet, Plan, Scenario
from longwatch.plugins.discovery import discover
from longwatch.plugins.front import Check, detectors, manuals
from longwatch.plugins.front import checks as all_checks

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "generator" / "longwatch"
SUBJECTS = [path.stem for folder in ("families", "clusters") for path in sorted((ROOT / "policies" / folder).glob("*"))]
HEADINGS = ("What it sees", "What it does not see", "Absence and NaN", "Parameters", "Sources")
NOT_IN_THE_SAMPLE = {
    "expression": "raw PromQL is proved by a scenario of its own policy; check unproved-alert asks for one",
}
HEALTHY_ELSEWHERE = {
    "baseline_missing": "judges every run, so the healthy runs of all other proofs are its quiet neighbours",
    "identity_missing": "as above",
    "name_invalid": "as above",
    "signal_missing": "as above",
}
"""Detectors without a quiet proof of their own, and why."""


def plan_of(fleet: Fleet, subject: str) -> Plan:
    [plan] = [plan for plan in fleet.plans if plan.name == subject]
    return plan


def fires(scenario: Scenario, alert: str) -> bool:
    return any(firing.alert == alert for firing in scenario.firing)


def forbids(scenario: Scenario, alert: str) -> bool:
    """To the end of the scenario, `alert` may not fire."""
    last = max((silence.until for silence in scenario.silences), default=0.0)
    return not fires(scenario, alert) and any(
        silence.until == last and (alert in silence.alerts if silence.alerts else alert not in silence.allowed)
        for silence in scenario.silences
    )


@pytest.mark.parametrize("subject", SUBJECTS)
def test_every_compiled_alert_has_a_scenario_in_which_it_fires(fleet: Fleet, subject: str) -> None:
    plan = plan_of(fleet, subject)
    silent = {a.name for a in plan.alerts if not any(fires(s, a.name) for s in plan.scenarios)}
    assert silent == set()


@pytest.mark.parametrize("subject", SUBJECTS)
def test_every_compiled_alert_has_a_scenario_in_which_it_may_not_fire(fleet: Fleet, subject: str) -> None:
    plan = plan_of(fleet, subject)
    loud = {a.name for a in plan.alerts if not any(forbids(s, a.name) for s in plan.scenarios)}
    assert loud == set()


@pytest.mark.parametrize("name", detectors())
def test_a_detector_is_proved_in_the_sample_policies(fleet: Fleet, name: str) -> None:
    used = {alert.detector for plan in fleet.plans for alert in plan.alerts}
    assert (name in used) != (name in NOT_IN_THE_SAMPLE)


@pytest.mark.parametrize("name", sorted(set(detectors()) - set(NOT_IN_THE_SAMPLE)))
def test_a_detector_has_a_quiet_proof_of_its_own_or_a_reason(fleet: Fleet, name: str) -> None:
    own = [
        scenario.key
        for plan in fleet.plans
        for alert in plan.alerts
        for scenario in plan.scenarios
        if alert.detector == name and scenario.alert == alert.name and not scenario.firing
    ]
    assert bool(own) != (name in HEALTHY_ELSEWHERE)


@pytest.mark.parametrize("subject", SUBJECTS)
def test_keys_of_scenarios_are_unique(fleet: Fleet, subject: str) -> None:
    keys = [scenario.key for scenario in plan_of(fleet, subject).scenarios]
    assert sorted(keys) == sorted(set(keys))


@pytest.mark.parametrize("name", manuals())
def test_a_detectors_manual_has_the_fixed_headings(name: str) -> None:
    headings = re.findall("^## (.+)$", manuals()[name], re.MULTILINE)
    assert {"What it sees", "Absence and NaN"} <= set(headings)
    assert headings == [heading for heading in HEADINGS if heading in headings]


@pytest.mark.parametrize("name", manuals())
def test_a_detectors_manual_begins_with_its_name(name: str) -> None:
    assert manuals()[name].lower().startswith(f"{name.replace('_', ' ')}:")


@pytest.mark.parametrize("name", [name for name, record in detectors().items() if record.parameters.__struct_fields__])
def test_a_detectors_manual_explains_each_parameter_of_its_own(name: str) -> None:
    cls = detectors()[name].parameters
    own = set(cls.__struct_fields__) - set(cls.__mro__[1].__struct_fields__)
    assert {parameter for parameter in own if f"`{parameter}`" not in manuals()[name]} == set()


@pytest.mark.parametrize("name", all_checks())
def test_a_checks_manual_says_what_why_and_what_to_do(name: str) -> None:
    manual = discover("longwatch.checks", "CHECK", Check)[name][1]
    assert [part for part in ("What:", "Why:", "What to do:") if part not in manual] == []
