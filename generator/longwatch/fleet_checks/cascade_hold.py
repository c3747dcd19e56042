"""A cause that is forgotten before its consequences are due.

What: an alert that silences others while it fires is held only briefly (`for` + `keep_firing_for`), and ends before the slowest of
the others (`for`) would fire.
Why: the cause of an incident is often over in a minute, its consequences are not: the consequence would arrive later, alone,
and send people to the wrong place.
What to do: hold the cause for longer (`keep_firing_for`), or let the consequence wait for less (`for`).

An alert without `keep_firing_for` is not judged: its condition lasts as long as the failure itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from longwatch.diagnostics import Diagnostic
from longwatch.ir.model import Alert, Fleet, Inhibition, Plan
from longwatch.plugins.back import FleetCheck
from longwatch.units import promql_duration


def run(fleet: Fleet) -> tuple[Diagnostic, ...]:
    return tuple(
        problem for plan in fleet.plans for inhibition in plan.inhibitions for problem in _problems(plan, inhibition)
    )


def _problems(plan: Plan, inhibition: Inhibition) -> Iterator[Diagnostic]:
    # An alert of several rules, one for each variant, is as late as the latest of them.
    targets = [alert for alert in plan.alerts if alert.name in inhibition.targets]
    for source in (alert for alert in plan.alerts if alert.name == inhibition.source):
        slowest = max(targets, key=lambda alert: alert.for_, default=None)
        if slowest is not None and source.keep_firing_for and source.for_ + source.keep_firing_for < slowest.for_:
            yield _problem(source, slowest)


def _problem(source: Alert, target: Alert) -> Diagnostic:
    held, due = source.for_ + source.keep_firing_for, target.for_
    return Diagnostic(
        code="cascade-hold",
        message=f"{source.name} may end {promql_duration(held)} after it began, {target.name} is due after {promql_duration(due)}",
        why=f"{source.name} silences {target.name} as its consequence; once it has ended, the consequence is told alone",
        help=f"set keep_firing_for of {source.name} to {promql_duration(due - source.for_)} or more, or shorten `for` of {target.name}",
        origin=source.origin,
    )


CHECK = FleetCheck(run=run)
