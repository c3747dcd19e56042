"""An alert that the policy asked for by name cannot be compiled.

What: an alert under `alerts.add`, or one that `alerts.override` tunes, needs a signal, a baseline or a declaration
that this policy does not have.
Why: it would never fire, and its author believes that it watches. Alerts that merely come with a pack are left out
and listed as unprotected instead.
What to do: add what is missing, or remove the alert or the override.
"""

from __future__ import annotations

from collections.abc import Iterator

from longwatch.catalogue.signals import SIGNALS
from longwatch.diagnostics import Diagnostic, Severity
from longwatch.plugins.front import Check, detectors
from longwatch.plugins.reading import ClusterReader, FamilyReader
from longwatch.policy.model import Cluster, Family, Policy


def run(policy: Policy) -> tuple[Diagnostic, ...]:
    return tuple(problem for subject in policy.subjects for problem in _problems(subject))


def _problems(subject: Family | Cluster) -> Iterator[Diagnostic]:
    scope = "family" if isinstance(subject, Family) else "cluster"
    reader = FamilyReader(subject) if isinstance(subject, Family) else ClusterReader(subject)
    for setting in subject.settings:
        named = setting.asked_for or setting.name in subject.document.alerts.override
        detector = detectors()[setting.detector]
        if not named or setting.parameters.disable or detector.scope not in (scope, "both"):
            continue
        signal = getattr(setting.parameters, "signal", None)
        if signal is not None and signal not in SIGNALS:
            continue  # bad-role has said so
        missing = detector.needs(reader, setting)
        if not missing:
            continue
        needless = missing.startswith("nothing:")
        yield Diagnostic(
            code="role-missing",
            severity=Severity.WARNING if needless else Severity.ERROR,
            message=f"{setting.name} cannot be compiled: it needs {missing}",
            why="it would never fire, although this policy names it",
            help="remove it from this policy"
            if needless
            else f"provide it (exporters here: {', '.join(subject.document.exporters)}), or remove {setting.name}",
            origin=setting.place("signal") if setting.asked_for else setting.origin,
        )


CHECK = Check(run=run)
