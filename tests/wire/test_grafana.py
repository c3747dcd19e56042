"""What becomes of each part of the IR's dashboard."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import pytest

from longwatch.ir.model import Dashboard, Line, Panel, Query
from longwatch.wire import grafana

Json = dict[str, Any]


def _panel(key: str = "loss", **changes: Any) -> Panel:
    settings: Json = {
        "title": "Loss",
        "description": "The loss of each run.",
        "unit": "short",
        "queries": (Query(expr="loss", legend="{{run_id}}"),),
        "row": "Numbers",
    }
    return Panel(key=key, **(settings | changes))


def _built(*panels: Panel, **changes: Any) -> Json:
    settings: Json = {
        "uid": "lw-gpt",
        "title": "GPT",
        "description": "Runs of GPT.",
        "tags": ("longwatch",),
        "variables": (),
        "annotations": (),
    }
    built: Json = grafana.dashboard(Dashboard(panels=panels, **(settings | changes)), prometheus="prom", loki="logs")
    return built


def _only(panel: Panel) -> Json:
    return next(built for built in _built(panel)["panels"] if built["id"] == 1)


def _steps(*lines: Line) -> list[tuple[float | None, str]]:
    steps = _only(_panel(lines=lines))["fieldConfig"]["defaults"]["thresholds"]["steps"]
    return [(step["value"], step["color"]) for step in steps]


def _line(value: float, severity: str = "critical", below: bool = False, label: str = "") -> Line:
    return Line(value=value, severity=severity, label=label, below=below)


# the dashboard


def test_no_key_that_grafana_has_dropped_survives() -> None:
    assert set(_built(_panel())) == {
        "annotations", "description", "editable", "graphTooltip", "links", "panels", "refresh", "schemaVersion", "tags",
        "templating", "time", "timezone", "title", "uid",
    }  # fmt: skip


def test_the_schema_version_is_one_that_grafana_10_reads() -> None:
    assert _built()["schemaVersion"] == 39


@pytest.mark.parametrize("uid", ["", "x" * 41, "a b", "a/b"])
def test_a_uid_that_grafana_refuses_is_a_bug(uid: str) -> None:
    with pytest.raises(ValueError, match="no dashboard uid"):
        _built(uid=uid)


def test_the_longest_uid_passes() -> None:
    assert _built(uid="x" * 40)["uid"] == "x" * 40


def test_the_same_dashboard_gives_the_same_structure() -> None:
    assert _built(_panel(), _panel("b")) == _built(_panel(), _panel("b"))


def test_importing_the_compiler_does_not_load_grafanalib() -> None:
    program = "import sys, longwatch.emitters.grafana; sys.exit('grafanalib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


# panel ids and the layout


def test_a_panels_id_is_its_position_whatever_its_row() -> None:
    built = _built(_panel("a", row="One"), _panel("b", row="Two"), _panel("c", row="One"))
    assert [(p["id"], p["title"]) for p in built["panels"]] == [
        (1000, "One"), (1, "Loss"), (3, "Loss"), (1001, "Two"), (2, "Loss"),
    ]  # fmt: skip


def test_panels_without_a_row_come_first_and_take_no_row_id() -> None:
    built = _built(_panel("a"), _panel("b", row=""))
    assert [p["id"] for p in built["panels"]] == [2, 1000, 1]


def test_ids_never_run_into_those_of_rows() -> None:
    with pytest.raises(ValueError, match="1000 panels"):
        _built(*(_panel(str(number)) for number in range(1000)))


def test_two_time_series_stand_side_by_side() -> None:
    built = _built(_panel("a"), _panel("b"), _panel("c"))
    places = [p["gridPos"] for p in built["panels"][1:]]
    assert places == [
        {"x": 0, "y": 1, "w": 12, "h": 8},
        {"x": 12, "y": 1, "w": 12, "h": 8},
        {"x": 0, "y": 9, "w": 12, "h": 8},
    ]


def test_another_height_begins_a_new_line() -> None:
    built = _built(_panel("a", kind="stat"), _panel("b", kind="stat"), _panel("c"), _panel("d", kind="logs"))
    places = [(p["gridPos"]["x"], p["gridPos"]["y"]) for p in built["panels"][1:]]
    assert places == [(0, 1), (6, 1), (0, 5), (0, 13)]


def test_the_next_row_begins_below_the_last_panel() -> None:
    built = _built(_panel("a"), _panel("b", row="More"))
    assert [p["gridPos"]["y"] for p in built["panels"]] == [0, 1, 9, 10]


# thresholds


def test_without_lines_nothing_is_coloured() -> None:
    assert _steps() == [(None, "transparent")]


def test_above_a_line_it_is_bad() -> None:
    assert _steps(_line(2), _line(1, "warning")) == [(None, "transparent"), (1, "orange"), (2, "red")]


def test_below_a_line_it_is_bad() -> None:
    lines = _line(0.5, below=True), _line(0.8, "warning", below=True)
    assert _steps(*lines) == [(None, "red"), (0.5, "orange"), (0.8, "transparent")]


def test_a_band_is_bad_on_both_sides() -> None:
    assert _steps(_line(1, below=True), _line(9, "warning")) == [(None, "red"), (1, "transparent"), (9, "orange")]


def test_of_two_severities_at_one_value_the_worse_shows() -> None:
    assert _steps(_line(1, "warning"), _line(1)) == [(None, "transparent"), (1, "red")]


def test_a_mild_line_beyond_a_severe_one_stays_severe() -> None:
    assert _steps(_line(1), _line(2, "warning")) == [(None, "transparent"), (1, "red"), (2, "red")]


def test_an_unknown_severity_is_drawn_as_the_worst() -> None:
    assert _steps(_line(1, "apocalypse")) == [(None, "transparent"), (1, "red")]


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_threshold_that_json_cannot_hold_is_a_bug(value: float) -> None:
    with pytest.raises(ValueError, match="not finite"):
        _steps(_line(value))


def test_the_axis_reaches_every_line() -> None:
    custom = _only(_panel(lines=(_line(2), _line(-4, below=True))))["fieldConfig"]["defaults"]["custom"]
    assert custom["axisSoftMin"] < -4
    assert custom["axisSoftMax"] > 2
    assert custom["thresholdsStyle"] == {"mode": "dashed+area"}


def test_without_lines_the_axis_fits_the_data() -> None:
    custom = _only(_panel())["fieldConfig"]["defaults"]["custom"]
    assert "axisSoftMax" not in custom
    assert custom["thresholdsStyle"] == {"mode": "off"}


def test_the_description_names_lines_and_alerts() -> None:
    lines = _line(1.5, "warning"), _line(0.9, below=True, label="90% of the baseline")
    assert _only(_panel(lines=lines, alerts=("A", "B")))["description"] == (
        "The loss of each run.\n\n"
        "- Orange line, bad above: 1.5\n"
        "- Red line, bad below: 90% of the baseline\n\n"
        "Alerts: `A`, `B`"
    )


def test_a_stat_never_hides_its_number() -> None:
    for lines in ((), (_line(1),)):
        steps = _only(_panel(kind="stat", lines=lines))["fieldConfig"]["defaults"]["thresholds"]["steps"]
        assert "transparent" not in {step["color"] for step in steps}


def _dashed(*legends: str) -> list[Json]:
    queries = (Query(expr="a", legend="{{run_id}}"), *(Query(expr="b", legend=each, dashed=True) for each in legends))
    overrides: list[Json] = _only(_panel(queries=queries))["fieldConfig"]["overrides"]
    return overrides


def test_a_threshold_that_is_a_series_is_dashed_and_coloured() -> None:
    red, orange = _dashed("critical", "warning")
    assert red["matcher"] == {"id": "byNames", "options": {"mode": "include", "names": ["critical"]}}
    assert red["properties"] == [
        {"id": "custom.lineStyle", "value": {"fill": "dash", "dash": [10, 10]}},
        {"id": "color", "value": {"mode": "fixed", "fixedColor": "red"}},
    ]
    assert orange["properties"][1]["value"]["fixedColor"] == "orange"


@pytest.mark.parametrize(
    ("legend", "named", "other"),
    [
        ("{{run_id}} limit", "gpt-1 limit", "gpt-1"),
        ("limit (90%) of {{run_id}} / {{node}}", "limit (90%) of gpt-1 / n1", "gpt-1"),
        ("{{run_id}}", "gpt-1 threshold", "gpt-1"),
    ],
)
def test_a_threshold_per_run_is_told_from_the_run(legend: str, named: str, other: str) -> None:
    (override,) = _dashed(legend)
    pattern = override["matcher"]["options"]["pattern"].strip("/")
    assert re.search(pattern, named)
    assert not re.search(pattern, other)


def test_a_threshold_without_a_legend_gets_one() -> None:
    (override,) = _dashed("")
    assert override["matcher"]["options"]["names"] == ["threshold"]


# queries


def test_ref_ids_go_on_after_z() -> None:
    queries = tuple(Query(expr=f"a{number}", legend="") for number in range(53))
    refs = [target["refId"] for target in _only(_panel(queries=queries))["targets"]]
    assert (refs[0], refs[25], refs[26], refs[51], refs[52]) == ("A", "Z", "AA", "AZ", "BA")


def test_a_time_series_asks_for_a_range() -> None:
    assert _only(_panel())["targets"] == [
        {
            "datasource": {"type": "prometheus", "uid": "${datasource}"}, "editorMode": "code", "expr": "loss",
            "format": "time_series", "instant": False, "legendFormat": "{{run_id}}", "range": True, "refId": "A",
        }
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["stat", "table"])
def test_a_number_and_a_table_show_now(kind: str) -> None:
    (target,) = _only(_panel(kind=kind))["targets"]
    assert (target["instant"], target["range"]) == (True, False)


def test_a_query_without_a_legend_lets_grafana_choose() -> None:
    (target,) = _only(_panel(queries=(Query(expr="a", legend=""),)))["targets"]
    assert target["legendFormat"] == "__auto"


def test_logs_come_from_loki() -> None:
    (target,) = _only(_panel(kind="logs", queries=(Query(expr='{app="x"}', legend=""),)))["targets"]
    assert target["datasource"] == {"type": "loki", "uid": "${loki_datasource}"}
    assert target["queryType"] == "range"


def test_a_metric_of_logs_is_a_time_series_from_loki() -> None:
    panel = _only(_panel(datasource="loki"))
    assert panel["type"] == "timeseries"
    assert panel["targets"][0].keys() == {"datasource", "editorMode", "expr", "legendFormat", "queryType", "refId"}


def test_the_columns_of_a_table_are_called_by_their_legends() -> None:
    queries = Query(expr="a", legend="Step"), Query(expr="b", legend="{{run_id}}")
    merge, organise = _only(_panel(kind="table", queries=queries))["transformations"]
    assert merge["id"] == "merge"
    assert organise["options"]["renameByName"] == {"Value #A": "Step"}
    assert organise["options"]["excludeByName"] == {"Time": True}


def test_a_text_asks_nothing() -> None:
    panel = _only(_panel(kind="text", text="# Hello", queries=()))
    assert panel["options"] == {"mode": "markdown", "content": "# Hello"}
    assert panel.keys() == {"description", "gridPos", "id", "options", "title", "type"}


def test_an_unknown_kind_of_panel_is_a_bug() -> None:
    with pytest.raises(ValueError, match="'gauge'"):
        _only(_panel(kind="gauge"))


# variables and annotations


def _variable(name: str, *panels: Panel, **changes: Any) -> Json:
    return next(v for v in _built(*panels, **changes)["templating"]["list"] if v["name"] == name)


def test_the_data_source_starts_at_the_uid_given() -> None:
    variable = _variable("datasource")
    assert (variable["type"], variable["query"], variable["current"]["value"]) == ("datasource", "prometheus", "prom")


def test_loki_is_offered_only_where_a_panel_reads_it() -> None:
    assert [v["name"] for v in _built(_panel())["templating"]["list"]] == ["datasource"]
    assert _variable("loki_datasource", _panel(kind="logs"))["current"]["value"] == "logs"


def test_a_variable_lists_a_labels_values() -> None:
    variable = _variable("run_id", variables=(("run_id", 'up{family="gpt"}'),))
    assert variable["query"] == variable["definition"] == 'label_values(up{family="gpt"}, run_id)'
    assert variable["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
    assert variable["refresh"] == 2


def test_a_whole_label_values_query_stays_as_it_is() -> None:
    query = "label_values(up, exported_job)"
    assert _variable("job", variables=(("job", query),))["query"] == query


def test_a_variable_takes_several_values_and_all() -> None:
    panel = _panel(queries=(Query(expr='a{run_id=~"$run_id"}', legend=""),))
    variable = _variable("run_id", panel, variables=(("run_id", "up"),))
    assert (variable["multi"], variable["includeAll"], variable["allValue"]) == (True, True, ".+")
    assert variable["current"]["value"] == ["$__all"]


@pytest.mark.parametrize("expr", ['a{run_id="$run_id"}', 'a{run_id="${run_id}"}', "a{run_id != '$run_id'}"])
def test_a_variable_that_is_compared_literally_takes_one_value(expr: str) -> None:
    variable = _variable("run_id", _panel(queries=(Query(expr=expr, legend=""),)), variables=(("run_id", "up"),))
    assert (variable["multi"], variable["includeAll"], variable["current"]) == (False, False, {})
    assert "allValue" not in variable


def test_a_longer_name_is_another_variable() -> None:
    panel = _panel(queries=(Query(expr='a{run_id="$run_id_2"}', legend=""),))
    assert _variable("run_id", panel, variables=(("run_id", "up"),))["multi"]


def test_alerts_that_fired_are_annotations() -> None:
    builtin, alerts = _built(annotations=(("Alerts", 'ALERTS{alertstate="firing"}'),))["annotations"]["list"]
    assert builtin["builtIn"] == 1
    assert (alerts["name"], alerts["expr"]) == ("Alerts", 'ALERTS{alertstate="firing"}')
    assert alerts["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
