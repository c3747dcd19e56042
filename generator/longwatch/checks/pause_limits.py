"""Pauses that contradict each other.

What: a pause is usually longer than its own limit, or is written under both of its names (evaluation and evaluating).
Why: a healthy pause would be reported as a hang, or one of the two limits would be ignored.
What to do: let `limit` be well above `usual`; keep one of the two names.
"""

from __future__ import annotations

from collections.abc import Iterator

from longwatch.diagnostics import Diagnostic
from longwatch.plugins.front import Check
from longwatch.policy.model import Policy
from longwatch.units import promql_duration


def run(policy: Policy) -> tuple[Diagnostic, ...]:
    return tuple(_problems(policy))


def _problems(policy: Policy) -> Iterator[Diagnostic]:
    for family in policy.families:
        place, pauses = family.origin.at("lifecycle", "pauses"), family.document.lifecycle.pauses
        for phase, pause in pauses.items():
            if pause.usual is not None and pause.usual >= pause.limit:
                usual, limit = promql_duration(pause.usual), promql_duration(pause.limit)
                yield Diagnostic(
                    code="pause-limits",
                    message=f"{phase} usually takes {usual}, and its limit is {limit}",
                    why="every usual pause would be reported as a hang",
                    help=f"write a limit well above {usual}",
                    origin=place.at(phase, "limit"),
                )
        if "evaluation" in pauses and "evaluating" in pauses:
            yield Diagnostic(
                code="pause-limits",
                message="evaluation and evaluating are the same pause",
                why="one of the two limits would be ignored",
                help="remove one of them",
                origin=place.at("evaluating", key=True),
            )


CHECK = Check(run=run)
