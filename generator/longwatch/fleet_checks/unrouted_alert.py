"""An alert that no team would receive.

What: the alert's owner is no team, or the team's receiver for its severity and stage does not exist.
Why: Alertmanager would refuse the configuration, or hand the alert to a default receiver where nobody feels responsible.
What to do: name a team of organisation.yaml as owner, and a receiver of organisation.yaml in the team's `page` and
`notify`.
"""

from __future__ import annotations

from collections.abc import Iterable

from longwatch.diagnostics import Diagnostic
from longwatch.ir.model import Alert, Fleet
from longwatch.plugins.back import FleetCheck
from longwatch.suggest import closest


def run(fleet: Fleet) -> tuple[Diagnostic, ...]:
    shared = fleet.shared
    teams = {team.name: team for team in shared.teams}
    receivers = {receiver.name for receiver in shared.receivers}
    paging = {rule.name for rule in shared.severities if rule.pages}
    # One team without a receiver is one finding, not one for each of its alerts.
    found: dict[tuple[str, str], Diagnostic] = {}
    for alert in (alert for plan in fleet.plans for alert in plan.alerts):
        team = teams.get(alert.owner)
        if team is None:
            what = f'{alert.name} belongs to "{alert.owner}", which is no team'
            found.setdefault((alert.owner, ""), _unrouted(what, alert, alert.owner, teams))
            continue
        pages = alert.stage == "page" and alert.severity in paging
        name = (team.page or team.notify) if pages else team.notify
        if name not in receivers:
            kind = f"{alert.severity}, stage {alert.stage}"
            what = f'{alert.name} ({kind}) goes to receiver "{name}" of team {team.name}, which does not exist'
            found.setdefault((team.name, name), _unrouted(what, alert, name, sorted(receivers)))
    return tuple(found.values())


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
