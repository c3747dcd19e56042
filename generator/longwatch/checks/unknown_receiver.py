"""A receiver, or a team to escalate to, that does not exist.

What: `default_receiver`, or `notify` and `page` of a team, is no receiver of organisation.yaml, or `escalation` is no
team.
Why: Alertmanager would refuse the whole configuration, or nobody would be called when the first one does not answer.
What to do: correct the name, or add the receiver or the team.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from longwatch.diagnostics import Diagnostic, Origin
from longwatch.plugins.front import Check
from longwatch.policy.model import Policy
from longwatch.suggest import closest


def run(policy: Policy) -> tuple[Diagnostic, ...]:
    return tuple(_problems(policy))


def _problems(policy: Policy) -> Iterator[Diagnostic]:
    document, top = policy.organisation.document, policy.organisation.origin
    if document.default_receiver not in document.receivers:
        yield _unknown("receiver", document.default_receiver, document.receivers, top.at("default_receiver"))
    for name, team in document.teams.items():
        place = top.at("teams", name)
        for key, receiver in (("notify", team.notify), ("page", team.page)):
            if receiver not in document.receivers:
                yield _unknown("receiver", receiver, document.receivers, place.at(key))
        if team.escalation is not None and team.escalation not in document.teams:
            yield _unknown("team", team.escalation, document.teams, place.at("escalation"))


def _unknown(what: str, name: str, known: Iterable[str], place: Origin) -> Diagnostic:
    near = closest(name, known)
    return Diagnostic(
        code="unknown-receiver",
        message=f'no {what} is called "{name}"',
        why="notifications would go nowhere",
        help=f'did you mean "{near}"?' if near else f"{what}s: {', '.join(known) or 'none yet'}",
        origin=place,
    )


CHECK = Check(run=run)
