"""One dashboard per family and per cluster: an overview, then a panel for each alert with its threshold, then the logs."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from longwatch.catalogue.signals import SIGNALS
from longwatch.ir import names
from longwatch.ir.model import Alert, Dashboard, Line, Panel, Query, Unprotected
from longwatch.plugins.reading import ClusterReader, FamilyReader
from longwatch.policy.model import Cluster, Family
from longwatch.units import number


def family_dashboard(
    family: Family,
    reader: FamilyReader,
    alerts: Sequence[Alert],
    roles: Sequence[str],
    unprotected: Sequence[Unprotected],
) -> Dashboard:
    chosen = [f'{label}=~"${label}"' for label in reader.identity]
    scope = ", ".join((f'{names.FAMILY}="{family.name}"', *chosen))
    legend = f"{{{{{reader.run_label}}}}}"
    overview = (
        Panel(
            key="active-runs",
            title="Active runs",
            description="Runs that are present and not finished.",
            unit="short",
            queries=(Query(expr=f"count({names.ACTIVE}{{{scope}}}) or vector(0)", legend="runs"),),
            row="Overview",
            kind="stat",
        ),
        *_state(scope, unprotected),
    )
    signals = tuple(
        Panel(
            key=f"signal-{role}",
            title=SIGNALS[role].title,
            description=f"{SIGNALS[role].title} of each run.",
            unit=SIGNALS[role].unit,
            queries=(
                Query(expr=f"{names.level(role, reader.operation(role))}{{{scope}}}", legend=legend),
                *_reference(family, role, scope, legend),
            ),
            row="Signals",
        )
        for role in roles
        if SIGNALS[role].kind == "level"
    )
    logs = Panel(
        key="logs",
        title="Log lines",
        description="Warnings and worse of the chosen runs.",
        unit="short",
        queries=(
            Query(
                expr=f'{{model_family="{family.name}", level=~"warning|error|critical"}} | run_id=~"${reader.run_label}"',
                legend="",
            ),
        ),
        row="Logs",
        datasource="loki",
        kind="logs",
    )
    placement = family.document.placement
    at = f"{placement.info}{{{placement.run}=~" if placement else f"{names.PLACEMENT}{{run_id=~"
    labels = f"{placement.run}, {placement.node}" if placement else "run_id, node"
    nodes = Panel(
        key="nodes",
        title="Nodes",
        description="The nodes on which the chosen runs stand, by the scheduler's word.",
        unit="short",
        queries=(Query(expr=f'max by ({labels}) ({at}"${reader.run_label}"}})', legend=""),),
        row="Nodes",
        kind="table",
    )
    return Dashboard(
        uid=names.uid("families", family.name),
        title=f"Training: {family.title}",
        description=f"Compiled by Longwatch from {family.file}. Every threshold is the policy's.",
        tags=("longwatch", "family", family.name, family.owner),
        variables=tuple(
            (label, f"{names.SEEN}{{{', '.join((scope.split(', ')[0], *chosen[:index]))}}}")
            for index, label in enumerate(reader.identity)
        ),
        panels=(*overview, *_alert_panels(alerts, reader.identity, f"{names.SEEN}{{{scope}}}"), *signals, nodes, logs),
        annotations=_annotations(scope),
    )


def cluster_dashboard(
    cluster: Cluster, reader: ClusterReader, alerts: Sequence[Alert], unprotected: Sequence[Unprotected]
) -> Dashboard:
    scope = f'machines="{cluster.name}"'
    overview = _state(scope, unprotected)
    logs = Panel(
        key="logs",
        title="Log lines",
        description="Warnings and worse of runs on this cluster.",
        unit="short",
        queries=(
            Query(
                expr=f'{{cluster="{cluster.document.select.get("cluster", cluster.name)}", level=~"warning|error|critical"}}',
                legend="",
            ),
        ),
        row="Logs",
        datasource="loki",
        kind="logs",
    )
    nodes = (("node", names.PLACEMENT),) if reader.has("placement") else ()
    return Dashboard(
        uid=names.uid("clusters", cluster.name),
        title=f"Machines: {cluster.title}",
        description=f"Compiled by Longwatch from {cluster.file}. Every threshold is the policy's.",
        tags=("longwatch", "cluster", cluster.name, cluster.owner),
        variables=nodes,
        panels=(*overview, *_alert_panels(alerts, (), ""), logs),
        annotations=_annotations(scope),
    )


def linked(alerts: Sequence[Alert], dashboard: Dashboard) -> tuple[Alert, ...]:
    """The alerts with the id of the panel that shows them: its position in the dashboard, from 1."""
    position = {name: index for index, panel in enumerate(dashboard.panels, 1) for name in panel.alerts}
    return tuple(
        msgspec.structs.replace(
            alert, links=tuple((key, url.replace("@panel@", str(position[alert.name]))) for key, url in alert.links)
        )
        for alert in alerts
    )


def _state(scope: str, unprotected: Sequence[Unprotected]) -> tuple[Panel, ...]:
    """What fires now, and what nothing watches."""
    return (
        Panel(
            key="firing",
            title="Firing alerts",
            description="Alerts of this dashboard that fire now, in any stage; in stage shadow nobody is told.",
            unit="short",
            queries=(Query(expr=f'count(ALERTS{{alertstate="firing", {scope}}}) or vector(0)', legend="alerts"),),
            row="Overview",
            kind="stat",
        ),
        Panel(
            key="unprotected",
            title="What is not watched",
            description="Alerts that were left out, and what they would need.",
            unit="short",
            queries=(),
            row="Overview",
            kind="text",
            text=_unprotected_text(unprotected),
        ),
    )


def _unprotected_text(unprotected: Sequence[Unprotected]) -> str:
    if not unprotected:
        return "Everything that the policy's packs bring is watched."
    return "\n".join(f"- **{item.alert}**: {item.reason}" for item in unprotected)


def _annotations(scope: str) -> tuple[tuple[str, str], ...]:
    return tuple(
        (f"{severity.capitalize()} alerts", f'ALERTS{{alertstate="firing", severity="{severity}", {scope}}}')
        for severity in ("critical", "warning", "info")
    )


def _alert_panels(alerts: Sequence[Alert], run: tuple[str, ...], chosen: str) -> tuple[Panel, ...]:
    """A panel for each alert name; the several rules of SignalMissing share one. `chosen`: the runs picked above."""
    by_name: dict[str, list[Alert]] = {}
    for alert in alerts:
        by_name.setdefault(alert.name, []).append(alert)
    return tuple(_alert_panel(name, group, run, chosen) for name, group in by_name.items())


def _alert_panel(name: str, group: Sequence[Alert], run: tuple[str, ...], chosen: str) -> Panel:
    first = group[0]

    def shown(expr: str) -> str:
        return f"({expr}) and on ({', '.join(run)}) {chosen}" if run and first.identity == run else expr

    label = " ".join(f"{{{{{key}}}}}" for key in first.identity if key != "cluster") or "{{cluster}}"
    queries: list[Query] = []
    lines: list[Line] = []
    for alert in group:
        suffix = f" {' '.join(alert.labels.values())}" if alert.labels else ""
        for index, condition in enumerate(alert.conditions):
            which = (
                f" ≥ {number(condition.right)}"
                if len(alert.conditions) > 1 and not isinstance(condition.right, str)
                else ""
            )
            queries.append(Query(expr=shown(condition.left), legend=f"{label}{suffix}{which}"))
            if isinstance(condition.right, str):
                queries.append(Query(expr=shown(condition.right), legend=f"limit {label}", dashed=True))
            elif index == 0 and len(alert.conditions) == 1 and not lines:
                lines.append(
                    Line(
                        value=condition.right,
                        severity=alert.severity,
                        label=name,
                        below=condition.operator.startswith("<"),
                    )
                )
    return Panel(
        key=names.kebab(name),
        title=first.panel_title,
        description=f"{name} ({first.severity}): expected {first.expected}.",
        unit=first.conditions[0].unit or "short",
        queries=tuple(dict.fromkeys(queries)),
        lines=tuple(lines),
        row="Alerts",
        alerts=(name,),
    )


def _reference(family: Family, role: str, scope: str, legend: str) -> tuple[Query, ...]:
    """The committed curve, where there is one."""
    if any(role in v.baselines and v.baselines[role].curve is not None for v in family.variants):
        return (Query(expr=f"{names.level(role, 'curve')}{{{scope}}}", legend=f"curve {legend}", dashed=True),)
    return ()
