"""An added alert without a severity.

What: an alert under `alerts.add` has no `severity`.
Why: the severity decides whether somebody is called at night, and a default would decide it for them. Packs bring
their own.
What to do: write critical (call somebody), warning (tell somebody) or info (keep it for later).
"""

from __future__ import annotations

from longwatch.diagnostics import Diagnostic
from longwatch.plugins.front import Check
from longwatch.policy.model import Policy


def run(policy: Policy) -> tuple[Diagnostic, ...]:
    return tuple(
        Diagnostic(
            code="missing-severity",
            message=f"{setting.name} has no severity",
            why="it decides whether somebody is called at night",
            help="add `severity:` critical, warning or info",
            origin=setting.origin,
        )
        for subject in policy.subjects
        for setting in subject.settings
        if setting.asked_for and setting.parameters.severity is None
    )


CHECK = Check(run=run)
