"""The structure of alertmanager.yml, with only the fields that Alertmanager 0.25 and every later version know.

Order of the routes: what is in shadow goes to nobody; then each team's own alerts, the pager before the channel;
what nobody owns reaches the organisation's default receiver.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from longwatch.ir.model import Inhibition, MuteTime, Receiver, SeverityRule, Shared, Summary, Team
from longwatch.units import promql_duration

TEMPLATES = "templates/*.tmpl"
"""Where the notification texts lie, seen from alertmanager.yml."""

_RETENTION = 120 * 3600.0  # Alertmanager's --data.retention: what it has forgotten, it cannot repeat
_RUN = ("cluster", "run_id")
_NODE = ("cluster", "node")
_WEEK = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")  # Alertmanager's order

_TITLE = '{{ template "longwatch.title" . }}'
_TEXT = '{{ template "longwatch.text" . }}'
_PANEL = '{{ template "longwatch.panel" . }}'
_RUNBOOK = '{{ template "longwatch.runbook" . }}'

# An e-mail receiver that names no server goes to the relay beside Alertmanager; without one the file would not load.
_RELAY: Mapping[str, Any] = {"smarthost": "localhost:25", "from": "longwatch@localhost", "require_tls": False}

_WORDING: Mapping[str, Mapping[str, Any]] = {
    "slack": {"title": _TITLE, "title_link": _PANEL, "text": _TEXT, "fallback": _TITLE},
    "email": {
        "headers": {"Subject": _TITLE},
        "html": '{{ template "longwatch.html" . }}',
        "text": _TEXT,
    },
    "pagerduty": {
        "description": _TITLE,
        "client": "Longwatch",
        "client_url": _PANEL,
        "severity": '{{ template "longwatch.severity" . }}',
        "details": {"text": _TEXT, "runbook": _RUNBOOK, "panel": _PANEL},
    },
    "opsgenie": {"message": _TITLE, "description": _TEXT, "details": {"runbook": _RUNBOOK, "panel": _PANEL}},
    "discord": {"title": _TITLE, "message": _TEXT},
    "webex": {"message": _TEXT},
    "victorops": {"entity_display_name": _TITLE, "state_message": _TEXT},
    "pushover": {"title": _TITLE, "message": _TEXT, "url": _PANEL},
    "webhook": {},  # its JSON carries every label and annotation; 0.25 knows no template for it
}


def configuration(summaries: Sequence[Summary], shared: Shared) -> dict[str, Any]:
    """The whole of alertmanager.yml. Raises ValueError on an inhibition that could silence strangers."""
    shadow = _free_name("shadow", [receiver.name for receiver in shared.receivers])
    out: dict[str, Any] = {
        "templates": [TEMPLATES],
        "route": _root(summaries, shared, shadow),
        "receivers": [{"name": shadow}, *map(_receiver, shared.receivers)],
    }
    if rules := _inhibit_rules(summaries):
        out["inhibit_rules"] = rules
    if shared.mute_times:
        out["time_intervals"] = [{"name": mute.name, "time_intervals": _intervals(mute)} for mute in shared.mute_times]
    return out


def matcher(label: str, operator: str, value: str) -> str:
    """The one spelling that every version reads alike: quoted, with doubled backslashes."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'{label}{operator}"{escaped}"'


def any_of(label: str, values: Iterable[str]) -> str:
    """Matches each of `values` and nothing else."""
    names = list(dict.fromkeys(values))
    if len(names) == 1:
        return matcher(label, "=", names[0])
    return matcher(label, "=~", "|".join(_quote(name) for name in names))


def timing(rule: SeverityRule) -> dict[str, str]:
    """Waiting and repeating; the repetition is a multiple of the group interval and within Alertmanager's memory."""
    interval = min(max(rule.group_interval, 1.0), _RETENTION)
    times = max(math.ceil(round(rule.repeat / interval, 6)), 1)
    repeat = min(times, math.floor(_RETENTION / interval)) * interval
    return {
        "group_wait": promql_duration(max(rule.group_wait, 0.0)),
        "group_interval": promql_duration(interval),
        "repeat_interval": promql_duration(repeat),
    }


