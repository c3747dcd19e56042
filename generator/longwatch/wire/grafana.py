"""A dashboard of the IR as Grafana's classic JSON, schemaVersion 39 (Grafana 10 to 13 read it or migrate it up).

The only import of grafanalib. It costs a quarter of a second, hence inside the functions: checking a policy never pays
it. grafanalib is unmaintained and emits keys that no current Grafana knows, so `_clean` keeps what the schema names.

Panel ids are positions: `dashboard.panels[n]` has the id n + 1, wherever the layout puts it; rows count from 1000.
A link to one panel is therefore `/d/<uid>?viewPanel=<n + 1>`.

Data sources are variables (`datasource`, and `loki_datasource` where a panel reads Loki) that start at the UIDs given:
the same dashboard then reads a long-term store or a replay's Prometheus without being compiled again, and the choice is
in the URL. Alert annotations and label variables follow it.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from longwatch.ir.model import Dashboard, Line, Panel, Query
from longwatch.units import number

Json = dict[str, Any]

SCHEMA_VERSION = 39
FIRST_ROW_ID = 1000
COLUMNS = 24
_SIZES = {"timeseries": (12, 8), "stat": (6, 4), "table": (24, 8), "logs": (24, 10)}
"""Width in columns and height in units of 30 px."""

_PROMETHEUS = {"type": "prometheus", "uid": "${datasource}"}
_LOKI = {"type": "loki", "uid": "${loki_datasource}"}
_GRAFANA = {"type": "grafana", "uid": "-- Grafana --"}

_SEVERITY_COLOURS = {"info": "blue", "warning": "orange", "critical": "red"}
_BY_WEIGHT = ("blue", "orange", "red")
_SEVEREST_FIRST = ("red", "orange", "yellow", "blue")
"""Colours of dashed queries and of annotations, which carry no severity: in the order in which the IR lists them."""

_DASHBOARD_KEYS = (
    "annotations", "description", "editable", "graphTooltip", "links", "panels", "refresh", "schemaVersion", "tags",
    "templating", "time", "timezone", "title", "uid",
)  # fmt: skip
_PANEL_KEYS = (
    "collapsed", "datasource", "description", "fieldConfig", "gridPos", "id", "options", "panels", "targets", "title",
    "transformations", "type",
)  # fmt: skip
_VARIABLE_KEYS = (
    "allValue", "current", "datasource", "definition", "includeAll", "label", "multi", "name", "query", "refresh",
    "sort", "type",
)  # fmt: skip
_TARGET_KEYS = {
    "prometheus": ("datasource", "editorMode", "expr", "format", "instant", "legendFormat", "range", "refId"),
    "loki": ("datasource", "editorMode", "expr", "legendFormat", "queryType", "refId"),
}
_FIELDLESS = ("row", "text", "logs")
"""Panels that show no fields: what grafanalib writes into their fieldConfig means nothing."""


def dashboard(d: Dashboard, *, prometheus: str, loki: str) -> dict[str, object]:
    """Grafana's structure; `prometheus` and `loki` are the UIDs at which the data source variables start.

    Raises ValueError on what only a bug of ours makes: a uid that Grafana refuses, a kind that it does not know, a
    threshold that is not finite, more panels than ids below the rows'.
    """
    from grafanalib import core

    if not re.fullmatch(r"[A-Za-z0-9_-]{1,40}", d.uid):
        raise ValueError(f"{d.uid!r} is no dashboard uid: Grafana takes 1 to 40 of A-Z a-z 0-9 _ -")
    if len(d.panels) >= FIRST_ROW_ID:
        raise ValueError(f"{d.uid}: {len(d.panels)} panels; ids from {FIRST_ROW_ID} belong to rows")
    return _clean(
        core.Dashboard(
            uid=d.uid,
            title=d.title,
            description=d.description,
            tags=list(d.tags),
            schemaVersion=SCHEMA_VERSION,
            editable=False,  # an edit would be lost with the next compilation
            timezone="browser",
            refresh="1m",
            time=core.Time("now-24h", "now"),
            graphTooltip=core.GRAPH_TOOLTIP_MODE_SHARED_CROSSHAIR,
            links=_links(d.tags),
            annotations=core.Annotations(list=list(_annotations(d.annotations))),
            templating=core.Templating(list=list(_variables(d, prometheus, loki))),
            panels=list(_laid_out(d.panels)),
        )
    )


def _laid_out(panels: tuple[Panel, ...]) -> Iterator[Any]:
    """Panels by row, rows by first appearance; panels without one come first, or they would fold into the row above."""
    from grafanalib import core

    rows: dict[str, list[tuple[int, Panel]]] = {}
    for position, panel in enumerate(panels, start=1):
        rows.setdefault(panel.row, []).append((position, panel))
    top = 0
    ids = itertools.count(FIRST_ROW_ID)
    for title in sorted(rows, key=bool):
        if title:
            yield core.RowPanel(title=title, id=next(ids), gridPos=core.GridPos(x=0, y=top, w=COLUMNS, h=1))
            top += 1
        left = height = 0
        for position, panel in rows[title]:
            width, wanted = _SIZES.get(panel.kind) or (COLUMNS, min(12, 3 + len(panel.text.splitlines())))
            if left + width > COLUMNS or (left and wanted != height):
                left, top = 0, top + height
            height = wanted
            yield _panel(panel, position, core.GridPos(x=left, y=top, w=width, h=height))
            left += width
        top += height


def _panel(panel: Panel, position: int, grid: Any) -> Any:
    from grafanalib import core

    if not all(math.isfinite(line.value) for line in panel.lines):
        raise ValueError(f"{panel.key}: a threshold that is not finite: {panel.lines}")
    common = {"id": position, "title": panel.title, "description": _description(panel), "gridPos": grid}
    if panel.kind == "text":
        return core.Text(**common, content=panel.text)
    source = _LOKI if panel.datasource == "loki" or panel.kind == "logs" else _PROMETHEUS
    targets = list(_targets(panel.queries, panel.kind, source))
    common |= {"dataSource": source, "targets": targets, "maxDataPoints": None}
    match panel.kind:
        case "timeseries":
            return core.TimeSeries(**common, **_timeseries(panel))
        case "stat":
            return core.Stat(**common, **_stat(panel))
        case "table":
            return core.Table(**common, **_table(panel))
        case "logs":
            return core.Logs(**common, **_LOGS)
        case kind:
            raise ValueError(f"{panel.key}: Grafana has no panel that we call {kind!r}")


_LABEL = re.compile(r"\{\{.*?\}\}")
"""A label in a legend."""

_LOGS = {
    "showTime": True,
    "wrapLogMessages": True,
    "enableLogDetails": True,
    "extraJson": {"options": {"showLogContextToggle": True}},
}


def _description(panel: Panel) -> str:
    """Grafana draws lines without names, so their names stand in the panel's description."""
    lines = [
        f"- {_colour(line).capitalize()} line, bad {side}: {line.label or number(line.value)}"
        for line in panel.lines
        for side in ("below" if line.below else "above",)
    ]
    alerts = f"Alerts: {', '.join(f'`{name}`' for name in panel.alerts)}" if panel.alerts else ""
    return "\n\n".join(part for part in (panel.description, "\n".join(lines), alerts) if part)


