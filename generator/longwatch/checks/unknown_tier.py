"""A tier that the organisation does not have.

What: `tier` of a family is not one of organisation.yaml's `tiers`.
Why: the tier decides which severities page; an unknown one would silently page for critical alerts only.
What to do: correct the name, or add the tier.
"""

from __future__ import annotations

from collections.abc import Iterator

from longwatch.diagnostics import Diagnostic
from longwatch.plugins.front import Check
from longwatch.policy.model import Policy
from longwatch.suggest import closest


def run(policy: Policy) -> tuple[Diagnostic, ...]:
    return tuple(_problems(policy))


def _problems(policy: Policy) -> Iterator[Diagnostic]:
    tiers = policy.organisation.document.tiers
    for family in policy.families:
        tier = family.document.tier
        if tier is not None and tier not in tiers:
            near = closest(tier, tiers)
            known = f"tiers: {', '.join(tiers)}" if tiers else "add it to `tiers` of the organisation"
            yield Diagnostic(
                code="unknown-tier",
                message=f'no tier is called "{tier}"',
                why="the tier decides which severities page",
                help=f'did you mean "{near}"?' if near else known,
                origin=family.origin.at("tier"),
            )


CHECK = Check(run=run)
