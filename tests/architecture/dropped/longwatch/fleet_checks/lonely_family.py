"""A fleet of one family.

What: there is only one family.
Why: it has nobody to talk to.
What to do: write another policy.
"""

from __future__ import annotations

from longwatch.diagnostics import Diagnostic, Severity
from longwatch.ir.model import Fleet
from longwatch.plugins.back import FleetCheck


def run(fleet: Fleet) -> tuple[Diagnostic, ...]:
    families = [plan for plan in fleet.plans if plan.kind == "family"]
    if len(families) != 1:
        return ()
    return (
        Diagnostic(
            code="lonely-family",
            severity=Severity.WARNING,
            message=f"{families[0].name} is the only family",
            help="write another policy",
            origin=families[0].origin.at("name"),
        ),
    )


CHECK = FleetCheck(run=run)
