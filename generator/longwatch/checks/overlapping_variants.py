"""Two variants that match the same run.

What: the labels that one variant's `when` asks for are equal to, or a part of, another's (an error); or nothing keeps
a run from matching both (a warning).
Why: a run of two variants has two baselines, and the rules that read them would fail.
What to do: let every `when` name the same labels, with different values.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from longwatch.diagnostics import Diagnostic, Severity
from longwatch.plugins.front import Check
from longwatch.policy.model import Family, Policy


def run(policy: Policy) -> tuple[Diagnostic, ...]:
    return tuple(problem for family in policy.families for problem in _problems(family))


def _problems(family: Family) -> Iterator[Diagnostic]:
    for first, second in combinations(family.variants, 2):
        one, two = first.when.items(), second.when.items()
        if first.name == second.name:
            yield Diagnostic(
                code="overlapping-variants",
                message=f'two variants are called "{first.name}"',
                why="messages name the variant, and these two could not be told apart",
                help="rename one of them",
                origin=second.origin.at("name"),
            )
        if any(first.when[label] != value for label, value in two if label in first.when):
            continue
        contained = one <= two or two <= one
        labels = sorted({*first.when, *second.when} - ({*first.when} & {*second.when}))
        yield Diagnostic(
            code="overlapping-variants",
            severity=Severity.ERROR if contained else Severity.WARNING,
            message=f'a run can match both "{first.name}" and "{second.name}"',
            why="a run of two variants has two baselines, and the rules that read them would fail",
            help=f"let both name {' and '.join(labels)}, with different values"
            if labels
            else "make their labels differ",
            origin=second.origin.at("when"),
        )


CHECK = Check(run=run)
