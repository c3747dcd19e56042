"""A signal that its exporter does not export unless it is told to.

What: an alert or a baseline reads a role whose metrics are all off by default.
Why: the rules load, find nothing, and look as if all were well.
What to do: switch it on as the message says; then this note can be ignored.
"""

from __future__ import annotations

from collections.abc import Iterator

from longwatch.diagnostics import Diagnostic, Severity
from longwatch.plugins.front import Check
from longwatch.policy.model import Cluster, Family, Policy


def run(policy: Policy) -> tuple[Diagnostic, ...]:
    return tuple(problem for subject in policy.subjects for problem in _problems(subject))


def _problems(subject: Family | Cluster) -> Iterator[Diagnostic]:
    for role in _read(subject):
        sources = subject.readings[role].sources if role in subject.readings else ()
        if not sources or any(source.metric.default_on for source in sources):
            continue
        source = sources[0]
        yield Diagnostic(
            code="off-by-default",
            severity=Severity.NOTE,
            message=f"{source.metric.name} ({role}) is off by default in {source.exporter.name}",
            why="its alerts stay silent until it is exported",
            help=source.metric.note or "switch it on in the exporter",
            origin=subject.origin.at("exporters", subject.document.exporters.index(source.exporter.name)),
        )


def _read(subject: Family | Cluster) -> tuple[str, ...]:
    """Roles that alerts and baselines name."""
    named = [getattr(s.parameters, key, None) for s in subject.settings for key in ("signal", "of")]
    judged = [r for v in subject.variants for r in v.baselines] if isinstance(subject, Family) else []
    return tuple(dict.fromkeys(role for role in (*named, *judged) if role))


CHECK = Check(run=run)
