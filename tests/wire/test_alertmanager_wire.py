"""Routes, timing, mute times, inhibitions and receivers, before any tool reads them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from longwatch.diagnostics import Origin
from longwatch.ir.model import (
    Inhibition,
    LogSchema,
    MuteTime,
    Receiver,
    RouteFacts,
    SeverityRule,
    Shared,
    Summary,
    Team,
)
from longwatch.wire.alertmanager import any_of, configuration, matcher, timing

HERE = Origin(file="policies/organisation.yaml")
LOGS = LogSchema(
    required=(), levels=("info",), stages=(), labels=(), structured_metadata=(), masks=(), debug_sample=0.1, paths=(),
    push_url="http://loki/loki/api/v1/push", retention=86400,
)  # fmt: skip
SHARED = Shared(
    name="acme",
    teams=(Team(name="models", title="Models", contact="m@acme", notify="chat", page="pager", origin=HERE),),
    receivers=(
        Receiver(name="chat", integration="slack", settings={"channel": "#m", "api_url_file": "/s/slack"}, origin=HERE),
        Receiver(name="pager", integration="pagerduty", settings={"routing_key_file": "/s/pd"}, origin=HERE),
    ),
    severities=(
        SeverityRule(name="critical", pages=True, repeat=3600, group_wait=30, group_interval=300),
        SeverityRule(name="warning", pages=False, repeat=14400, group_wait=60, group_interval=300),
    ),
    mute_times=(),
    default_receiver="chat",
    runbook_url="https://runbooks",
    grafana_url="https://grafana",
    prometheus_datasource="prometheus",
    loki_datasource="loki",
    logs=LOGS,
    sources=("policies/organisation.yaml",),
    origin=HERE,
)


def summary(**changes: Any) -> Summary:
    family = Summary(
        name="llm",
        kind="family",
        title="LLM",
        owner="models",
        stage="page",
        sources=("policies/families/llm.yaml",),
        identity=("cluster", "run_id"),
        name_pattern="",
        selector={},
        alerts=(RouteFacts(name="TrainingStalled", owner="models", severity="critical", stage="page"),),
        inhibitions=(),
    )
    return msgspec.structs.replace(family, **changes)


def shared(**changes: Any) -> Shared:
    return msgspec.structs.replace(SHARED, **changes)


def mute(*weekdays: str, start: str = "22:00", end: str = "06:00", **more: Any) -> MuteTime:
    given: dict[str, Any] = {"teams": (), "severities": (), "location": "Europe/Berlin", "reason": "sleep", **more}
    return MuteTime(name="night", weekdays=weekdays, start=start, end=end, **given)


def intervals(times: MuteTime) -> Any:
    return configuration([], shared(mute_times=(times,)))["time_intervals"][0]["time_intervals"]


def test_what_is_in_shadow_is_matched_first_and_reaches_a_receiver_that_does_nothing() -> None:
    result = configuration([summary()], SHARED)
    assert result["route"]["routes"][0] == {"receiver": "shadow", "matchers": ['stage="shadow"']}
    assert result["receivers"][0] == {"name": "shadow"}


def test_a_receiver_that_people_called_shadow_stays_theirs() -> None:
    taken = Receiver(name="shadow", integration="webhook", settings={"url": "http://x"}, origin=HERE)
    result = configuration([], shared(receivers=(*SHARED.receivers, taken)))
    names = [receiver["name"] for receiver in result["receivers"]]
    assert len(set(names)) == len(names)
    assert result["route"]["routes"][0]["receiver"] == "shadow-to-nobody"


def test_only_a_paging_severity_in_stage_page_reaches_the_pager() -> None:
    team = configuration([summary()], SHARED)["route"]["routes"][1]
    assert team["matchers"] == ['owner="models"'] and team["receiver"] == "chat"
    assert [(r["receiver"], r["matchers"]) for r in team["routes"]] == [
        ("pager", ['severity="critical"', 'stage="page"']),
        ("chat", ['severity="critical"']),
        ("chat", ['severity="warning"']),
    ]


def test_a_family_is_grouped_by_its_run_and_a_cluster_by_its_node() -> None:
    machine = RouteFacts(name="GpuLost", owner="models", severity="critical", stage="page")
    cluster = summary(name="a", kind="cluster", identity=("cluster", "node", "gpu"), alerts=(machine,))
    root = configuration([summary(), cluster], SHARED)["route"]
    assert root["group_by"] == ["owner", "alertname", "cluster", "run_id"]
    first = root["routes"][1]["routes"][0]
    assert first["matchers"][-1] == 'alertname="GpuLost"'
    assert first["group_by"] == ["owner", "alertname", "cluster", "node"]


@pytest.mark.parametrize(
    ("repeat", "interval", "expected"),
    [(3600, 300, "1h"), (1000, 300, "20m"), (60, 300, "5m"), (90 * 86400, 700, "4d23h58m20s"), (1, 10 * 86400, "5d")],
)
def test_a_repetition_is_a_multiple_of_the_group_interval_within_the_retention(
    repeat: float, interval: float, expected: str
) -> None:
    rule = SeverityRule(name="x", pages=False, repeat=repeat, group_wait=0, group_interval=interval)
    assert timing(rule)["repeat_interval"] == expected
    assert timing(rule)["group_wait"] == "0s"


def test_values_in_matchers_are_quoted_and_their_backslashes_doubled() -> None:
    assert matcher("path", "=~", 'a\\d+"') == 'path=~"a\\\\d+\\""'
    assert any_of("alertname", ["A", "B.C", "A"]) == 'alertname=~"A|B\\\\.C"'
    assert any_of("alertname", ["A.B"]) == 'alertname="A.B"'


def test_an_inhibition_demands_its_labels_on_both_sides() -> None:
    rule = Inhibition(source="TrainingStalled", targets=("LossSpike", "A"), equal=("cluster", "run_id"), reason="r")
    assert configuration([summary(inhibitions=(rule,))], SHARED)["inhibit_rules"] == [
        {
            "source_matchers": ['alertname="TrainingStalled"', 'stage="page"', 'cluster!=""', 'run_id!=""'],
            "target_matchers": ['alertname=~"A|LossSpike"', 'cluster!=""', 'run_id!=""'],
            "equal": ["cluster", "run_id"],
        }
    ]


def test_a_cause_that_only_notifies_cannot_take_away_a_page() -> None:
    quiet = RouteFacts(name="TrainingStalled", owner="models", severity="critical", stage="notify")
    rule = Inhibition(source="TrainingStalled", targets=("LossSpike",), equal=("run_id",), reason="r")
    (made,) = configuration([summary(alerts=(quiet,), inhibitions=(rule,))], SHARED)["inhibit_rules"]
    assert 'stage="notify"' in made["source_matchers"]
    assert 'stage!="page"' in made["target_matchers"]


def test_a_cause_in_shadow_silences_nothing() -> None:
    hidden = RouteFacts(name="TrainingStalled", owner="models", severity="critical", stage="shadow")
    rule = Inhibition(source="TrainingStalled", targets=("LossSpike",), equal=("run_id",), reason="r")
    assert "inhibit_rules" not in configuration([summary(alerts=(hidden,), inhibitions=(rule,))], SHARED)


def test_no_alert_stands_on_both_sides() -> None:
    rule = Inhibition(source="A", targets=("A",), equal=("run_id",), reason="r")
    assert "inhibit_rules" not in configuration([summary(inhibitions=(rule,))], SHARED)


def test_the_same_cause_in_two_families_is_one_rule() -> None:
    one = Inhibition(source="TrainingStalled", targets=("B",), equal=("run_id",), reason="r")
    two = Inhibition(source="TrainingStalled", targets=("C", "B"), equal=("run_id",), reason="r")
    rules = configuration([summary(inhibitions=(one,)), summary(name="b", inhibitions=(two,))], SHARED)["inhibit_rules"]
    assert [rule["target_matchers"][0] for rule in rules] == ['alertname=~"B|C"']


def test_an_inhibition_without_labels_is_refused() -> None:
    rule = Inhibition(source="A", targets=("B",), equal=(), reason="r")
    with pytest.raises(ValueError, match="without equal labels"):
        configuration([summary(inhibitions=(rule,))], SHARED)


def test_a_night_is_split_and_its_morning_belongs_to_the_next_day() -> None:
    assert intervals(mute("monday", "tuesday")) == [
        {
            "weekdays": ["monday:tuesday"],
            "times": [{"start_time": "22:00", "end_time": "24:00"}],
            "location": "Europe/Berlin",
        },
        {
            "weekdays": ["tuesday:wednesday"],
            "times": [{"start_time": "00:00", "end_time": "06:00"}],
            "location": "Europe/Berlin",
        },
    ]


def test_the_week_starts_on_sunday() -> None:
    evening, morning = intervals(mute("friday", "saturday"))
    assert evening["weekdays"] == ["friday:saturday"]
    assert morning["weekdays"] == ["sunday", "saturday"]
    (day,) = intervals(mute("saturday:sunday", start="09:00", end="17:00"))
    assert day["weekdays"] == ["sunday", "saturday"]


def test_every_day_needs_no_weekdays_and_midnight_ends_a_day() -> None:
    (evening,) = intervals(mute(start="22:00", end="00:00"))
    assert evening == {"times": [{"start_time": "22:00", "end_time": "24:00"}], "location": "Europe/Berlin"}


def test_mute_times_reach_the_teams_and_severities_that_they_name() -> None:
    other = Team(name="infra", title="Infra", contact="i@acme", notify="chat", page="pager", origin=HERE)
    times = mute(teams=("models",), severities=("warning",))
    root = configuration([summary()], shared(teams=(*SHARED.teams, other), mute_times=(times,)))["route"]
    muted = [
        (team["matchers"][0], route["matchers"][0])
        for team in root["routes"][1:]
        for route in team["routes"]
        if "mute_time_intervals" in route
    ]
    assert muted == [('owner="models"', 'severity="warning"')]


def test_a_receiver_says_whether_it_tells_the_end_and_names_only_files_for_secrets() -> None:
    hook = Receiver(
        name="hook", integration="webhook", settings={"url": "http://x", "credentials_file": "/s/token"}, origin=HERE
    )
    made = configuration([], shared(receivers=(*SHARED.receivers, hook)))["receivers"]
    assert made[1]["slack_configs"][0]["send_resolved"] is True
    assert made[3]["webhook_configs"] == [
        {
            "send_resolved": True,
            "url": "http://x",
            "http_config": {"authorization": {"credentials_file": "/s/token"}},
        }
    ]


def test_what_a_receiver_sets_itself_is_kept() -> None:
    own = Receiver(
        name="chat",
        integration="slack",
        settings={"channel": "#m", "title": "Mine", "send_resolved": False},
        origin=HERE,
    )
    made = configuration([], shared(receivers=(own,)))["receivers"][1]["slack_configs"][0]
    assert made["title"] == "Mine" and made["send_resolved"] is False


def test_a_team_without_a_pager_is_told_in_its_channel() -> None:
    team = msgspec.structs.replace(SHARED.teams[0], page="")
    routes = configuration([], shared(teams=(team,)))["route"]["routes"][1]["routes"]
    assert routes[0]["receiver"] == "chat"
