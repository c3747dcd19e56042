"""An owner that is no team of the organisation.

What: `owner` of a family, a cluster or an alert names a team that organisation.yaml does not have.
Why: the alert would be routed to the default receiver, where nobody feels responsible.
What to do: correct the name, or add the team with its contact and receivers.
"""

from __future__ import annotations

from collections.abc import Iterator

from longwatch.diagnostics import Diagnostic, Origin
from longwatch.plugins.front import Check
from longwatch.policy.model import Policy
from longwatch.suggest import closest


def run(policy: Policy) -> tuple[Diagnostic, ...]:
    return tuple(_problems(policy))


def _problems(policy: Policy) -> Iterator[Diagnostic]:
    teams = policy.organisation.document.teams
    for subject in policy.subjects:
        if subject.owner not in teams:
            yield _unknown(subject.owner, tuple(teams), subject.origin.at("owner"))
        for setting in subject.settings:
            owner = setting.parameters.owner
            if owner is not None and owner not in teams:
                yield _unknown(owner, tuple(teams), setting.place("owner"))


def _unknown(owner: str, teams: tuple[str, ...], place: Origin) -> Diagnostic:
    near = closest(owner, teams)
    return Diagnostic(
        code="unknown-owner",
        message=f'no team is called "{owner}"',
        why="its alerts would reach nobody who feels responsible",
        help=f'did you mean "{near}"?' if near else f"teams: {', '.join(teams)}",
        origin=place,
    )


CHECK = Check(run=run)
