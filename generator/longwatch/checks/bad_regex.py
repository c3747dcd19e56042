"""A regular expression that Prometheus cannot use, or that does not match its own examples.

What: `runs.name_pattern` or a log mask is not RE2; a name pattern comes with fewer than two examples, or with one
that it does not match.
Why: one bad pattern makes Prometheus refuse the whole group of rules. A pattern that is valid but wrong enrols no run
at all; the examples prove that it is right, and the generated tests run under their names.
What to do: correct the pattern; write two real names of runs under `runs.examples`. Patterns are anchored at both
ends. RE2 has no look-ahead, no look-behind and no back-reference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from longwatch.diagnostics import Diagnostic, Origin
from longwatch.plugins.front import Check
from longwatch.policy.model import Family, Policy
from longwatch.promql.parse import regex_fault


def run(policy: Policy) -> tuple[Diagnostic, ...]:
    masks = policy.organisation.document.logs.masks
    place = policy.organisation.origin.at("logs", "masks")
    return (
        *(_invalid(m.pattern, w, place.at(i, "pattern")) for i, m in enumerate(masks) if (w := regex_fault(m.pattern))),
        *(problem for family in policy.families for problem in _names(family)),
    )


def _names(family: Family) -> Iterator[Diagnostic]:
    runs, place = family.document.runs, family.origin.at("runs")
    if runs.name_pattern is None:
        return
    if why := regex_fault(runs.name_pattern):
        yield _invalid(runs.name_pattern, why, place.at("name_pattern"))
        return
    if len(set(runs.examples)) < 2:
        yield Diagnostic(
            code="bad-regex",
            message="the name pattern needs two examples",
            why="they prove that it matches real names, and the generated tests run under them",
            help="add `examples: [NAME, NAME]`, two names of runs",
            origin=place.at("examples"),
        )
    for index, example in enumerate(runs.examples):
        if not _matches(runs.name_pattern, example):
            yield Diagnostic(
                code="bad-regex",
                message=f'the example "{example}" does not match {runs.name_pattern}',
                why="the pattern is anchored at both ends, so real runs of this name would not be watched",
                help="correct the pattern or the example",
                origin=place.at("examples", index),
            )


def _matches(pattern: str, name: str) -> bool:
    """True as well when Python cannot read what RE2 can, such as \\pN: then there is no proof either way."""
    try:
        return re.fullmatch(pattern, name) is not None
    except re.error:
        return True


def _invalid(pattern: str, why: str, place: Origin) -> Diagnostic:
    return Diagnostic(
        code="bad-regex",
        message=f'"{pattern}" is not a regular expression that Prometheus can use: {why}',
        why="the whole group of rules would be refused",
        help="write RE2, anchored at both ends; single quotes keep backslashes as they are",
        origin=place,
    )


CHECK = Check(run=run)
