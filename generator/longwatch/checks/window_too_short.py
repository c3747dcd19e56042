"""A window that the data cannot fill.

What: a written `window`, `history` or `after` of fewer than four samples or publications, a `silent_for` of less than
one publication, a `for` shorter than one evaluation, or a spike's `for` of more than half the window of its median.
Why: a window of two samples sees noise, and one that is shorter than the pace of the signal is empty: the alert would
fire on a healthy run, or never. A spike that lasts half its median's window becomes its own reference.
What to do: write at least the duration that the message names; leave the parameter out to have it derived.
"""

from __future__ import annotations

from collections.abc import Iterator

from longwatch.diagnostics import Diagnostic, Severity
from longwatch.plugins.front import Check
from longwatch.plugins.reading import FamilyReader
from longwatch.policy.model import AlertSetting, Cluster, Family, Policy
from longwatch.units import promql_duration

_HOUR = 3630.0
"""The spike's shortest derived window; an hour, off the grid of evaluations."""


def run(policy: Policy) -> tuple[Diagnostic, ...]:
    found = (problem for s in policy.subjects for setting in s.settings for problem in _problems(s, setting))
    return tuple(dict.fromkeys(found))


def _problems(subject: Family | Cluster, setting: AlertSetting) -> Iterator[Diagnostic]:
    for name, least, what in _limits(subject):
        written = getattr(setting.parameters, name, None)
        if written is not None and setting.written(name) and float(written) < least:
            yield _too_short(setting, name, float(written), least, what)
    hold = setting.parameters.for_
    if hold is not None and setting.written("for") and 0 < hold < subject.rules:
        yield Diagnostic(
            code="window-too-short",
            severity=Severity.WARNING,
            message=f"{setting.name}: `for` of {promql_duration(hold)} is shorter than one evaluation of the rules",
            why=f"rules are evaluated every {promql_duration(subject.rules)}, so it rounds up to that",
            help=f"write 0s, or {promql_duration(subject.rules)} or more",
            origin=setting.place("for"),
        )
    if hold is not None and setting.detector == "spike" and isinstance(subject, Family):
        window = _median_window(subject, setting)
        if setting.written("for") and hold > window / 2:
            yield Diagnostic(
                code="window-too-short",
                message=f"{setting.name}: `for` of {promql_duration(hold)} is more than half the median's window",
                why="the spike would have become its own reference before the alert fires",
                help=f"write at most {promql_duration(window // 2)}, or a window above {promql_duration(2 * hold)}",
                origin=setting.place("for"),
            )


def _limits(subject: Family | Cluster) -> tuple[tuple[str, float, str], ...]:
    """(parameter, least, what that is)."""
    if not isinstance(subject, Family):
        samples = 4 * subject.scrape
        return (("window", samples, "four samples"), ("history", samples, "four samples"))
    samples = 4 * subject.sample_every
    publications = max(samples, 4 * subject.publish_every)
    once = subject.publish_every
    return (
        ("window", publications, "four publications"),
        ("history", publications, "four publications"),
        ("after", samples, "four samples"),
        ("silent_for", once, "one publication"),
    )


def _median_window(family: Family, setting: AlertSetting) -> float:
    written = getattr(setting.parameters, "window", None)
    return float(written) if written is not None else max(_HOUR, FamilyReader(family).publications(30))


def _too_short(setting: AlertSetting, name: str, written: float, least: float, what: str) -> Diagnostic:
    return Diagnostic(
        code="window-too-short",
        message=f"{setting.name}: `{name}` of {promql_duration(written)} is less than {what}",
        why="a healthy run would look silent" if name == "silent_for" else "it would hold too little data to judge",
        help=f"write {promql_duration(least)} or more, or leave it out to have it derived",
        origin=setting.place(name),
    )


CHECK = Check(run=run)
