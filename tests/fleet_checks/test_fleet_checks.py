"""Each fleet check finds the fault that it is there for, at the alert's place in the policy, and nothing in a sound fleet."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from longwatch.compiler import judge
from longwatch.diagnostics import Diagnostic, Origin, Severity
from longwatch.ir.model import (
    Alert,
    Comparison,
    Dashboard,
    Fleet,
    Inhibition,
    Join,
    LogSchema,
    Plan,
    Receiver,
    SeverityRule,
    Shared,
    Team,
    Unprotected,
)
from longwatch.plugins.back import fleet_checks

FAMILY = Origin(file="policies/families/gpt.yaml")


def alert(name: str = "Stalled", **changes: Any) -> Alert:
    sound = Alert(
        name=name,
        detector="stalled",
        family="gpt",
        conditions=(Comparison(left="age", operator=">", right=600.0),),
        severity="critical",
        owner="models",
        stage="page",
        identity=("cluster", "run_id"),
        summary="run {{ $labels.run_id }} is stalled",
        description="{{ $labels.cluster }}, {{ $labels.owner }}, {{ $labels.model_family }}: {{ $value }}",
        remediation="look at the stacks",
        links=(("dashboard_url", "https://grafana.example.org/?var-run_id={{ $labels.run_id }}"),),
        absence="silent",
        nan="silent",
        panel_title="Age of the last step",
        origin=FAMILY.at("alerts", "add", name, key=True),
    )
    return msgspec.structs.replace(sound, **changes)


def plan(*alerts: Alert, **changes: Any) -> Plan:
    sound = Plan(
        name="gpt",
        kind="family",
        title="GPT",
        owner="models",
        stage="page",
        identity=("cluster", "run_id"),
        interval=60.0,
        records=(),
        alerts=alerts or (alert(),),
        dashboard=Dashboard(uid="lw", title="GPT", description="", tags=(), variables=(), panels=(), annotations=()),
        scenarios=(),
        inhibitions=(),
        unprotected=(),
        manuals=(),
        sources=("policies/organisation.yaml", "policies/families/gpt.yaml"),
        origin=FAMILY,
    )
    return msgspec.structs.replace(sound, **changes)


def fleet(*plans: Plan) -> Fleet:
    place = Origin(file="policies/organisation.yaml")
    return Fleet(
        shared=Shared(
            name="lab",
            teams=(Team(name="models", title="Models", contact="#models", notify="chat", page="pager", origin=place),),
            receivers=tuple(
                Receiver(name=name, integration="slack", settings={}, origin=place) for name in ("chat", "pager")
            ),
            severities=tuple(
                SeverityRule(name=name, pages=name == "critical", repeat=3600, group_wait=30, group_interval=300)
                for name in ("critical", "warning", "info")
            ),
            mute_times=(),
            default_receiver="chat",
            runbook_url="",
            grafana_url="",
            prometheus_datasource="prometheus",
            loki_datasource="loki",
            logs=LogSchema(
                required=(), levels=(), stages=(), labels=(), structured_metadata=(), masks=(), debug_sample=0.1, paths=(),
                push_url="", retention=0,
            ),
            sources=("policies/organisation.yaml",),
            origin=place,
        ),
        plans=plans or (plan(),),
    )  # fmt: skip


def judged(one: Fleet) -> tuple[Diagnostic, ...]:
    return judge(one)


def test_a_sound_fleet_gets_no_remark() -> None:
    assert judged(fleet()) == ()


def test_every_diagnostic_has_the_name_of_its_check() -> None:
    names = {name.replace("_", "-") for name in fleet_checks()}
    assert {d.code for faulty in FAULTY.values() for d in judged(faulty)} == names


FAULTY = {
    "unrouted-alert": fleet(plan(alert(owner="modells"))),
    "dropped-label": fleet(plan(alert(summary="run {{ $labels.run }} is stalled"))),
    "series-budget": fleet(plan(raw_series_per_run=1000, recorded_series_per_run=101)),
    "cascade-hold": fleet(
        plan(
            alert("NaN", keep_firing_for=120.0),
            alert("Spike", for_=180.0),
            inhibitions=(Inhibition(source="NaN", targets=("Spike",), equal=("run_id",), reason="says more"),),
        )
    ),
    "unprotected": fleet(
        plan(
            unprotected=(
                Unprotected(alert="LossDiverging", reason="needs a curve", remedy="commit one", origin=FAMILY),
            )
        )
    ),
}


@pytest.mark.parametrize("code", FAULTY)
def test_a_fault_is_found_once_and_placed(code: str) -> None:
    [found] = judged(FAULTY[code])
    assert found.code == code
    assert found.origin is not None
    assert found.origin.file == "policies/families/gpt.yaml"
    assert found.message and found.why and found.help


@pytest.mark.parametrize(
    ("changes", "receiver"),
    [({"severity": "critical"}, "pager"), ({"severity": "warning"}, "chat"), ({"stage": "notify"}, "chat")],
)
def test_a_receiver_that_does_not_exist_is_named(changes: dict[str, str], receiver: str) -> None:
    sound = fleet(plan(alert(**changes), alert("Vanished", **changes)))
    receivers = tuple(r for r in sound.shared.receivers if r.name != receiver)
    shared = msgspec.structs.replace(sound.shared, receivers=receivers)
    [found] = judged(msgspec.structs.replace(sound, shared=shared))
    assert found.code == "unrouted-alert"
    assert f'"{receiver}"' in found.message


@pytest.mark.parametrize("where", ["summary", "description", "remediation"])
def test_each_text_is_searched_for_labels(where: str) -> None:
    [found] = judged(fleet(plan(alert(**{where: "{{ if $labels.rnu_id }}x{{ end }}"}))))
    assert (found.code, found.help) == ("dropped-label", 'did you mean "run_id"?')
    assert where in found.message


def test_labels_of_links_joins_and_static_labels_are_known() -> None:
    join = Join(expr="info", on=("run_id",), take=("variant",), reason="names it")
    text = "{{ $labels.variant }} {{ $labels.signal }}"
    assert judged(fleet(plan(alert(joins=(join,), labels={"signal": "loss"}, links=(("panel", text),))))) == ()
    [found] = judged(fleet(plan(alert(links=(("panel", "{{ $labels.variant }}"),)))))
    assert "the panel of Stalled" in found.message


@pytest.mark.parametrize(("raw", "recorded", "over"), [(1000, 100, False), (1000, 101, True), (200, 150, False)])
def test_a_budget_holds_for_families_of_many_series(raw: int, recorded: int, over: bool) -> None:
    found = judged(fleet(plan(raw_series_per_run=raw, recorded_series_per_run=recorded)))
    assert [d.severity for d in found] == [Severity.WARNING] * over


@pytest.mark.parametrize(("hold", "due", "short"), [(120.0, 120.0, False), (120.0, 121.0, True), (0.0, 600.0, False)])
def test_a_cause_outlives_what_it_silences(hold: float, due: float, short: bool) -> None:
    inhibitions = (Inhibition(source="NaN", targets=("Spike", "Other"), equal=("run_id",), reason="says more"),)
    alerts = (alert("NaN", keep_firing_for=hold), alert("Spike", for_=due), alert("Other"))
    assert len(judged(fleet(plan(*alerts, inhibitions=inhibitions)))) == short
