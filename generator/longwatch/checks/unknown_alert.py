"""An override of an alert that no pack has.

What: `override` of the organisation names an alert that is in no pack.
Why: it has no effect anywhere, and nothing would say so.
What to do: correct the name. Overrides in a family or a cluster are held against the packs that it uses.
"""

from __future__ import annotations

from collections.abc import Iterator

from longwatch.catalogue.packs import PACKS
from longwatch.diagnostics import Diagnostic
from longwatch.plugins.front import Check
from longwatch.policy.model import Policy
from longwatch.suggest import closest


def run(policy: Policy) -> tuple[Diagnostic, ...]:
    return tuple(_problems(policy))


def _problems(policy: Policy) -> Iterator[Diagnostic]:
    known = [alert.name for pack in PACKS.values() for alert in pack.alerts]
    for name in policy.organisation.document.override:
        if name not in known:
            near = closest(name, known)
            yield Diagnostic(
                code="unknown-alert",
                message=f'no pack has an alert "{name}"',
                why="the override would have no effect anywhere",
                help=f'did you mean "{near}"?' if near else f"alerts of packs: {', '.join(known)}",
                origin=policy.organisation.origin.at("override", name, key=True),
            )


CHECK = Check(run=run)
