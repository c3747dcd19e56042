"""A raw expression that is not PromQL, or whose result cannot be an alert.

What: `expr` does not parse, is a range, a string or a plain number, or its result has lost a label of the run's
identity.
Why: Prometheus would refuse the group; and an alert without the run's labels names no run, and joins all of them into
one.
What to do: aggregate `by` the identity's labels; an exporter's own label for the run becomes ours with label_replace.
"""

from __future__ import annotations

from collections.abc import Iterator

from longwatch.diagnostics import Diagnostic
from longwatch.plugins.front import Check
from longwatch.policy.model import AlertSetting, Cluster, Family, Policy
from longwatch.promql.parse import Fault, parse

_TYPES = {
    "range": ("a range of samples", "wrap it in a function such as avg_over_time(…)"),
    "string": ("a text", "write an expression over series"),
    "scalar": ("a plain number", "write an expression over series, so that the alert is about a run"),
}


def run(policy: Policy) -> tuple[Diagnostic, ...]:
    return tuple(problem for s in policy.subjects for setting in s.settings for problem in _problems(s, setting))


def _problems(subject: Family | Cluster, setting: AlertSetting) -> Iterator[Diagnostic]:
    text = getattr(setting.parameters, "expr", None)
    if text is None:
        return
    place = setting.place("expr")
    parsed = parse(text.strip())
    if isinstance(parsed, Fault):
        near = text.strip()[parsed.position :][:30].splitlines()
        where = f", at `{near[0]}`" if near and parsed.position else ""
        yield Diagnostic(
            code="bad-expression",
            message=f"{setting.name}: `expr` is not PromQL: {parsed.message}{where}",
            why="Prometheus would refuse the whole group of rules",
            help="try the expression in Prometheus' own page first",
            origin=place,
        )
        return
    if parsed.type != "vector":
        what, remedy = _TYPES[parsed.type]
        yield Diagnostic(
            code="bad-expression",
            message=f"{setting.name}: `expr` is {what}",
            why="an alert is made of series, one for each run",
            help=remedy,
            origin=place,
        )
        return
    lost = [label for label in _identity(subject) if not parsed.labels.may_have(label)]
    if lost:
        yield Diagnostic(
            code="bad-expression",
            message=f"{setting.name}: the result of `expr` has no label {' and '.join(lost)}",
            why="the alert would not say which run it is about, and all runs would be one",
            help=f"aggregate by ({', '.join(_identity(subject))}); label_replace makes them of other labels",
            origin=place,
        )


def _identity(subject: Family | Cluster) -> tuple[str, ...]:
    return subject.identity if isinstance(subject, Family) else ("cluster",)


CHECK = Check(run=run)
