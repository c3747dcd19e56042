"""Exporters without a sign of life, or without a sign of progress.

What: none of the family's exporters gives a role that shows a run alive (phase, last step, step, loss), or none that
shows it moving (last step, step, samples, tokens).
Why: whether a run is there, stuck or gone is computed from these; without them nothing about the family can be
compiled.
What to do: add the exporter of the training process, or a `kind: Exporter` policy that maps its metrics to these
roles.
"""

from __future__ import annotations

from collections.abc import Iterator

from longwatch.diagnostics import Diagnostic
from longwatch.plugins.front import Check
from longwatch.plugins.reading import HEARTBEATS, PROGRESS_ROLES
from longwatch.policy.model import Policy


def run(policy: Policy) -> tuple[Diagnostic, ...]:
    return tuple(_problems(policy))


def _problems(policy: Policy) -> Iterator[Diagnostic]:
    for family in policy.families:
        for what, roles in (("alive", HEARTBEATS), ("moving", PROGRESS_ROLES)):
            if not any(role in family.readings for role in roles):
                yield Diagnostic(
                    code="no-heartbeat",
                    message=f"no exporter of this family shows that a run is {what}",
                    why="nothing about its runs could be watched",
                    help=f"add an exporter that provides one of {', '.join(roles)}",
                    origin=family.origin.at("exporters"),
                )
                break


CHECK = Check(run=run)
