"""Policy → FamilyPlan, ClusterPlan and what is shared: the one place where both languages meet."""

from __future__ import annotations

from longwatch.catalogue.cascades import FAMILY_CASCADES
from longwatch.catalogue.signals import SIGNALS
from longwatch.ir import names
from longwatch.ir.model import (
    Alert,
    Inhibition,
    Manual,
    Plan,
    Record,
    RouteFacts,
    Summary,
)
from longwatch.lower.alerts import lower_alerts
from longwatch.lower.dashboards import cluster_dashboard, family_dashboard, linked
from longwatch.lower.lifecycle import level_records, lifecycle_records
from longwatch.lower.scenarios import lower_scenarios
from longwatch.plugins.front import manuals
from longwatch.plugins.reading import ClusterReader, FamilyReader
from longwatch.policy.model import Cluster, Family, Organisation


def lower_family(organisation: Organisation, family: Family, *, proofs: bool = True) -> Plan:
    """Everything compiled from one family; without `proofs`, no scenario is simulated."""
    reader = FamilyReader(family)
    alerts, extra, unprotected = lower_alerts(family, reader, organisation.document)
    roles = tuple(dict.fromkeys(r for a in alerts for r in a.signals if _recorded(r)))
    records = (*lifecycle_records(reader), *level_records(reader, roles), *extra)
    dashboard = family_dashboard(family, reader, alerts, roles, unprotected)
    alerts = linked(alerts, dashboard)
    variant = family.variants[0]
    pages = [a for a in alerts if a.severity == "critical" and a.stage == "page"]
    return Plan(
        name=family.name,
        kind="family",
        title=family.title,
        owner=family.owner,
        stage=family.stage,
        tier=family.document.tier or "",
        identity=family.identity,
        interval=family.rules,
        records=records,
        alerts=alerts,
        dashboard=dashboard,
        scenarios=lower_scenarios(family, reader, alerts) if proofs else (),
        inhibitions=_inhibitions(alerts, family.identity),
        unprotected=unprotected,
        manuals=_manuals(alerts),
        sources=family.sources,
        selector=family.document.runs.select,
        name_pattern=family.document.runs.name_pattern or "",
        raw_series_per_run=len(family.readings) * max(1, variant.ranks),
        recorded_series_per_run=len({r.name for r in records}),
        pages_per_run=len({a.name for a in pages}),
        origin=family.origin,
    )


def _recorded(role: str) -> bool:
    """Roles that get a series per run: levels, and the counters at which curves are read."""
    return SIGNALS[role].per == "run" and (SIGNALS[role].kind == "level" or role in ("samples", "tokens", "step"))


def lower_cluster(organisation: Organisation, cluster: Cluster, *, proofs: bool = True) -> Plan:
    """Everything compiled from one cluster; without `proofs`, no scenario is simulated."""
    reader = ClusterReader(cluster)
    alerts, extra, unprotected = lower_alerts(cluster, reader, organisation.document)
    dashboard = cluster_dashboard(cluster, reader, alerts, unprotected)
    alerts = linked(alerts, dashboard)
    pages = [a for a in alerts if a.severity == "critical" and a.stage == "page"]
    records = (*_placement(reader), *extra)
    return Plan(
        name=cluster.name,
        kind="cluster",
        title=cluster.title,
        owner=cluster.owner,
        stage=cluster.stage,
        identity=("cluster", "node"),
        interval=cluster.rules,
        records=records,
        alerts=alerts,
        dashboard=dashboard,
        scenarios=lower_scenarios(cluster, reader, alerts) if proofs else (),
        inhibitions=(),
        unprotected=unprotected,
        manuals=_manuals(alerts),
        sources=cluster.sources,
        selector=cluster.document.select,
        raw_series_per_run=len(cluster.readings) * cluster.document.gpus_per_node * cluster.document.nodes,
        recorded_series_per_run=len(records) * cluster.document.nodes,
        pages_per_run=len({a.name for a in pages}),
        origin=cluster.origin,
    )


def _placement(reader: ClusterReader) -> tuple[Record, ...]:
    """One run per node, one family per run: two of them would make every join fail, so the first stands for both."""
    if not reader.has("placement"):
        return ()
    # A pod object outlives its job; a run that is over stands nowhere.
    stands = f"({reader.per_subject('placement')} > bool 0) == 1 unless on (cluster, run_id) {names.OVER}"
    run = f"topk by (cluster, node) (1, {stands})"
    info = f"topk by (cluster, run_id) (1, max by (cluster, run_id, model_family, run_owner) ({names.RUN_INFO}))"
    return (
        Record(
            name=names.PLACEMENT,
            expr=f"({run} * on (cluster, run_id) group_left (model_family, run_owner) {info})"
            f" or ({run} unless on (cluster, run_id) {info})",
            reason="which run stands on a node; device alerts join it",
        ),
    )


def _inhibitions(alerts: tuple[Alert, ...], identity: tuple[str, ...]) -> tuple[Inhibition, ...]:
    compiled = {a.name for a in alerts}
    made = []
    for cascade in FAMILY_CASCADES:
        targets = tuple(name for name in cascade.followers if name in compiled)
        if cascade.cause in compiled and targets:
            made.append(Inhibition(source=cascade.cause, targets=targets, equal=identity, reason=cascade.reason))
    return tuple(made)


def _manuals(alerts: tuple[Alert, ...]) -> tuple[Manual, ...]:
    used = dict.fromkeys(a.detector for a in alerts)
    return tuple(Manual(detector=name, text=manuals()[name]) for name in used)


def summary(plan: Plan) -> Summary:
    """What fleet-wide emitters see of a plan."""
    facts = {(a.name, a.owner, a.severity, a.stage) for a in plan.alerts}
    return Summary(
        name=plan.name,
        kind=plan.kind,
        title=plan.title,
        owner=plan.owner,
        stage=plan.stage,
        sources=plan.sources,
        identity=plan.identity,
        name_pattern=plan.name_pattern,
        selector=plan.selector,
        alerts=tuple(RouteFacts(name=n, owner=o, severity=s, stage=t) for n, o, s, t in sorted(facts)),
        inhibitions=plan.inhibitions,
    )