def _root(summaries: Sequence[Summary], shared: Shared, shadow: str) -> dict[str, Any]:
    run = _grouping([s for s in summaries if s.kind == "family"], _RUN)
    node = _grouping([s for s in summaries if s.kind == "cluster"], _NODE)
    calmest = max(shared.severities, key=lambda rule: rule.repeat, default=None)
    return {
        "receiver": shared.default_receiver,
        "group_by": run,
        **(timing(calmest) if calmest else {}),
        "routes": [
            {"receiver": shadow, "matchers": [matcher("stage", "=", "shadow")]},
            *(_team(team, shared, _cluster_alerts(summaries, team), node) for team in shared.teams),
        ],
    }


def _team(team: Team, shared: Shared, cluster_alerts: Mapping[str, list[str]], node: list[str]) -> dict[str, Any]:
    routes: list[dict[str, Any]] = []
    for rule in shared.severities:
        severity = matcher("severity", "=", rule.name)
        leaves = [(team.notify, [severity])]
        if rule.pages:
            leaves.insert(0, (team.page or team.notify, [severity, matcher("stage", "=", "page")]))
        muted = _muted(shared.mute_times, team.name, rule.name)
        for receiver, matchers in leaves:
            # A node that fails is one notification, however many devices or runs it holds.
            if names := cluster_alerts.get(rule.name):
                about_nodes = [*matchers, any_of("alertname", names)]
                routes.append(
                    {"receiver": receiver, "matchers": about_nodes, "group_by": node, **timing(rule), **muted}
                )
            routes.append({"receiver": receiver, "matchers": matchers, **timing(rule), **muted})
    return {
        "receiver": team.notify,
        "matchers": [matcher("owner", "=", team.name)],
        **_muted(shared.mute_times, team.name, None),
        **({"routes": routes} if routes else {}),
    }


def _cluster_alerts(summaries: Sequence[Summary], team: Team) -> dict[str, list[str]]:
    """Severity → names of the team's alerts about machines, sorted."""
    found: dict[str, set[str]] = {}
    for summary in summaries:
        for alert in summary.alerts if summary.kind == "cluster" else ():
            if alert.owner == team.name:
                found.setdefault(alert.severity, set()).add(alert.name)
    return {severity: sorted(names) for severity, names in found.items()}


def _grouping(summaries: Sequence[Summary], usual: tuple[str, ...]) -> list[str]:
    """Labels that make one notification: owner, alert and subject, but not the device inside the subject."""
    subject = [label for summary in summaries for label in summary.identity[: len(usual)]]
    return list(dict.fromkeys(["owner", "alertname", *usual, *subject]))


def _muted(mute_times: Sequence[MuteTime], team: str, severity: str | None) -> dict[str, list[str]]:
    """Routes do not inherit mute times, so each one names its own. `severity` None: a severity that nobody declared."""
    names = [
        mute.name
        for mute in mute_times
        if (not mute.teams or team in mute.teams) and (not mute.severities or severity in mute.severities)
    ]
    return {"mute_time_intervals": names} if names else {}


def _receiver(receiver: Receiver) -> dict[str, Any]:
    if receiver.integration in ("", "null", "none"):
        return {"name": receiver.name}
    # The default of send_resolved differs by integration; people should not have to know.
    settings: dict[str, Any] = {"send_resolved": True}
    for key, value in receiver.settings.items():
        _put(settings, ("http_config.authorization.credentials_file" if key == "credentials_file" else key), value)
    if receiver.integration == "email" and "smarthost" not in settings:
        settings = {**_RELAY, **settings}
    for key, value in _WORDING.get(receiver.integration, {}).items():
        settings.setdefault(key, value)
    return {"name": receiver.name, f"{receiver.integration}_configs": [settings]}


