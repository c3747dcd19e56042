"""Grafana dashboards, one per family and one per cluster.

`grafana/families/<name>.json` and `grafana/clusters/<name>.json` are classic dashboards for file provisioning (with
`foldersFromFilesStructure: true` the two directories become folders), for the API and for a sidecar's ConfigMaps. Every
panel draws the thresholds of the alerts that judge it; alerts that fired stand as annotations over all panels.

The dashboards are not editable in Grafana: edit the policy and compile. A panel's id is its position in the plan's
dashboard, so `/d/<uid>?viewPanel=<position>` opens it alone.
"""

from __future__ import annotations

from longwatch.artifact import Artifact
from longwatch.ir.model import Plan, Shared
from longwatch.plugins.back import Emitter
from longwatch.render import json
from longwatch.wire import grafana

_FOLDERS = {"family": "families", "cluster": "clusters"}


def _plan(plan: Plan, shared: Shared) -> tuple[Artifact, ...]:
    tree = grafana.dashboard(plan.dashboard, prometheus=shared.prometheus_datasource, loki=shared.loki_datasource)
    return (
        Artifact(
            path=f"grafana/{_FOLDERS[plan.kind]}/{plan.name}.json",
            text=json.dump(tree),
            target="grafana",
            sources=plan.sources,
            subject=plan.name,
        ),
    )


EMITTER = Emitter(title="Grafana dashboards", plan=_plan)
