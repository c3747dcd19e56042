"""An added alert that does not say what to do.

What: an alert under `alerts.add` has no `remediation`.
Why: whoever is called at night starts from that sentence. Alerts of packs bring their own.
What to do: write the first thing to do, in one sentence.
"""

from __future__ import annotations

from longwatch.diagnostics import Diagnostic
from longwatch.plugins.front import Check
from longwatch.policy.model import Policy


def run(policy: Policy) -> tuple[Diagnostic, ...]:
    return tuple(
        Diagnostic(
            code="missing-remediation",
            message=f"{setting.name} has no remediation",
            why="whoever is called at night starts from it",
            help="add `remediation: …`, the first thing to do, in one sentence",
            origin=setting.origin,
        )
        for subject in policy.subjects
        for setting in subject.settings
        if setting.asked_for and setting.parameters.remediation is None
    )


CHECK = Check(run=run)