def _put(settings: dict[str, Any], path: str, value: object) -> None:
    *parents, last = path.split(".")
    for parent in parents:
        settings = settings.setdefault(parent, {})
    settings[last] = value


def _inhibit_rules(summaries: Sequence[Summary]) -> list[dict[str, Any]]:
    stages: dict[str, set[str]] = {}
    for summary in summaries:
        for alert in summary.alerts:
            stages.setdefault(alert.name, set()).add(alert.stage)
    merged: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for summary in summaries:
        for inhibition in summary.inhibitions:
            _refuse_strangers(inhibition)
            merged.setdefault((inhibition.source, inhibition.equal), []).extend(inhibition.targets)
    rules = []
    for (source, equal), targets in merged.items():
        others = [target for target in targets if target != source]  # an alert that is both sides behaves differently
        if not others:
            continue
        present = [matcher(label, "!=", "") for label in equal]
        about = [any_of("alertname", sorted(set(others))), *present]
        for stage in ("page", "notify"):
            if stage not in stages.get(source, {"page", "notify"}):
                continue
            # A cause that only notifies may not take away a page, and one in shadow may take away nothing.
            spared = [] if stage == "page" else [matcher("stage", "!=", "page")]
            rules.append(
                {
                    "source_matchers": [matcher("alertname", "=", source), matcher("stage", "=", stage), *present],
                    "target_matchers": [*about, *spared],
                    "equal": list(equal),
                }
            )
    return rules


def _refuse_strangers(inhibition: Inhibition) -> None:
    if not inhibition.equal:
        raise ValueError(f"inhibition of {inhibition.source}: without equal labels it would silence every run")


def _intervals(mute: MuteTime) -> list[dict[str, Any]]:
    """Alertmanager refuses a window over midnight: its second part belongs to the next day."""
    days = _days(mute.weekdays)
    start, end = mute.start or "00:00", mute.end or "24:00"
    if end == "00:00":
        end = "24:00"
    if start < end:
        return [_interval(days, start, end, mute.location)]
    parts = [_interval(days, start, "24:00", mute.location)]
    parts.append(_interval([(day + 1) % 7 for day in days], "00:00", end, mute.location))
    return parts


def _interval(days: Sequence[int], start: str, end: str, location: str) -> dict[str, Any]:
    out: dict[str, Any] = {}
    if len(set(days)) < len(_WEEK):
        out["weekdays"] = _ranges(sorted(set(days)))
    out["times"] = [{"start_time": start, "end_time": end}]
    if location:
        out["location"] = location
    return out


def _days(written: Sequence[str]) -> list[int]:
    """Indices in Alertmanager's week; `saturday:monday` wraps here, though not there."""
    if not written:
        return list(range(len(_WEEK)))
    days: list[int] = []
    for entry in written:
        first, _, last = entry.lower().partition(":")
        begin, finish = _WEEK.index(first), _WEEK.index(last or first)
        days.extend((begin + n) % 7 for n in range((finish - begin) % 7 + 1))
    return days


def _ranges(days: Sequence[int]) -> list[str]:
    out: list[list[int]] = []
    for day in days:
        if out and day == out[-1][-1] + 1:
            out[-1].append(day)
        else:
            out.append([day])
    return [_WEEK[run[0]] if len(run) == 1 else f"{_WEEK[run[0]]}:{_WEEK[run[-1]]}" for run in out]


def _quote(text: str) -> str:
    # RE2's own specials only: re.escape would also escape dashes and blanks.
    return re.sub(r"([\\.+*?()|\[\]{}^$])", r"\\\1", text)


def _free_name(wanted: str, taken: Sequence[str]) -> str:
    return wanted if wanted not in taken else f"{wanted}-to-nobody"
