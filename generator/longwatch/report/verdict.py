"""What promtool and amtool proved, by family and alert: as text that a newcomer understands, and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from longwatch.diagnostics import Diagnostic
from longwatch.ir.model import Plan, Unprotected
from longwatch.report.diagnostics import render_json
from longwatch.report.table import count, table
from longwatch.verify.verdict import Verdict

_NOTHING_FIRES = "(none may fire)"
PROVED, FAILED, UNJUDGED = "proved", "failed", "not judged"


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """One scenario."""

    key: str
    title: str
    outcome: str
    """proved, failed or not judged."""


class AlertResult(msgspec.Struct, frozen=True, kw_only=True):
    subject: str
    kind: str
    """family or cluster."""
    alert: str
    """Empty: scenarios in which none of the family's alerts may fire."""
    severity: str
    scenarios: tuple[Outcome, ...]

    def number(self, outcome: str) -> int:
        return sum(scenario.outcome == outcome for scenario in self.scenarios)


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """What a family or cluster is not protected from."""

    subject: str
    alert: str
    reason: str
    remedy: str


class Totals(msgspec.Struct, frozen=True, kw_only=True):
    families: int
    clusters: int
    alerts: int
    scenarios: int
    proved: int
    failed: int
    cases: int
    """Assertions that promtool ran."""
    dashboards: int


class Results(msgspec.Struct, frozen=True, kw_only=True):
    alerts: tuple[AlertResult, ...]
    unprotected: tuple[Gap, ...]
    totals: Totals
    tools: Mapping[str, str]
    ok: bool


def results(plans: Sequence[Plan], verdict: Verdict, dashboards: int, only: str | None = None) -> Results:
    """`plans` with the scenarios that were judged; alerts without one are listed too. `only`: one alert's results."""
    every = (result for plan in plans for result in _of_plan(plan, verdict))
    alerts = tuple(result for result in every if only in (None, result.alert))
    return Results(
        alerts=alerts,
        unprotected=tuple(_gap(plan, u) for plan in plans for u in {u.alert: u for u in plan.unprotected}.values()),
        totals=Totals(
            families=sum(plan.kind == "family" for plan in plans),
            clusters=sum(plan.kind == "cluster" for plan in plans),
            alerts=sum(bool(result.alert) for result in alerts),
            scenarios=sum(len(result.scenarios) for result in alerts),
            proved=sum(result.number(PROVED) for result in alerts),
            failed=sum(result.number(FAILED) for result in alerts),
            cases=verdict.cases,
            dashboards=dashboards,
        ),
        tools=verdict.tools,
        ok=verdict.ok,
    )


def _of_plan(plan: Plan, verdict: Verdict) -> list[AlertResult]:
    files = [file for file in verdict.files if file.subject == plan.name]
    failed = {failure.scenario for file in files for failure in file.failures}
    proved = {key for file in files for key in file.proved} - failed
    severities = {alert.name: alert.severity for alert in plan.alerts}
    names = dict.fromkeys((*severities, *(scenario.alert for scenario in plan.scenarios)))
    return [
        AlertResult(
            subject=plan.name,
            kind=plan.kind,
            alert=name,
            severity=severities.get(name, ""),
            scenarios=tuple(
                Outcome(
                    key=s.key,
                    title=s.title,
                    outcome=FAILED if s.key in failed else PROVED if s.key in proved else UNJUDGED,
                )
                for s in plan.scenarios
                if s.alert == name
            ),
        )
        for name in names
    ]


def _gap(plan: Plan, unprotected: Unprotected) -> Gap:
    return Gap(subject=plan.name, alert=unprotected.alert, reason=unprotected.reason, remedy=unprotected.remedy)


def render_text(found: Results) -> str:
    """The table, the unprotected, and where to look next."""
    return "\n".join((_table(found), _proved(found), _unprotected(found), _next(found)))


def _table(found: Results) -> str:
    rows, before = [], ""
    for result in found.alerts:
        failed, unjudged = result.number(FAILED), result.number(UNJUDGED)
        note = f"{unjudged} not judged" if unjudged else "" if result.scenarios else "has no scenario"
        name = "" if result.subject == before else result.subject
        before = result.subject
        proved = str(result.number(PROVED))
        rows.append((name, result.alert or _NOTHING_FIRES, result.severity, proved, str(failed or "–"), note))
    return table(("family or cluster", "alert", "severity", "proved", "failed", ""), rows, left=3)


def _proved(found: Results) -> str:
    totals = found.totals
    tools = " and ".join(f"{name} {version}" for name, version in found.tools.items())
    missing = totals.scenarios - totals.proved - totals.failed
    outcome = f"{totals.proved:,} proved, {totals.failed:,} failed" + (f", {missing:,} not judged" if missing else "")
    lines = [
        "What was tested",
        f"  {count(totals.families, 'family', 'families')} of training runs and {count(totals.clusters, 'cluster')} of machines, by {tools}",
        f"  {count(totals.alerts, 'alert')}, each with an owner, a severity and a first thing to do",
        f"  {count(totals.scenarios, 'scenario')} of failures and of healthy runs: {outcome} ({count(totals.cases, 'assertion')})",
        f"  {count(totals.dashboards, 'dashboard')} with the thresholds of these alerts drawn in",
    ]
    return "\n".join(lines) + "\n"


def _unprotected(found: Results) -> str:
    if not found.unprotected:
        return "What is unprotected\n  Nothing that the packs of these policies look for.\n"
    width = max(len(gap.subject) for gap in found.unprotected)
    lines = [f"  {gap.subject:<{width}}  {gap.alert}: {gap.reason}" for gap in found.unprotected]
    remedies = "; ".join(dict.fromkeys(gap.remedy for gap in found.unprotected))
    return "\n".join(("What is unprotected", *lines, f"  To change that: {remedies}.")) + "\n"


def _next(found: Results) -> str:
    first = next(
        (r for r in found.alerts if r.alert and r.number(FAILED)), next((r for r in found.alerts if r.alert), None)
    )
    if first is None:
        return ""
    hints = [
        (f"longwatch explain {first.subject}/{first.alert}", "why an alert is there, its PromQL, and who is told"),
        (f"longwatch explain {first.subject}", "every value of a policy, and where it came from"),
        ("longwatch build", "the rules, tests, dashboards and routes, below out/"),
    ]
    width = max(len(command) for command, _ in hints)
    return "\n".join(("Where to look next", *(f"  {command:<{width}}  {what}" for command, what in hints))) + "\n"


def to_json(diagnostics: Sequence[Diagnostic], found: Results | None) -> str:
    """The diagnostics' document with `results` (null when nothing was judged)."""
    document: Mapping[str, object] = msgspec.json.decode(render_json(diagnostics))
    return msgspec.json.format(msgspec.json.encode({**document, "results": found}), indent=2).decode() + "\n"
