"""unread-baseline: a baseline for a signal that no exporter of the family provides.

What: a variant commits a number, or inherits one, for a role that nothing plays.

Why: the alert that should read it falls back to another baseline, or is left out, and nobody would notice.

What to do: write the baseline for a role that the exporters give, or add the exporter.
"""

from __future__ import annotations

from longwatch.catalogue.signals import SIGNALS
from longwatch.diagnostics import Diagnostic
from longwatch.plugins.front import Check
from longwatch.policy.model import Policy


def run(policy: Policy) -> tuple[Diagnostic, ...]:
    return tuple(
        Diagnostic(
            code="unread-baseline",
            message=f'variant "{variant.name}" has a baseline for {role}, which no exporter of this family provides',
            why="nothing would read it, and the run would be judged by another baseline or by none",
            help=f"these exporters give {', '.join(r for r in family.readings if SIGNALS[r].better) or 'no level'}",
            origin=variant.origin.at("baselines", role, key=True),
        )
        for family in policy.families
        for variant, written in zip(family.variants, family.document.variants, strict=True)
        for role in written.baselines
        if role in SIGNALS and role not in family.readings
    )


CHECK = Check(run=run)
