"""The dashboards that the emitter makes are dashboards that Grafana reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from dashboard_faults import faults, faults_between, picture

from longwatch.artifact import Artifact
from longwatch.diagnostics import Origin
from longwatch.emitters.grafana import EMITTER
from longwatch.ir.model import Dashboard, Line, LogSchema, Panel, Plan, Query, Shared

_OUT = Path(__file__).parents[2] / "out"
_ORIGIN = Origin(file="policies/families/gpt.yaml")

_SHARED = Shared(
    name="lab", teams=(), receivers=(), severities=(), mute_times=(), default_receiver="", runbook_url="",
    grafana_url="",
    prometheus_datasource="prom", loki_datasource="logs", sources=(), origin=_ORIGIN,
    logs=LogSchema(
        required=(), levels=(), stages=(), labels=(), structured_metadata=(), masks=(), debug_sample=1.0, paths=(),
        push_url="", retention=0.0,
    ),
)  # fmt: skip


def _panel(key: str, kind: str, row: str, *exprs: str, lines: tuple[Line, ...] = (), **more: Any) -> Panel:
    queries = tuple(Query(expr=expr, legend=f"{{{{run_id}}}} {n}", dashed=n > 0) for n, expr in enumerate(exprs))
    return Panel(
        key=key, title=key.title(), description=f"What {key} is – and why.", kind=kind, row=row, queries=queries,
        lines=lines, **({"unit": "short"} | more),
    )  # fmt: skip


_HIGH = Line(value=8, severity="critical", label="8 nats")
_ODD = Line(value=6.5, severity="warning", label="6.5 nats")
_LOW = Line(value=0.8, severity="warning", label="80% of the baseline", below=True)

_FULL = (
    _panel("about", "text", "", unit="", text="# GPT\n\nOwned by pretraining.\n"),
    *(_panel(f"now {n}", "stat", "Now", f'n{n}{{run_id=~"$run_id"}}', unit="s", lines=(_ODD, _HIGH)) for n in range(5)),
    _panel("loss", "timeseries", "Numbers", 'loss{run_id=~"$run_id"}', "vector(9)", lines=(_ODD, _HIGH)),
    _panel("mfu", "timeseries", "Speed", 'mfu{run_id=~"$run_id"}', unit="percentunit", lines=(_LOW,)),
    _panel("step", "timeseries", "Numbers", 'rate(steps_total{run_id=~"$run_id"}[$__rate_interval])'),
    _panel("band", "timeseries", "Numbers", "a", "b", "c", lines=(_LOW, _HIGH), alerts=("GptBand",)),
    _panel("errors", "timeseries", "Logs", 'sum(rate({family="gpt"} |= "error" [$__auto]))', datasource="loki"),
    _panel("runs", "table", "Runs", "max by (run_id) (loss)", "max by (run_id) (step)", lines=(_HIGH,)),
    _panel("one", "table", "Runs", "max by (run_id) (loss)"),
    _panel("lines", "logs", "Logs", '{family="gpt", run_id=~"$run_id"}'),
)


def _emitted(kind: str = "family", panels: tuple[Panel, ...] = _FULL) -> Artifact:
    dashboard = Dashboard(
        uid=f"lw-{kind}", title=f"GPT {kind}", description="Runs of GPT.", tags=("longwatch", kind), panels=panels,
        variables=(("cluster", 'up{family="gpt"}'), ("run_id", 'up{family="gpt", cluster=~"$cluster"}')),
        annotations=(("Critical", 'ALERTS{severity="critical", run_id=~"$run_id"}'), ("Warning", "ALERTS")),
    )  # fmt: skip
    plan = Plan(
        name="gpt", kind=kind, title="GPT", owner="pretraining", stage="page", identity=("cluster", "run_id"),
        interval=30.0, records=(), alerts=(), dashboard=dashboard, scenarios=(), inhibitions=(), unprotected=(),
        manuals=(), sources=("policies/families/gpt.yaml",), origin=_ORIGIN,
    )  # fmt: skip
    assert EMITTER.plan
    (artifact,) = EMITTER.plan(plan, _SHARED)
    return artifact


def _assert_sound(path: str, dashboard: dict[str, Any]) -> None:
    found = faults(dashboard)
    assert not found, "\n".join([path, *found, "", picture(dashboard)])


def test_every_kind_of_panel_is_one_that_grafana_reads() -> None:
    _assert_sound("hand-built", json.loads(_emitted().text))


@pytest.mark.parametrize("panel", _FULL, ids=lambda panel: panel.key)
def test_a_panel_alone_is_one_that_grafana_reads(panel: Panel) -> None:
    _assert_sound(panel.key, json.loads(_emitted(panels=(panel,)).text))


def test_an_empty_dashboard_is_one_that_grafana_reads() -> None:
    _assert_sound("empty", json.loads(_emitted(panels=()).text))


def test_the_layout_looks_as_intended() -> None:
    assert picture(json.loads(_emitted().text)).splitlines() == [
        *["A" * 24] * 6,
        "=" * 24,
        *["CCCCCCDDDDDDEEEEEEFFFFFF"] * 4,
        *["GGGGGG" + "." * 18] * 4,
        "=" * 24,
        *["I" * 12 + "J" * 12] * 8,
        *["K" * 12 + "." * 12] * 8,
        "=" * 24,
        *["M" * 12 + "." * 12] * 8,
        "=" * 24,
        *["O" * 12 + "." * 12] * 8,
        *["P" * 24] * 10,
        "=" * 24,
        *["R" * 24] * 8,
        *["S" * 24] * 8,
    ]


@pytest.mark.parametrize(
    ("kind", "path"), [("family", "grafana/families/gpt.json"), ("cluster", "grafana/clusters/gpt.json")]
)
def test_families_and_clusters_have_folders_of_their_own(kind: str, path: str) -> None:
    artifact = _emitted(kind)
    assert (artifact.path, artifact.target, artifact.subject) == (path, "grafana", "gpt")
    assert artifact.sources == ("policies/families/gpt.yaml",)


def test_the_same_plan_gives_the_same_bytes() -> None:
    assert _emitted().text == _emitted().text


def test_the_text_is_for_people_too() -> None:
    text = _emitted().text
    assert "What loss is – and why." in text
    assert text.startswith('{\n  "annotations": {\n') and text.endswith("}\n")


@pytest.mark.parametrize("path", sorted(_OUT.glob("grafana/**/*.json")), ids=lambda path: str(path.relative_to(_OUT)))
def test_a_committed_dashboard_is_one_that_grafana_reads(path: Path) -> None:
    _assert_sound(str(path), json.loads(path.read_text()))


def test_committed_dashboards_do_not_replace_each_other() -> None:
    found = {str(path): json.loads(path.read_text()) for path in sorted(_OUT.glob("grafana/**/*.json"))}
    assert faults_between(found) == []
