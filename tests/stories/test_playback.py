"""The engine of the stories tells what really fired, and cannot mistake a story that was not played for a quiet one."""

from __future__ import annotations

import pytest
from playback import FOREVER, Fires, Firings, Player, StoryFailed, unlike

RULES = """\
groups:
- name: heat
  rules:
  - record: hot
    expr: temperature > 50
  - alert: Hot
    expr: hot
    for: 2m
  - alert: Cold
    expr: temperature < 10
"""
HOT = {'temperature{run_id="a"}': [20.0, 20.0, 60.0, 60.0, 60.0, 60.0, 20.0, 20.0]}


def test_an_alert_is_told_from_its_first_firing_evaluation_to_the_first_quiet_one(player: Player) -> None:
    told = player.firings(RULES, HOT, every=60, until=420)
    assert told == {("Hot", "a"): [(240, 360)]}


def test_an_alert_that_fires_when_the_story_ends_has_no_end(player: Player) -> None:
    told = player.firings(RULES, HOT, every=60, until=300)
    assert told == {("Hot", "a"): [(240, FOREVER)]}


def test_an_alert_that_comes_back_has_two_intervals(player: Player) -> None:
    series = {'temperature{run_id="a"}': [5.0, 20.0, 20.0, 5.0, 5.0, 20.0]}
    told = player.firings(RULES, series, every=60, until=300)
    assert told == {("Cold", "a"): [(0, 60), (180, 300)]}


def test_subjects_are_told_apart_by_the_labels_asked_for(player: Player) -> None:
    odd = 'b, "quoted" {3}'
    series = {
        'temperature{run_id="a"}': [5.0, 5.0],
        'temperature{run_id="b, \\\\"quoted\\\\" {3}"}'.replace("\\\\", "\\"): [20.0, 5.0],
        'temperature{node="n"}': [5.0, 5.0],
    }
    told = player.firings(RULES, series, every=60, until=60, about=("run_id", "node"))
    assert told == {
        ("Cold", "a"): [(0, FOREVER)],
        ("Cold", odd.replace('"', '\\"')): [(60, FOREVER)],
        ("Cold", "n"): [(0, FOREVER)],
    }


def test_a_quiet_story_tells_nothing(player: Player) -> None:
    assert player.firings(RULES, {'temperature{run_id="a"}': [20.0] * 5}, every=60, until=240) == {}


def test_samples_may_be_closer_together_than_evaluations(player: Player) -> None:
    series = {'temperature{run_id="a"}': [20.0, 5.0, 20.0, 20.0, 5.0, 5.0]}
    told = player.firings(RULES, series, every=15, until=60)
    assert told == {("Cold", "a"): [(60, FOREVER)]}


def test_rules_that_are_no_promql_do_not_pass_for_a_quiet_story(player: Player) -> None:
    with pytest.raises(StoryFailed, match=r"could not parse|parse error"):
        player.firings(RULES.replace("< 10", "< < 10"), HOT, every=60, until=60)


def test_a_rule_that_fails_while_it_is_evaluated_does_not_pass_for_a_quiet_story(player: Player) -> None:
    """Two runs match one another on no label."""
    rules = RULES.replace("temperature < 10", "temperature < on () temperature")
    series = {'temperature{run_id="a"}': [20.0], 'temperature{run_id="b"}': [20.0]}
    with pytest.raises(StoryFailed, match="many-to-many"):
        player.firings(rules, series, every=60, until=60)


def test_a_file_without_rules_does_not_pass_for_a_quiet_story(player: Player) -> None:
    with pytest.raises(StoryFailed, match="no group"):
        player.firings("groups: []\n", HOT, every=60, until=60)


def test_a_promtool_that_cannot_be_started_does_not_pass_for_a_quiet_story(player: Player) -> None:
    absent = Player(promtool="/nowhere/promtool", environment=player.environment, memory=player.memory)
    with pytest.raises(StoryFailed, match="not started"):
        absent.firings(RULES, HOT, every=60, until=60)


TOLD: Firings = {("Hot", "a"): [(240, 360)]}


@pytest.mark.parametrize(
    "rows, said",
    [
        ([Fires("Hot", "a", (200, 240), (360, 400))], []),
        ([Fires("Hot", "a", (0, 180), (360, 400))], ["Hot a begins at 0:04:00, expected 0:00:00…0:03:00"]),
        ([Fires("Hot", "a", (300, 400), (360, 400))], ["Hot a begins at 0:04:00, expected 0:05:00…0:06:40"]),
        ([Fires("Hot", "a", (200, 240))], ["Hot a ends at 0:06:00, expected the end"]),
        ([], ["Hot a fires 0:04:00–0:06:00, expected never"]),
        (
            [Fires("Hot", "a", (200, 240), (360, 360)), Fires("Hot", "b", (200, 240))],
            ["Hot b fires never, expected from 0:03:20…0:04:00 to the end"],
        ),
        ([Fires("Hot", "a", (200, 240), (360, 360)), Fires("Hot", "b", (200, 240), perhaps=True)], []),
        (
            [Fires("Hot", "a", (0, 60), (120, 180)), Fires("Hot", "a", (240, 240), (360, 360))],
            ["Hot a fires 0:04:00–0:06:00, expected from 0:00:00…0:01:00 to 0:02:00…0:03:00, from 0:04:00 to 0:06:00"],
        ),
    ],
    ids=["alike", "late", "early", "ends", "unexpected", "missing", "perhaps", "once-instead-of-twice"],
)
def test_a_table_tells_what_differs(rows: list[Fires], said: list[str]) -> None:
    assert unlike(TOLD, rows) == said