def _ref(index: int) -> str:
    """A … Z, AA, AB, …: Grafana's own names of queries."""
    out = ""
    index += 1
    while index:
        index, letter = divmod(index - 1, 26)
        out = chr(ord("A") + letter) + out
    return out


def _targets(queries: tuple[Query, ...], kind: str, source: Mapping[str, str]) -> Iterator[Json]:
    # numbers and tables show now: over a range they would show the last value of a run that ended hours ago
    now = kind in ("stat", "table")
    for index, query in enumerate(queries):
        target: Json = {"refId": _ref(index), "expr": query.expr, "datasource": source, "editorMode": "code"}
        if kind != "logs":
            target["legendFormat"] = _legend(query)
        if source["type"] == "loki":
            target["queryType"] = "instant" if now else "range"
        else:
            target |= {"instant": now, "range": not now, "format": "table" if kind == "table" else "time_series"}
        yield target


def _timeseries(panel: Panel) -> Json:
    custom: Json = {"thresholdsStyle": {"mode": "dashed+area" if panel.lines else "off"}}
    if panel.lines:  # Grafana fits the axis to the data alone: a line that is far away would not be drawn
        edges = [
            v for line in panel.lines for v in (line.value, line.value + abs(line.value) / (-20 if line.below else 20))
        ]
        custom |= {"axisSoftMin": float(f"{min(edges):.9g}"), "axisSoftMax": float(f"{max(edges):.9g}")}
    return {
        "unit": panel.unit or "none",
        "thresholds": _steps(panel.lines, "transparent"),
        "legendCalcs": ["lastNotNull"],
        "tooltipMode": "multi",
        "tooltipSort": "desc",
        "stacking": {"mode": "none", "group": "A"},
        "overrides": list(_dashes(panel.queries)),
        "extraJson": {"fieldConfig": {"defaults": {"custom": custom}}, "options": {"legend": {"showLegend": True}}},
    }


