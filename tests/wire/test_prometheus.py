"""Conditions, guards and joins become PromQL text here, and only here."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from longwatch.diagnostics import Origin
from longwatch.ir.model import Alert, Comparison, Dashboard, Guard, Join, Plan, Record
from longwatch.promql.parse import Fault, parse
from longwatch.wire.prometheus import comparison, expression, guarded, joined, labels, rule_file, texts

HERE = Origin(file="policies/families/llm.yaml")
ALERT = Alert(
    name="LossSpike",
    detector="spike",
    family="llm",
    conditions=(Comparison(left="loss / median", operator=">", right=1.3),),
    severity="warning",
    owner="models",
    stage="page",
    identity=("cluster", "run_id"),
    summary="run {{ $labels.run_id }}: loss spikes",
    description="Seen: {{ $value }}",
    remediation="Look at the batch.",
    absence="",
    nan="",
    panel_title="Loss",
    origin=HERE,
)
JOIN = Join(expr="lw_node:placement:info", on=("cluster", "node"), take=("run_id", "run_owner"), reason="names the run")


def alert(**changes: Any) -> Alert:
    return msgspec.structs.replace(ALERT, **changes)


def plan(**changes: Any) -> Plan:
    board = Dashboard(uid="u", title="LLM", description="", tags=(), variables=(), panels=(), annotations=())
    whole = Plan(
        name="llm", kind="family", title="LLM", owner="models", stage="page", identity=("cluster", "run_id"),
        interval=60.0, records=(), alerts=(ALERT,), dashboard=board, scenarios=(), inhibitions=(), unprotected=(),
        manuals=(), sources=("policies/families/llm.yaml",), origin=HERE,
    )  # fmt: skip
    return msgspec.structs.replace(whole, **changes)


def rules(**changes: Any) -> list[dict[str, Any]]:
    made: Any = rule_file(plan(**changes))
    found: list[dict[str, Any]] = made["groups"][0]["rules"]
    return found


# comparisons ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("right", "text"),
    [(1.3, "1.3"), (900.0, "900"), (0.97, "0.97"), (1e-7, "1e-07"), (1.5e12, "1500000000000"), (-1.0, "-1")],
)
def test_a_number_stands_on_the_right_as_people_read_it(right: float, text: str) -> None:
    assert comparison(Comparison(left="loss", operator=">", right=right)) == f"(loss) > {text}"


@pytest.mark.parametrize("operator", [">", "<", ">=", "<=", "==", "!="])
def test_the_operator_is_kept(operator: str) -> None:
    assert comparison(Comparison(left="a", operator=operator, right=1.0)) == f"(a) {operator} 1"


def test_a_left_side_of_several_terms_is_one_operand() -> None:
    assert comparison(Comparison(left="a or b", operator=">", right=1.0)) == "(a or b) > 1"


def test_a_right_side_that_varies_by_run_is_matched_by_labels() -> None:
    condition = Comparison(left="age", operator=">", right="limit", on=("cluster", "run_id"))
    assert comparison(condition) == "(age) > on (cluster, run_id) group_left () limit"


# expressions --------------------------------------------------------------------------------------------------------


def test_one_condition_stands_alone() -> None:
    assert expression(ALERT) == "(loss / median) > 1.3"


def test_several_conditions_are_alternatives() -> None:
    either = (
        Comparison(left="a", operator=">", right=1.0),
        Comparison(left="b", operator="<", right=2.0),
    )
    assert expression(alert(conditions=either)) == "((a) > 1) or ((b) < 2)"


def test_a_guard_keeps_what_it_matches() -> None:
    assert guarded("x > 1", Guard(expr="active", on=("run_id",), reason="")) == "(x > 1)\nand on (run_id) (active)"


def test_a_guard_may_also_drop_what_it_matches() -> None:
    guard = Guard(expr="starting", on=("cluster", "run_id"), reason="", unless=True)
    assert guarded("x > 1", guard) == "(x > 1)\nunless on (cluster, run_id) (starting)"


def test_every_guard_applies_to_all_alternatives() -> None:
    guards = tuple(Guard(expr=f"g{n}", on=("run_id",), reason="") for n in (1, 2))
    either = (Comparison(left="a", operator=">", right=1.0), Comparison(left="b", operator=">", right=1.0))
    assert expression(alert(conditions=either, guards=guards)) == (
        "((((a) > 1) or ((b) > 1))\nand on (run_id) (g1))\nand on (run_id) (g2)"
    )


def test_a_join_adds_labels_and_drops_what_has_no_partner() -> None:
    assert joined("x > 1", JOIN) == (
        "(x > 1)\n* on (cluster, node) group_left (run_id, run_owner) lw_node:placement:info"
    )


def test_an_optional_join_keeps_what_has_no_partner() -> None:
    text = joined("x > 1", msgspec.structs.replace(JOIN, optional=True))
    assert text == (
        "((x > 1)\n* on (cluster, node) group_left (run_id, run_owner) lw_node:placement:info)\n"
        "or ((x > 1) unless on (cluster, node) lw_node:placement:info)"
    )


def test_a_disabled_alert_arms_itself_on_its_day() -> None:
    assert expression(alert(rearm_at=1790000000)).endswith(") and on () (vector(time()) >= 1790000000)")


def test_an_armed_alert_has_no_clock() -> None:
    assert "time()" not in expression(ALERT)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"conditions": ALERT.conditions * 2},
        {"guards": (Guard(expr="a == 1", on=("run_id",), reason=""), Guard(expr="b", on=(), reason="", unless=True))},
        {"joins": (JOIN,)},
        {"joins": (msgspec.structs.replace(JOIN, optional=True),)},
        {"joins": (JOIN,), "rearm_at": 1790000000, "guards": (Guard(expr="a or b", on=("node",), reason=""),)},
    ],
    ids=["comparison", "alternatives", "guards", "join", "optional join", "everything"],
)
def test_an_expression_is_promql(changes: dict[str, Any]) -> None:
    assert not isinstance(parse(expression(alert(**changes))), Fault)


# rules --------------------------------------------------------------------------------------------------------------


def test_a_family_is_one_group_with_its_interval() -> None:
    made: Any = rule_file(plan())
    assert [(g["name"], g["interval"]) for g in made["groups"]] == [("longwatch.llm", "1m")]


def test_records_stand_before_alerts() -> None:
    records = (Record(name="lw_run:loss:max", expr="max(loss)", reason="loss of a run"),)
    assert [next(iter(rule)) for rule in rules(records=records)] == ["record", "alert"]


def test_a_familys_record_carries_the_family() -> None:
    record = Record(name="lw_run:variant:info", expr="x", reason="", labels={"variant": "2k"})
    assert rules(records=(record,))[0]["labels"] == {"model_family": "llm", "variant": "2k"}


def test_a_clusters_record_does_not_claim_a_family() -> None:
    record = Record(name="lw_node:placement:info", expr="x", reason="")
    assert "labels" not in rules(kind="cluster", records=(record,))[0]


def test_an_alert_without_a_hold_has_no_for() -> None:
    assert {"for", "keep_firing_for"} & set(rules()[0]) == set()


def test_holds_are_written_as_durations() -> None:
    [rule] = rules(alerts=(alert(for_=630.0, keep_firing_for=900.0),))
    assert (rule["for"], rule["keep_firing_for"]) == ("10m30s", "15m")


def test_an_alert_says_how_serious_whose_and_where() -> None:
    assert labels(plan(), alert(labels={"signal": "loss"})) == {
        "severity": "warning",
        "owner": "models",
        "stage": "page",
        "model_family": "llm",
        "signal": "loss",
    }


def test_a_clusters_alert_names_the_machines_not_a_family() -> None:
    made = labels(plan(name="h100-pod", kind="cluster"), ALERT)
    assert made["machines"] == "h100-pod"
    assert "model_family" not in made


def test_an_alert_carries_what_to_read_and_what_to_do() -> None:
    made = texts(alert(links=(("runbook_url", "https://r/loss-spike"),)))
    assert list(made) == ["summary", "description", "remediation", "runbook_url"]
