"""Scenarios become promtool test groups whose every case names its scenario."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from longwatch.diagnostics import Origin
from longwatch.ir.model import Firing, Scenario, Series, Silence
from longwatch.promql.parse import Fault, parse
from longwatch.wire.promtool import horizon, test_file

HERE = Origin(file="policies/families/llm.yaml")
SCENARIO = Scenario(
    key="loss-spike.spike",
    title="loss spikes",
    alert="LossSpike",
    interval=60.0,
    scope={"cluster": "loss-spike.spike"},
    series=(Series(selector='train_loss{run_id="a"}', values="2x30 9x5"),),
    firing=(Firing(alert="LossSpike", at=1920.0, labels=({"run_id": "a"},)),),
    silences=(Silence(until=2040.0, allowed=("LossDiverging", "LossSpike")),),
    origin=HERE,
)
test_file.__test__ = False  # type: ignore[attr-defined]


def scenario(**changes: Any) -> Scenario:
    return msgspec.structs.replace(SCENARIO, **changes)


def written(*scenarios: Scenario) -> dict[str, Any]:
    made: dict[str, Any] = test_file("llm.rules.yml", "longwatch.llm", scenarios)
    return made


def cases(*scenarios: Scenario) -> list[dict[str, Any]]:
    return [case for group in written(*scenarios)["tests"] for case in group["promql_expr_test"]]


def test_the_rules_are_read_from_beside_the_tests() -> None:
    assert written(SCENARIO)["rule_files"] == ["llm.rules.yml"]


def test_the_group_is_evaluated_in_the_scenarios_interval() -> None:
    made = written(SCENARIO)
    assert (made["evaluation_interval"], made["group_eval_order"]) == ("1m", ["longwatch.llm"])
    assert made["tests"][0]["interval"] == "1m"


def test_every_series_is_an_input() -> None:
    assert written(SCENARIO)["tests"][0]["input_series"] == [{"series": 'train_loss{run_id="a"}', "values": "2x30 9x5"}]


def test_a_firing_is_counted_by_its_labels_at_its_time() -> None:
    firing = cases(SCENARIO)[0]
    assert firing["expr"].startswith(
        'count by (alertname, run_id) (ALERTS{alertname="LossSpike", alertstate="firing", cluster="loss-spike.spike"})'
    )
    assert firing["eval_time"] == "32m"
    assert firing["exp_samples"] == [{"labels": '{alertname="LossSpike", run_id="a"}', "value": 1}]


def test_a_firing_for_two_runs_expects_both() -> None:
    both = Firing(alert="LossSpike", at=60.0, labels=({"run_id": "a"}, {"run_id": "b"}))
    assert [s["labels"] for s in cases(scenario(firing=(both,)))[0]["exp_samples"]] == [
        '{alertname="LossSpike", run_id="a"}',
        '{alertname="LossSpike", run_id="b"}',
    ]


def test_a_silence_looks_back_to_the_beginning() -> None:
    silence = cases(SCENARIO)[1]
    assert "last_over_time(" in silence["expr"]
    assert "[34m]" in silence["expr"]
    assert (silence["eval_time"], silence["exp_samples"]) == ("34m", [])


def test_a_silence_allows_what_the_failure_rightly_raises() -> None:
    assert 'alertname!~"LossDiverging|LossSpike"' in cases(SCENARIO)[1]["expr"]


def test_a_silence_of_named_alerts_looks_at_these_only() -> None:
    silence = Silence(until=600.0, alerts=("LossSpike", "RunVanished"))
    assert 'alertname=~"LossSpike|RunVanished"' in cases(scenario(silences=(silence,)))[1]["expr"]


def test_a_silence_of_nothing_in_particular_looks_at_every_alert() -> None:
    expr = cases(scenario(firing=(), silences=(Silence(until=600.0),)))[0]["expr"]
    assert "alertname=" not in expr and "alertname!" not in expr


def test_a_silence_at_the_start_has_a_window_all_the_same() -> None:
    assert "[1s]" in cases(scenario(firing=(), silences=(Silence(until=0.0),)))[0]["expr"]


@pytest.mark.parametrize("place", [0, 1], ids=["firing", "silence"])
def test_every_case_ends_with_the_key_of_its_scenario(place: int) -> None:
    assert cases(SCENARIO)[place]["expr"].endswith(" # scenario: loss-spike.spike")


@pytest.mark.parametrize("place", [0, 1], ids=["firing", "silence"])
def test_every_case_sees_only_the_alerts_of_its_own_cluster(place: int) -> None:
    assert 'cluster="loss-spike.spike"' in cases(SCENARIO)[place]["expr"]


@pytest.mark.parametrize("place", [0, 1], ids=["firing", "silence"])
def test_every_case_is_promql(place: int) -> None:
    assert not isinstance(parse(cases(SCENARIO)[place]["expr"]), Fault)


def test_scenarios_of_a_cluster_of_their_own_share_a_group() -> None:
    made = written(*(scenario(key=f"k{n}", scope={"cluster": f"k{n}"}) for n in range(5)))
    assert len(made["tests"]) == 1
    assert len(made["tests"][0]["promql_expr_test"]) == 10


def test_a_group_does_not_grow_without_end() -> None:
    many = written(*(scenario(key=f"k{n}", scope={"cluster": f"k{n}"}) for n in range(60)))
    assert [len(group["promql_expr_test"]) for group in many["tests"]] == [48, 48, 24]


def test_a_scenario_without_a_cluster_of_its_own_stands_alone() -> None:
    made = written(SCENARIO, scenario(key="alone", scope={}), scenario(key="also-alone", scope={}))
    assert [group["name"] for group in made["tests"]][1:] == ["alone", "also-alone"]


def test_short_scenarios_share_a_group_with_short_ones() -> None:
    long, short = scenario(key="long"), scenario(key="short", firing=(), silences=(Silence(until=60.0),))
    order = [case["expr"].rsplit(" ", 1)[1] for case in cases(long, short)]
    assert order[0] == "short"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [({}, 2040.0), ({"silences": ()}, 1920.0), ({"firing": (), "silences": ()}, 0.0)],
    ids=["silence", "firing", "nothing"],
)
def test_a_scenario_lasts_to_its_last_assertion(changes: dict[str, Any], expected: float) -> None:
    assert horizon(scenario(**changes)) == expected
