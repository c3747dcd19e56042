"""An alert of a pack that was left out, because no exporter of the family or cluster feeds it.

What: a pack brings an alert whose signal, curve or other input this policy does not have.
Why: the failure that it would see goes unseen here; better said than pretended.
What to do: add an exporter that provides the signal, or leave the pack out with open eyes. A note is not an error.
"""

from __future__ import annotations

from longwatch.diagnostics import Diagnostic, Severity
from longwatch.ir.model import Fleet
from longwatch.plugins.back import FleetCheck


def run(fleet: Fleet) -> tuple[Diagnostic, ...]:
    return tuple(
        Diagnostic(
            code="unprotected",
            severity=Severity.NOTE,
            message=f"{plan.name} goes without {left_out.alert}: {left_out.reason}",
            why="what this alert would see goes unseen here",
            help=left_out.remedy,
            origin=left_out.origin,
        )
        for plan in fleet.plans
        for left_out in {one.alert: one for one in plan.unprotected}.values()
    )


CHECK = FleetCheck(run=run)
