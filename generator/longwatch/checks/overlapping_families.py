"""overlapping-families: two families enrol the same runs.

What: one family's `runs.select` asks for no other label values than the other's, and both read the same exporter.

Why: every incident of such a run is told twice, with two owners and two sets of thresholds.

What to do: give one of them a label value that the other does not have.
"""

from __future__ import annotations

from itertools import combinations

from longwatch.diagnostics import Diagnostic, Severity
from longwatch.plugins.front import Check
from longwatch.policy.model import Family, Policy


def _contains(a: Family, b: Family) -> bool:
    """Every series that b selects is also a's."""
    wide, narrow = a.document.runs.select, b.document.runs.select
    return bool(wide) and all(narrow.get(label) == value for label, value in wide.items())


def run(policy: Policy) -> tuple[Diagnostic, ...]:
    return tuple(
        Diagnostic(
            code="overlapping-families",
            severity=Severity.WARNING,
            message=f'"{second.name}" enrols runs that "{first.name}" ({first.file}) enrols as well',
            why="every incident of such a run would be told twice, to two owners",
            help="give one of them a label value in runs.select that the other does not have",
            origin=second.origin.at("runs", "select"),
        )
        for first, second in combinations(policy.families, 2)
        if first.name != second.name
        and set(first.document.exporters) & set(second.document.exporters)
        and (_contains(first, second) or _contains(second, first))
    )


CHECK = Check(run=run)
