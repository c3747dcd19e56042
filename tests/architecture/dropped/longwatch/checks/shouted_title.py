"""A title in capitals.

What: the title of a family is written in capitals.
Why: dashboards are read all day.
What to do: write it as people speak it.
"""

from __future__ import annotations

from longwatch.diagnostics import Diagnostic, Severity
from longwatch.plugins.front import Check
from longwatch.policy.model import Policy


def run(policy: Policy) -> tuple[Diagnostic, ...]:
    return tuple(
        Diagnostic(
            code="shouted-title",
            severity=Severity.WARNING,
            message=f'the title "{family.title}" shouts',
            help="write it as people speak it",
            origin=family.origin.at("title"),
        )
        for family in policy.families
        if family.title.isupper()
    )


CHECK = Check(run=run)