def _dashes(queries: tuple[Query, ...]) -> Iterator[Json]:
    colours = iter(_SEVEREST_FIRST)
    for query in queries:
        if query.dashed:
            yield {
                "matcher": _named(_legend(query)),
                "properties": [
                    {"id": "custom.lineStyle", "value": {"fill": "dash", "dash": [10, 10]}},
                    {"id": "color", "value": {"mode": "fixed", "fixedColor": next(colours, _SEVEREST_FIRST[-1])}},
                ],
            }


def _named(legend: str) -> Json:
    """A matcher of the series with this legend.

    byFrameRefID would be shorter, but the published schema wants options to be an object, and there they are a text.
    Grafana draws byRegexpOrNames but has no editor for it; hence only where a legend has labels.
    """
    if "{{" not in legend:
        return {"id": "byNames", "options": {"mode": "include", "names": [legend]}}
    fixed = (re.sub(r"[.*+?^${}()|\[\]\\/]", r"\\\g<0>", part) for part in _LABEL.split(legend))
    return {"id": "byRegexpOrNames", "options": {"pattern": f"/^{'.*'.join(fixed)}$/", "names": []}}


def _legend(query: Query) -> str:
    """A dashed query always has words of its own: they are how its style finds it."""
    if query.dashed and not _LABEL.sub("", query.legend).strip():
        return f"{query.legend} threshold".strip()
    return query.legend or "__auto"


def _stat(panel: Panel) -> Json:
    return {
        "format": panel.unit or "none",
        "color": {"mode": "thresholds"},
        # transparent would make the number invisible
        "thresholds": _steps(panel.lines, "green" if panel.lines else "text"),
        "graphMode": "none",
        "reduceCalc": "lastNotNull",
        "noValue": "no data",
        "extraJson": {
            "options": {"wideLayout": True, "showPercentChange": False, "percentChangeColorMode": "standard"}
        },
    }


def _table(panel: Panel) -> Json:
    # applyToRow is what tells this kind of cell from the others that the published schema knows
    cell = {"cellOptions": {"type": "color-background", "mode": "basic", "applyToRow": False}} if panel.lines else {}
    custom = {"displayMode": None, "inspect": False} | cell
    return {
        "unit": panel.unit or "none",
        "thresholds": _steps(panel.lines, "transparent"),
        "transformations": list(_columns(panel.queries)),
        "extraJson": {
            "fieldConfig": {"defaults": {"color": {"mode": "thresholds"}, "custom": custom}},
            "options": {"frameIndex": 0, "cellHeight": "sm"},
        },
    }


def _columns(queries: tuple[Query, ...]) -> Iterator[Json]:
    """One row per label set; the value columns are called by their legends, unless those name single series."""
    one = len(queries) == 1
    names = {("Value" if one else f"Value #{_ref(index)}"): query.legend for index, query in enumerate(queries)}
    renamed = {column: legend for column, legend in names.items() if legend and "{{" not in legend}
    if not one:
        yield {"id": "merge", "options": {}}
    yield {"id": "organize", "options": {"excludeByName": {"Time": True}, "indexByName": {}, "renameByName": renamed}}


def _colour(line: Line) -> str:
    # a severity that we do not know is never drawn milder than it may be
    return _SEVERITY_COLOURS.get(line.severity, "red")


def _steps(lines: tuple[Line, ...], calm: str) -> list[Json]:
    """Grafana's thresholds: each colour holds from its value up to the next; the first has no value.

    Where lines overlap the worst colour wins. Below a `transparent` step Grafana draws a line in the colour under it,
    which is how a line whose bad side lies below gets its own colour.
    """
    cuts = sorted({line.value for line in lines})
    steps: list[Json] = []
    for low, high in zip((-math.inf, *cuts), (*cuts, math.inf), strict=True):
        bad = {_colour(line) for line in lines if (high <= line.value if line.below else low >= line.value)}
        steps.append({"color": max(bad, key=_BY_WEIGHT.index, default=calm), "value": low})
    return steps


