"""What is wrong with a dashboard: by Grafana's own schemas, and by what they cannot see."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import promql_parser
from jsonschema import Draft7Validator

_SCHEMAS = Path(__file__).parents[1] / "data" / "grafana-schema"
_PREFIXED_UNIT = re.compile(r"(suffix|prefix|si|time|count|currency):.+")
_COLUMNS = 24


@cache
def _definitions(schema: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads((_SCHEMAS / f"{schema}.jsonschema.json").read_text())["definitions"]
    return found


@cache
def _judge(schema: str, definition: str) -> Draft7Validator | None:
    definitions = _definitions(schema)
    if definition not in definitions:
        return None
    return Draft7Validator({"$ref": f"#/definitions/{definition}", "definitions": definitions})


@cache
def _units() -> frozenset[str]:
    return frozenset(unit["const"] for unit in _definitions("units").values())


def faults(dashboard: Mapping[str, Any]) -> list[str]:
    """Each fault as `place: what`; empty for a good dashboard."""
    return [*_schema_faults(dashboard), *_uniqueness(dashboard), *_layout(dashboard), *_meaning(dashboard)]


def faults_between(dashboards: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Grafana keeps one of two files with the same uid, or the same title in a folder: no one knows which."""
    found = []
    for key in ("uid", "title"):
        count = Counter(
            (str(Path(path).parent) if key == "title" else "", d.get(key)) for path, d in dashboards.items()
        )
        found += [f"{key} {value!r}: in {times} files" for (_, value), times in count.items() if times > 1]
    return found


def picture(dashboard: Mapping[str, Any]) -> str:
    """The layout, a line per grid row and a letter per panel; `#` where panels overlap."""
    panels = _panels(dashboard)
    height = max((p["gridPos"]["y"] + p["gridPos"]["h"] for p in panels), default=0)
    grid = [["."] * _COLUMNS for _ in range(height)]
    for index, panel in enumerate(panels):
        mark = "=" if panel["type"] == "row" else chr(ord("A") + index % 26)
        for x, y in _cells(panel):
            if x < _COLUMNS:
                grid[y][x] = mark if grid[y][x] == "." else "#"
    return "\n".join("".join(line) for line in grid)


