"""A detector that cannot watch what the policy is about.

What: a family adds an alert with a detector for machines, or a cluster one with a detector for runs.
Why: its series have no run, or no device, to be about.
What to do: move the alert to the other kind of policy, or choose another detector.
"""

from __future__ import annotations

from collections.abc import Iterator

from longwatch.diagnostics import Diagnostic
from longwatch.plugins.front import Check, detectors
from longwatch.policy.model import Family, Policy


def run(policy: Policy) -> tuple[Diagnostic, ...]:
    return tuple(_problems(policy))


def _problems(policy: Policy) -> Iterator[Diagnostic]:
    for subject in policy.subjects:
        mine, other = ("family", "cluster") if isinstance(subject, Family) else ("cluster", "family")
        for setting in subject.settings:
            if detectors()[setting.detector].scope == other:
                fitting = [name for name, detector in detectors().items() if detector.scope in (mine, "both")]
                yield Diagnostic(
                    code="wrong-scope",
                    message=f'the detector "{setting.detector}" watches a {other}, and this policy is a {mine}',
                    help=f"move {setting.name} to a {other}, or use one of {', '.join(fitting)}",
                    origin=setting.place("detect"),
                )


CHECK = Check(run=run)
