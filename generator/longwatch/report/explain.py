"""A family or an alert explained: each value and who set it, what the compiler made of it and why, and who is told."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from longwatch.diagnostics import Origin
from longwatch.ir.model import Alert, Plan, Scenario, Shared, Team
from longwatch.policy.document import Baseline, Finish
from longwatch.policy.model import AlertSetting, Cluster, Family, ResolvedVariant, Value
from longwatch.report.table import count, table
from longwatch.units import number, promql_duration
from longwatch.wire.prometheus import expression

Place = Callable[[Origin], str]
"""An origin → file:line:column, as people click on it."""
Paint = Callable[[str], str]
"""How a heading looks."""

_WIDTH = 110
_COLUMN = 20
"""Width of the names at the left."""
_TEXTS = ("causes", "remediation", "summary")
"""Shown as what the alert says, not among its values."""


def family_text(subject: Family | Cluster, plan: Plan, shared: Shared, place: Place, paint: Paint) -> str:
    """The merged policy of a family or cluster."""
    parts = [paint(f"{plan.name}: {plan.title}"), *_facts(subject, shared, place)]
    if isinstance(subject, Family):
        parts += ["", paint("Lifecycle"), *_lifecycle(subject)]
        parts += ["", paint("Variants"), *_variants(subject.variants, place)]
    parts += ["", paint("Signals"), *_signals(subject)]
    parts += ["", paint("Alerts"), *_settings(subject, plan, place)]
    if plan.unprotected:
        parts += ["", paint("Unprotected"), *(f"  {u.alert}: {u.reason}; {u.remedy}" for u in plan.unprotected)]
    first = plan.alerts[0].name if plan.alerts else ""
    parts += ["", f"One of them in full: longwatch explain {plan.name}/{first}"] if first else []
    return "\n".join(parts) + "\n"


def alert_text(subject: Family | Cluster, plan: Plan, shared: Shared, name: str, place: Place, paint: Paint) -> str:
    """One alert: values, PromQL, windows, silence on purpose, and who is told."""
    setting = next(s for s in subject.settings if s.name == name)
    alerts = [alert for alert in plan.alerts if alert.name == name]
    parts = [paint(f"{plan.name}/{name}: {_kind(setting)}"), ""]
    parts += [paint("Values"), *_values(setting.values, place, _TEXTS)]
    if not alerts:
        reasons = [f"{u.reason}; {u.remedy}" for u in plan.unprotected if u.alert == name]
        why = reasons or ["the policy gives it nothing to watch"]
        return "\n".join((*parts, "", paint("Not compiled"), *(f"  {reason}" for reason in why))) + "\n"
    first = alerts[0]
    parts += ["", paint("What it says"), *_says(first)]
    for alert in alerts:
        parts += ["", paint("PromQL"), *_indented(expression(alert)), *_holds(alert)]
        parts += ["", paint("Why so"), *_reasons(alert)]
    parts += ["", paint("When it is silent"), *_silent(first)]
    parts += ["", paint("Who is told"), *_told(first, shared)]
    parts += ["", paint("What follows from what"), *_cascades(plan, name)]
    proofs = [s for s in plan.scenarios if name in (s.alert, *(f.alert for f in s.firing))]
    parts += ["", paint("Proved by"), *_proofs(proofs)]
    return "\n".join(parts) + "\n"


# a family -------------------------------------------------------------------------------------------------------------


def _facts(subject: Family | Cluster, shared: Shared, place: Place) -> Iterator[str]:
    team = _team(subject.owner, shared)
    rows = [
        ("policy", place(subject.origin), ""),
        ("owner", _called(subject.owner, team), place(subject.origin.at("owner"))),
        ("stage", f"{subject.stage}: {_STAGES[subject.stage]}", place(subject.origin.at("stage"))),
        ("exporters", ", ".join(subject.document.exporters), place(subject.origin.at("exporters"))),
    ]
    if isinstance(subject, Family):
        runs = subject.document.runs
        pages = ", ".join(subject.pages) or "nothing"
        rows += [
            ("tier", f"{subject.document.tier or 'none'}: {pages} may page", place(subject.origin.at("tier"))),
            ("runs", _pairs(runs.select), place(subject.origin.at("runs", "select"))),
            ("identity", ", ".join(runs.identity), place(subject.origin.at("runs", "identity"))),
            ("names", runs.name_pattern or "any", place(subject.origin.at("runs", "name_pattern"))),
        ]
    else:
        rows += [("machines", _pairs(subject.document.select), place(subject.origin.at("select")))]
    rows += [
        (
            "rules",
            f"evaluated every {promql_duration(subject.rules)}",
            place(Origin(file=subject.sources[0], path=("scrape",))),
        )
    ]
    return _aligned(rows)


_STAGES: Mapping[str, str] = {
    "shadow": "compiled and recorded, nobody is told",
    "notify": "the team's channel is told, nobody is paged",
    "page": "severities that page reach the pager",
}


def _lifecycle(family: Family) -> Iterator[str]:
    life = family.document.lifecycle
    ends = [f"step ≥ {f.step.at_least:g}" if isinstance(f, Finish) else f for f in life.finished]
    ended = f"{' or '.join(ends)} says so" if ends else "nobody can tell: a normal end looks like a crash"
    yield f"  expected by      {life.expected}"
    yield f"  finished when    {ended}"
    for name, pause in life.pauses.items():
        usual = f"usually {promql_duration(pause.usual)}, " if pause.usual is not None else ""
        yield f"  {name:<16} {usual}stalled after {promql_duration(pause.limit)}"
    if "phase" not in family.readings and life.pauses:
        longest = max(float(pause.limit) for pause in life.pauses.values())
        yield f"                   no exporter tells the phase, so the longest limit ({promql_duration(longest)}) always applies"
    yield f"  restarts         paged after {promql_duration(life.restarts.budget)} away; {life.restarts.per_day} a day are usual"
    yield f"  warm-up          {life.warm_up.steps} steps"
    if life.checkpoints is not None:
        yield f"  checkpoints      every {promql_duration(life.checkpoints.every)}"
    yield f"  forgotten after  {promql_duration(life.forget_after)}"


def _variants(variants: Sequence[ResolvedVariant], place: Place) -> Iterator[str]:
    for variant in variants:
        yield f"  {variant.name}: {_pairs(variant.when) or 'every run'}  ({place(variant.origin)})"
        yield (
            f"    {variant.ranks} ranks, a step every {promql_duration(variant.step_time)},"
            f" published every {promql_duration(variant.publish_every)}"
        )
        for role, baseline in variant.baselines.items():
            yield f"    {role}: {_baseline(baseline)}"


def _baseline(baseline: Baseline) -> str:
    parts = []
    if baseline.value is not None:
        parts.append(number(baseline.value))
    if baseline.spread is not None:
        parts.append(f"spread {number(baseline.spread)}")
    if baseline.curve is not None:
        parts.append(
            f"a curve of {len(baseline.curve.points)} points over {baseline.curve.x}, band {baseline.curve.band:.0%}"
        )
    if baseline.learned is not None:
        learned = baseline.learned
        parts.append(f"learned from {count(learned.runs, 'run')}, {learned.from_} to {learned.to}")
    return ", ".join(parts)


def _signals(subject: Family | Cluster) -> Iterator[str]:
    rows = [
        (
            f"  {role}",
            source.metric.name,
            source.exporter.name,
            source.metric.note if not source.metric.default_on else "",
        )
        for role, reading in subject.readings.items()
        for source in reading.sources
    ]
    return _lines(table(("  role", "metric", "exporter", "off by default"), rows, left=4))


def _settings(subject: Family | Cluster, plan: Plan, place: Place) -> Iterator[str]:
    compiled = {alert.name: alert for alert in plan.alerts}
    for setting in subject.settings:
        alert = compiled.get(setting.name)
        state = f"{alert.severity}, stage {alert.stage}" if alert else "not compiled"
        yield f"  {setting.name} ({_kind(setting)}; {state})"
        yield from (f"  {line}" for line in _values(setting.values, place, _TEXTS))


# an alert -------------------------------------------------------------------------------------------------------------


def _kind(setting: AlertSetting) -> str:
    return f"detector {setting.detector}, " + (f"from pack {setting.pack}" if setting.pack else "added by the policy")


def _values(values: Sequence[Value], place: Place, hidden: Sequence[str]) -> Iterator[str]:
    rows = [
        (v.path, v.value, f"{v.layer}  {place(v.origin)}" if v.origin else v.layer)
        for v in values
        if v.path not in hidden
    ]
    return _aligned(rows) if rows else iter(("  everything is derived",))


def _says(alert: Alert) -> Iterator[str]:
    yield from _wrapped("summary", alert.summary)
    for line in alert.description.splitlines():
        yield from _wrapped("", line)
    yield from _wrapped("do first", alert.remediation)
    for name, link in alert.links:
        yield f"  {name:<{_COLUMN}} {link}"


def _holds(alert: Alert) -> Iterator[str]:
    if alert.for_:
        yield f"  for {promql_duration(alert.for_)}"
    if alert.keep_firing_for:
        yield f"  keep_firing_for {promql_duration(alert.keep_firing_for)}"


def _reasons(alert: Alert) -> Iterator[str]:
    if alert.expected:
        yield from _wrapped("expected", alert.expected)
    for window in alert.windows:
        yield from _wrapped(window.name, f"{window.value}: {window.reason}")
    for guard in alert.guards:
        yield from _wrapped("unless" if guard.unless else "only if", guard.reason)
    for join in alert.joins:
        taken = ", ".join(join.take)
        yield from _wrapped("joined", f"{taken}, by {', '.join(join.on)}: {join.reason}")


def _silent(alert: Alert) -> Iterator[str]:
    yield from _wrapped("absence", alert.absence)
    yield from _wrapped("NaN", alert.nan)
    if alert.pauses:
        yield from _wrapped("on purpose", alert.pauses)
    if alert.rearm_at:
        until = next(
            (window.value for window in alert.windows if window.name == "disabled"), f"unix second {alert.rearm_at}"
        )
        yield from _wrapped("disabled", f"until {until}: {alert.disabled_reason}")


def _told(alert: Alert, shared: Shared) -> Iterator[str]:
    team = _team(alert.owner, shared)
    yield from _wrapped("owner", _called(alert.owner, team))
    receivers = {receiver.name: receiver.integration for receiver in shared.receivers}
    if alert.stage == "shadow":
        yield from _wrapped("receiver", f"nobody: stage shadow ({_STAGES['shadow']})")
        return
    rule = next((rule for rule in shared.severities if rule.name == alert.severity), None)
    pages = rule is not None and rule.pages and alert.stage == "page"
    name = (team.page if pages else team.notify) if team else shared.default_receiver
    why = f"severity {alert.severity} in stage {alert.stage}"
    kind = receivers.get(name, "unknown")
    yield from _wrapped("receiver", f"{name} ({kind}), {'the pager' if pages else 'the channel'}: {why}")
    if rule is not None:
        waits = f"after {promql_duration(rule.group_wait)}, again every {promql_duration(rule.repeat)}"
        yield from _wrapped("when", waits)
    if team is not None and team.escalation and pages:
        yield from _wrapped("escalation", team.escalation)
    for mute in shared.mute_times:
        if alert.owner in mute.teams and alert.severity in mute.severities:
            days = ", ".join(mute.weekdays) or "every day"
            hours = f"{mute.start} to {mute.end} {mute.location}, {days}"
            yield from _wrapped("muted", f"{mute.name}: {hours}; {mute.reason}")


def _cascades(plan: Plan, name: str) -> Iterator[str]:
    found = False
    for inhibition in plan.inhibitions:
        same = ", ".join(inhibition.equal)
        if inhibition.source == name:
            found = True
            yield from _wrapped("silences", f"{', '.join(inhibition.targets)} of the same {same}: {inhibition.reason}")
        if name in inhibition.targets:
            found = True
            yield from _wrapped("silenced by", f"{inhibition.source} of the same {same}: {inhibition.reason}")
    if not found:
        yield "  It silences no other alert, and none silences it."


def _proofs(scenarios: Sequence[Scenario]) -> Iterator[str]:
    if not scenarios:
        yield "  No scenario: write one under `scenarios` of the policy."
    for scenario in scenarios:
        fires = "fires" if scenario.firing else "stays quiet"
        source = f"  [{scenario.source}]" if scenario.source else ""
        yield from _wrapped(fires, f"{scenario.title} ({scenario.key}){source}")


# words ----------------------------------------------------------------------------------------------------------------


def _team(name: str, shared: Shared) -> Team | None:
    return next((team for team in shared.teams if team.name == name), None)


def _called(name: str, team: Team | None) -> str:
    return f"{name} ({team.title}, {team.contact})" if team else f"{name} (no team of this name)"


def _pairs(labels: Mapping[str, str]) -> str:
    return ", ".join(f'{key}="{value}"' for key, value in labels.items())


def _aligned(rows: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    return _lines(table(("", "", ""), [(f"  {name}", value, place) for name, value, place in rows], left=3), 1)


def _lines(text: str, skip: int = 0) -> Iterator[str]:
    return iter(text.splitlines()[skip:])


def _indented(text: str) -> Iterator[str]:
    return (f"  {line}" for line in text.splitlines())


def _wrapped(name: str, text: str) -> Iterator[str]:
    """`name` in a column of its own, the text beside it."""
    lines = textwrap.wrap(text, _WIDTH - _COLUMN - 3, break_long_words=False, break_on_hyphens=False) or [""]
    yield f"  {name:<{_COLUMN}} {lines[0]}".rstrip()
    yield from (f"{'':<{_COLUMN + 3}}{line}" for line in lines[1:])
