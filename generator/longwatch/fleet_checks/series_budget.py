"""More recorded series than a family's raw series can justify.

What: the recording rules write more than a tenth as many series per run as the run publishes itself, in a family that
publishes more than 200. Below that the ratio says nothing: every run has some 20 series of its own, however few ranks.
Why: recorded series are stored, replicated and paid for like raw ones; a role recorded per device for every run of every family
multiplies by the ranks (20 runs of 512 GPUs would duplicate 184,000 series).
What to do: take out alerts and panels that read signals per device, or move them to the cluster's policy.
"""

from __future__ import annotations

from longwatch.diagnostics import Diagnostic, Severity
from longwatch.ir.model import Fleet, Plan
from longwatch.plugins.back import FleetCheck

_FEW = 200
_BUDGET = 0.1


def run(fleet: Fleet) -> tuple[Diagnostic, ...]:
    return tuple(_problem(plan) for plan in fleet.plans if _over(plan))


def _over(plan: Plan) -> bool:
    raw = plan.raw_series_per_run
    return raw > _FEW and plan.recorded_series_per_run > _BUDGET * raw


def _problem(plan: Plan) -> Diagnostic:
    recorded, raw = plan.recorded_series_per_run, plan.raw_series_per_run
    return Diagnostic(
        code="series-budget",
        severity=Severity.WARNING,
        message=f"{plan.name} records {recorded:,} series beside {raw:,} raw ones ({recorded / raw:.0%})",
        why=f"recorded series cost as much as raw ones; up to {_BUDGET:.0%} is usual",
        help="take out alerts that read signals per device, or move them to the cluster's policy",
        origin=plan.origin,
    )


CHECK = FleetCheck(run=run)
