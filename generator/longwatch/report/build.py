"""What a build made, and where out/ differs from the policies: as text, JSON, and diagnostics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from longwatch.diagnostics import Diagnostic, Span
from longwatch.ir.model import Plan
from longwatch.policy.model import Policy
from longwatch.report.diagnostics import render_json
from longwatch.report.table import count, table


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """One family or cluster in numbers; for a cluster, series and pages are those of the whole cluster."""

    name: str
    kind: str
    rules: int
    alerts: int
    scenarios: int
    recorded_series: int
    """Per run."""
    raw_series: int
    """Per run."""
    recorded_ratio: float
    pages_per_run: int
    """Most pages that one run can cause at once."""
    pages_per_run_and_day: int | None
    """When each of the restarts that the policy allows for causes all of them; None: the policy plans no restarts."""
    unprotected: tuple[str, ...]


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    out: str
    checked: bool
    """Compared only."""
    changed: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    unchanged: int = 0
    reused: int = 0
    """Families and clusters that came from the cache."""
    drift: tuple[tuple[str, str], ...] = ()
    """(path, missing, different or orphan)."""


_DRIFT = {
    "missing": ("is missing", "the policies compile to it"),
    "different": ("is not what the policies compile to", "it was edited, or a policy or longwatch changed since"),
    "orphan": ("is left over", "no policy compiles to it any more"),
}


def figures(plans: Sequence[Plan], policy: Policy) -> tuple[Figures, ...]:
    restarts = {family.name: family.document.lifecycle.restarts.per_day for family in policy.families}
    return tuple(_figures(plan, restarts.get(plan.name) if plan.kind == "family" else None) for plan in plans)


def _figures(plan: Plan, restarts: int | None) -> Figures:
    recorded, raw = plan.recorded_series_per_run, plan.raw_series_per_run
    return Figures(
        name=plan.name,
        kind=plan.kind,
        rules=len(plan.records) + len(plan.alerts),
        alerts=len(plan.alerts),
        scenarios=len(plan.scenarios),
        recorded_series=recorded,
        raw_series=raw,
        recorded_ratio=round(recorded / raw, 4) if raw else 0.0,
        pages_per_run=plan.pages_per_run,
        pages_per_run_and_day=plan.pages_per_run * restarts if restarts is not None else None,
        unprotected=tuple(dict.fromkeys(u.alert for u in plan.unprotected)),
    )


def drifted(out: str, drift: Sequence[tuple[str, str]]) -> tuple[Diagnostic, ...]:
    """One finding for each file that is not what the policies compile to."""
    return tuple(
        Diagnostic(
            code="out-of-date",
            message=_DRIFT[how][0],
            why=_DRIFT[how][1],
            help="run `longwatch build`, look at the difference, and commit it with the policies",
            span=Span(file=f"{out}/{path}", line=1, column=1),
        )
        for path, how in drift
    )


def render_text(made: Sequence[Figures], outcome: Outcome) -> str:
    """The figures, then what happened to out/."""
    return "\n".join(part for part in (*_tables(made), _closing(outcome)) if part)


def _tables(made: Sequence[Figures]) -> list[str]:
    families = [(*_row(one), _number(one.pages_per_run_and_day)) for one in made if one.kind == "family"]
    clusters = [_row(one) for one in made if one.kind == "cluster"]
    parts = []
    if families:
        head = ["family", "rules", "alerts", "scenarios", "recorded series/run", "raw series/run", "ratio"]
        parts.append(table([*head, "pages/run", "pages/run/day"], families))
    if clusters:
        parts.append(
            table(
                ["cluster", "rules", "alerts", "scenarios", "recorded series", "raw series", "ratio", "pages"], clusters
            )
        )
    if families:
        parts.append(
            "pages/run: the most that one run can cause at once;"
            " per day: if each restart that the policy allows causes all of them.\n"
        )
    return parts


def _row(one: Figures) -> tuple[str, ...]:
    numbers = (one.rules, one.alerts, one.scenarios, one.recorded_series, one.raw_series)
    return (one.name, *(_number(n) for n in numbers), f"{one.recorded_ratio:.1%}", _number(one.pages_per_run))


def _number(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"


def _closing(outcome: Outcome) -> str:
    if outcome.checked:
        if outcome.drift:
            return f"{count(len(outcome.drift), 'file')} in {outcome.out} not what the policies compile to.\n"
        return f"{outcome.out} is what the policies compile to ({count(outcome.unchanged, 'file')}).\n"
    wrote = count(len(outcome.changed), "file")
    more = [f"{outcome.unchanged:,} unchanged"] if outcome.unchanged else []
    more += [f"{len(outcome.deleted):,} deleted"] if outcome.deleted else []
    reused = count(outcome.reused, "family or cluster", "families and clusters")
    kept = f"; {reused} taken from the cache" if outcome.reused else ""
    return f"Wrote {wrote} to {outcome.out}{' (' + ', '.join(more) + ')' if more else ''}{kept}.\n"


def to_json(diagnostics: Sequence[Diagnostic], made: Sequence[Figures], outcome: Outcome | None) -> str:
    """The diagnostics' document with `subjects` and `outcome` (null when nothing was compiled)."""
    document: Mapping[str, object] = msgspec.json.decode(render_json(diagnostics))
    whole = {**document, "subjects": made, "outcome": outcome}
    return msgspec.json.format(msgspec.json.encode(whole), indent=2).decode() + "\n"
