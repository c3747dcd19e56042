"""A family that enrols every run of its exporters.

What: `runs.select` is missing.
Why: the family's rules then read all runs that export the same metrics, other families' among them, and a run without
an identity cannot be told from theirs.
What to do: name a label that only this family's series carry, such as `{service_name: llm-pretraining}`.
"""

from __future__ import annotations

from longwatch.diagnostics import Diagnostic, Severity
from longwatch.plugins.front import Check
from longwatch.policy.model import Policy


def run(policy: Policy) -> tuple[Diagnostic, ...]:
    return tuple(
        Diagnostic(
            code="runs-select",
            severity=Severity.WARNING,
            message=f'"{family.name}" enrols every run that its exporters show',
            why="runs of other families would be watched as its own, and RunIdentityMissing cannot work",
            help="add `runs: {select: {LABEL: VALUE}}` with a label that only this family's series carry",
            origin=family.origin.at("runs", "select"),
        )
        for family in policy.families
        if not family.document.runs.select
    )


CHECK = Check(run=run)
