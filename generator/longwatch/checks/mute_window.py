"""A mute time that mutes nothing, or whom nobody knows.

What: `start` or `end` is no time of day, the two are equal, or `teams` names a team that does not exist.
Why: Alertmanager would refuse the configuration, or the team would be called in the time that it wanted to sleep.
What to do: write HH:MM from 00:00 to 23:59 (an end of 24:00 is allowed); an interval over midnight is fine.
"""

from __future__ import annotations

from collections.abc import Iterator

from longwatch.diagnostics import Diagnostic, Origin, Severity
from longwatch.plugins.front import Check
from longwatch.policy.document import MuteTimeDocument
from longwatch.policy.model import Policy
from longwatch.suggest import closest


def run(policy: Policy) -> tuple[Diagnostic, ...]:
    top, teams = policy.organisation.origin, policy.organisation.document.teams
    return tuple(
        problem
        for name, mute in policy.organisation.document.mute_times.items()
        for problem in _problems(mute, tuple(teams), top.at("mute_times", name))
    )


def _problems(mute: MuteTimeDocument, teams: tuple[str, ...], place: Origin) -> Iterator[Diagnostic]:
    for key, text, last in (("start", mute.start, "23:59"), ("end", mute.end, "24:00")):
        if text > last:
            yield _problem(f"{text} is not a time of day", f"write 00:00 to {last}", place.at(key))
    if mute.start == mute.end:
        yield _problem(
            f"the mute time begins and ends at {mute.start}", "write 00:00 and 24:00 for a whole day", place.at("end")
        )
    for index, team in enumerate(mute.teams):
        if team not in teams:
            near = closest(team, teams)
            yield _problem(
                f'no team is called "{team}"',
                f'did you mean "{near}"?' if near else f"teams: {', '.join(teams)}",
                place.at("teams", index),
            )
    if "critical" in mute.severities:
        yield Diagnostic(
            code="mute-window",
            severity=Severity.WARNING,
            message="the mute time silences critical alerts",
            why="a run that hangs at night would be found in the morning",
            help="remove critical from `severities`, unless somebody else is called",
            origin=place.at("severities", mute.severities.index("critical")),
        )


def _problem(message: str, remedy: str, place: Origin) -> Diagnostic:
    return Diagnostic(
        code="mute-window",
        message=message,
        why="the team would be called in the time that it wanted to be left alone",
        help=remedy,
        origin=place,
    )


CHECK = Check(run=run)
