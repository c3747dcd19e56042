"""The judge of dashboards can say no: each fault that it claims to see is made on purpose."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from dashboard_faults import faults, faults_between, picture

Json = dict[str, Any]


def _panel(number: int) -> Json:
    source = {"type": "prometheus", "uid": "${datasource}"}
    return {
        "id": number,
        "type": "timeseries",
        "title": "Loss",
        "description": "The loss of each run.",
        "gridPos": {"x": 12 * (number - 1), "y": 0, "w": 12, "h": 8},
        "datasource": source,
        "targets": [
            {"refId": "A", "expr": "rate(a[$__rate_interval])", "datasource": source},
            {"refId": "B", "expr": 'b{run_id=~"$run_id"}', "datasource": source},
        ],
        "options": {
            "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []},
            "tooltip": {"mode": "multi", "sort": "none"},
        },
        "fieldConfig": {
            "defaults": {
                "unit": "s",
                "custom": {"drawStyle": "line"},
                "thresholds": {
                    "mode": "absolute",
                    "steps": [
                        {"color": "transparent", "value": None},
                        {"color": "orange", "value": 1},
                        {"color": "red", "value": 2},
                    ],
                },
            },
            "overrides": [],
        },
    }


def _good() -> Json:
    return {
        "uid": "a",
        "title": "A",
        "schemaVersion": 39,
        "annotations": {"list": []},
        "templating": {"list": [{"name": "datasource", "type": "datasource"}, {"name": "run_id", "type": "query"}]},
        "panels": [_panel(1), _panel(2)],
    }


def test_a_good_dashboard_has_no_faults() -> None:
    assert faults(_good()) == []


def _first(d: Json) -> Json:
    found: Json = d["panels"][0]
    return found


def _defaults(d: Json) -> Json:
    found: Json = _first(d)["fieldConfig"]["defaults"]
    return found


def _target(d: Json) -> Json:
    found: Json = _first(d)["targets"][0]
    return found


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (lambda d: d.update(rows=[]), "'rows' was unexpected"),
        (lambda d: d.pop("schemaVersion"), "'schemaVersion' is a required property"),
        (lambda d: _first(d).update(span=6), "'span' was unexpected"),
        (lambda d: _first(d).update(type="singlestat"), "no schema of ours knows the type 'singlestat'"),
        (lambda d: _first(d)["options"].update(legend={}), "'displayMode' is a required property"),
        (lambda d: _defaults(d)["custom"].update(drawStyle="zigzag"), "'zigzag' is not one of"),
        (lambda d: _target(d).update(metric=""), "'metric' was unexpected"),
        (lambda d: _target(d).pop("datasource"), "the data source is None"),
        (lambda d: _target(d)["datasource"].clear(), "the data source is None"),
        (lambda d: _target(d)["datasource"].update(uid=""), "no data source"),
        (lambda d: _target(d).update(expr=" "), "the query is empty"),
        (lambda d: _target(d).update(expr="sum(a"), "unclosed left parenthesis"),
        (lambda d: _target(d).update(expr='a{x="$y"}'), "no such variable: y"),
        (lambda d: _target(d).update(refId="B"), "the refId 'B' occurs 2 times"),
        (lambda d: _first(d).update(id=2), "the panel id 2 occurs 2 times"),
        (lambda d: d["templating"]["list"].append({"name": "run_id", "type": "query"}), "the variable 'run_id' occurs"),
        (lambda d: _first(d)["gridPos"].update(w=13), "panel 2: covers the panels [1]"),
        (lambda d: _first(d)["gridPos"].update(x=20, y=8), "panel 1: reaches over the right edge"),
        (lambda d: _first(d).update(description=" "), "panel 1: no description"),
        (lambda d: _first(d).pop("title"), "panel 1: no title"),
        (lambda d: _first(d).update(targets=[]), "panel 1: asks nothing"),
        (lambda d: _defaults(d).update(unit="seconds"), "Grafana has no unit 'seconds'"),
        (lambda d: _defaults(d)["thresholds"]["steps"][0].update(value="null"), "first threshold's value is 'null'"),
        (lambda d: _defaults(d)["thresholds"]["steps"][2].update(value="9"), "thresholds that are no numbers: ['9']"),
        (lambda d: _defaults(d)["thresholds"]["steps"][2].update(value=1), "thresholds do not ascend"),
    ],
)
def test_a_spoilt_dashboard_is_noticed(spoil: Callable[[Json], object], complaint: str) -> None:
    bad = copy.deepcopy(_good())
    spoil(bad)
    assert complaint in "\n".join(faults(bad))


def test_two_files_with_one_uid_are_noticed() -> None:
    assert faults_between({"x/a.json": _good(), "y/b.json": _good()}) == ["uid 'a': in 2 files"]


def test_two_files_with_one_title_in_a_folder_are_noticed() -> None:
    found = faults_between({"x/a.json": _good(), "x/b.json": {**_good(), "uid": "b"}})
    assert found == ["title 'A': in 2 files"]


def test_the_picture_shows_an_overlap() -> None:
    bad = _good()
    _first(bad)["gridPos"]["w"] = 13
    assert picture(bad).splitlines()[0] == "A" * 12 + "#" + "B" * 11