def _panels(dashboard: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [each for panel in dashboard["panels"] for each in (panel, *panel.get("panels", ()))]


def _complaints(schema: str, definition: str, value: object, place: str) -> Iterator[str]:
    if judge := _judge(schema, definition):
        for error in judge.iter_errors(value):
            yield f"{place}{error.json_path.removeprefix('$')}: {error.message[:200]}"


def _schema_faults(dashboard: Mapping[str, Any]) -> Iterator[str]:
    yield from _complaints("dashboard", "Dashboard", {**dashboard, "panels": []}, "dashboard")
    for panel in _panels(dashboard):
        place, kind = f"panel {panel.get('id')}", panel.get("type", "")
        if kind == "row":
            yield from _complaints("dashboard", "RowPanel", panel, place)
            continue
        yield from _complaints("dashboard", "Panel", panel, place)
        if not (_SCHEMAS / f"{kind}.jsonschema.json").exists():
            yield f"{place}: no schema of ours knows the type {kind!r}"
            continue
        yield from _complaints(kind, "Options", panel.get("options", {}), f"{place}.options")
        custom = panel.get("fieldConfig", {}).get("defaults", {}).get("custom", {})
        if custom:
            yield from _complaints(kind, "FieldConfig", custom, f"{place}.fieldConfig.defaults.custom")
        for number, target in enumerate(panel.get("targets", [])):
            language = target.get("datasource", {}).get("type")
            definition = {"prometheus": "Dataquery", "loki": "dataquery"}.get(language)
            if definition is None:
                yield f"{place}.targets[{number}]: the data source is {language!r}"
            else:
                yield from _complaints(language, definition, target, f"{place}.targets[{number}]")


def _twice(values: Iterable[Any], what: str) -> Iterator[str]:
    yield from (f"{what} {value!r} occurs {times} times" for value, times in Counter(values).items() if times > 1)


def _uniqueness(dashboard: Mapping[str, Any]) -> Iterator[str]:
    yield from _twice((panel.get("id") for panel in _panels(dashboard)), "the panel id")
    yield from _twice((variable["name"] for variable in dashboard["templating"]["list"]), "the variable")
    for panel in _panels(dashboard):
        yield from _twice(
            (target.get("refId") for target in panel.get("targets", [])), f"panel {panel['id']}: the refId"
        )


def _cells(panel: Mapping[str, Any]) -> Iterator[tuple[int, int]]:
    place = panel["gridPos"]
    yield from (
        (x, y)
        for y in range(place["y"], place["y"] + place["h"])
        for x in range(place["x"], place["x"] + place["w"])
    )  # fmt: skip


def _layout(dashboard: Mapping[str, Any]) -> Iterator[str]:
    taken: dict[tuple[int, int], Any] = {}
    for panel in _panels(dashboard):
        others = sorted({taken[cell] for cell in _cells(panel) if cell in taken})
        taken |= dict.fromkeys(_cells(panel), panel["id"])
        if others:
            yield f"panel {panel['id']}: covers the panels {others}"
        if panel["gridPos"]["x"] + panel["gridPos"]["w"] > _COLUMNS:
            yield f"panel {panel['id']}: reaches over the right edge"


def _meaning(dashboard: Mapping[str, Any]) -> Iterator[str]:
    known = {variable["name"] for variable in dashboard["templating"]["list"]}
    queries = [(f"annotation {a['name']!r}", a["datasource"]["type"], a) for a in dashboard["annotations"]["list"]]
    for panel in _panels(dashboard):
        place = f"panel {panel['id']}"
        if panel["type"] == "row":
            continue
        for key in ("title", "description"):
            if not panel.get(key, "").strip():
                yield f"{place}: no {key}"
        if panel["type"] != "text" and not panel.get("targets"):
            yield f"{place}: asks nothing"
        defaults = panel.get("fieldConfig", {}).get("defaults", {})
        unit = defaults.get("unit", "none")
        if unit not in _units() and not _PREFIXED_UNIT.fullmatch(unit):
            yield f"{place}: Grafana has no unit {unit!r}"
        yield from _thresholds(defaults.get("thresholds", {}).get("steps", []), place)
        queries += [
            (f"{place} {t.get('refId')}", t.get("datasource", {}).get("type"), t) for t in panel.get("targets", [])
        ]
    for place, language, query in queries:
        if language != "grafana":
            yield from _query(query, language, place, known)


def _thresholds(steps: list[Mapping[str, Any]], place: str) -> Iterator[str]:
    values = [step.get("value", "missing") for step in steps]
    if not values:
        return
    if values[0] is not None:
        yield f"{place}: the first threshold's value is {values[0]!r}, not null"
    if wrong := [value for value in values[1:] if not isinstance(value, int | float)]:
        yield f"{place}: thresholds that are no numbers: {wrong}"
    elif any(low >= high for low, high in pairwise(values[1:])):
        yield f"{place}: thresholds do not ascend: {values}"


def _query(query: Mapping[str, Any], language: str | None, place: str, known: set[str]) -> Iterator[str]:
    expr = query.get("expr", "")
    if not expr.strip():
        yield f"{place}: the query is empty"
        return
    source = query.get("datasource", {}).get("uid", "")
    if not source:
        yield f"{place}: no data source"
    used = set(re.findall(r"\$\{?([A-Za-z_]\w*)", expr + source))
    if unknown := sorted(name for name in used - known if not name.startswith("__")):
        yield f"{place}: no such variable: {', '.join(unknown)}"
    if language == "prometheus":
        try:
            promql_parser.parse(re.sub(r"\$__\w+", "5m", expr))
        except ValueError as error:
            yield f"{place}: {error}: {expr}"