def _links(tags: tuple[str, ...]) -> list[Json]:
    """A menu of the dashboards that share the first tag."""
    if not tags:
        return []
    return [
        {
            "type": "dashboards", "title": "Dashboards", "tags": [tags[0]], "asDropdown": True, "icon": "external link",
            "includeVars": False, "keepTime": True, "targetBlank": False, "tooltip": "", "url": "",
        }
    ]  # fmt: skip


def _annotations(queries: Iterable[tuple[str, str]]) -> Iterator[Json]:
    yield {
        "builtIn": 1, "datasource": _GRAFANA, "enable": True, "hide": True, "iconColor": "rgba(0, 211, 255, 1)",
        "name": "Annotations & Alerts", "type": "dashboard",
    }  # fmt: skip
    for index, (title, expr) in enumerate(queries):
        yield {
            "datasource": _PROMETHEUS, "enable": True, "expr": expr, "name": title, "step": "1m", "tagKeys": "severity",
            "iconColor": _SEVEREST_FIRST[min(index, len(_SEVEREST_FIRST) - 1)], "titleFormat": "{{alertname}}",
        }  # fmt: skip


def _variables(d: Dashboard, prometheus: str, loki: str) -> Iterator[Any]:
    from grafanalib import core

    yield core.Template(
        name="datasource", label="Prometheus", type="datasource", query="prometheus", default=prometheus
    )
    if any(panel.datasource == "loki" or panel.kind == "logs" for panel in d.panels):
        yield core.Template(name="loki_datasource", label="Loki", type="datasource", query="loki", default=loki)
    used = [query.expr for panel in d.panels for query in panel.queries]
    used += [expr for _, expr in (*d.annotations, *d.variables)]
    for name, expr in d.variables:
        # several values become a regular expression, which `label="$name"` would compare literally
        literal = re.compile(rf"""=\s*["']\$\{{?{re.escape(name)}\b""")
        several = not any(literal.search(expr) for expr in used)
        yield core.Template(
            name=name,
            label=name.replace("_", " ").capitalize(),
            dataSource=_PROMETHEUS,
            query=expr if expr.startswith("label_values(") else f"label_values({expr}, {name})",
            refresh=core.REFRESH_ON_TIME_RANGE_CHANGE,
            sort=core.SORT_ALPHA_ASC,
            multi=several,
            includeAll=several,
            allValue=".+" if several else None,
        )


def _clean(built: Any) -> Json:
    """grafanalib's output without what no schema names, with null where Grafana wants null."""
    out: Json = _keep(_plain(built), _DASHBOARD_KEYS)
    out["panels"] = [_clean_panel(panel) for panel in out["panels"]]
    out["templating"] = {"list": [_clean_variable(variable) for variable in out["templating"]["list"]]}
    return out


def _clean_panel(raw: Json) -> Json:
    panel = _keep(raw, _PANEL_KEYS)
    if panel["type"] in _FIELDLESS:
        del panel["fieldConfig"]
    else:
        defaults = panel["fieldConfig"]["defaults"]
        # linear scales have no base; the modern table keeps its display mode in cellOptions
        defaults.get("custom", {}).get("scaleDistribution", {}).pop("log", None)
        defaults["thresholds"]["steps"][0]["value"] = None
    for name in ("targets", "transformations"):
        if not panel.get(name):
            panel.pop(name, None)
    if "targets" in panel:
        panel["targets"] = [_keep(target, _TARGET_KEYS[target["datasource"]["type"]]) for target in panel["targets"]]
    return panel


def _clean_variable(raw: Json) -> Json:
    variable = _keep(raw, _VARIABLE_KEYS)
    if variable["type"] == "datasource":
        variable["current"] = {"selected": True, "text": raw["query"], "value": raw["current"]["value"]}
    else:
        variable["definition"] = variable["query"]
        everything = {"selected": True, "text": ["All"], "value": ["$__all"]}
        variable["current"] = everything if variable["includeAll"] else {}
    return variable


def _keep(tree: Json, keys: tuple[str, ...]) -> Json:
    return {key: tree[key] for key in keys if key in tree}


def _plain(value: Any) -> Any:
    """grafanalib's objects as dicts and lists, without nulls."""
    if hasattr(value, "to_json_data"):
        return _plain(value.to_json_data())
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
