"""An alert that no team would receive.

What: the alert's owner is no team, or the team's receiver for its severity and stage does not exist.
Why: Alertmanager would refuse the configuration, or hand the alert to a default receiver where nobody feels responsible.
What to do: name a team of organisation.yaml as owner, and a receiver of organisation.yaml in the team's `page` and
`notify`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from longwatch.diagnostics import Diagnostic
from longwatch.ir.model import Alert, Fleet, Shared
from longwatch.plugins.back import FleetCheck
from longwatch.suggest import closest


def run(fleet: Fleet) -> tuple[Diagnostic, ...]:
    # One team without a receiver is one finding for each severity and stage, not for each of its alerts.
    found: dict[tuple[str, str], Diagnostic] = {}
    for plan in fleet.plans:
        for alert in plan.alerts:
            for key, problem in _problems(alert, fleet.shared):
                found.setdefault(key, problem)
    return tuple(found.values())


def _problems(alert: Alert, shared: Shared) -> Iterator[tuple[tuple[str, str], Diagnostic]]:
    teams = {team.name: team for team in shared.teams}
    team = teams.get(alert.owner)
    if team is None:
        yield (
            (alert.owner, ""),
            _unrouted(f'{alert.name} belongs to "{alert.owner}", which is no team', alert, alert.owner, teams),
        )
        return
    pages = alert.stage == "page" and any(rule.pages for rule in shared.severities if rule.name == alert.severity)
    name = (team.page or team.notify) if pages else team.notify
    receivers = [receiver.name for receiver in shared.receivers]
    if name not in receivers:
        what = f'{alert.name} ({alert.severity}, stage {alert.stage}) goes to receiver "{name}" of team {team.name}, which does not exist'
        yield (team.name, name), _unrouted(what, alert, name, receivers)


def _unrouted(message: str, alert: Alert, wrong: str, known: Iterable[str]) -> Diagnostic:
    names = list(known)
    near = closest(wrong, names)
    return Diagnostic(
        code="unrouted-alert",
        message=message,
        why="the alert would fire, and nobody who can act would hear of it",
        help=f'did you mean "{near}"?' if near else f"there are: {', '.join(names) or 'none'}",
        origin=alert.origin,
    )


CHECK = FleetCheck(run=run)
