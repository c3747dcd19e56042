"""Faults of a team's own exporter profile that no type can express: unknown roles, regular expressions, phases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from longwatch.catalogue.signals import SIGNALS
from longwatch.diagnostics import Diagnostic, Origin
from longwatch.policy.document import ExporterDocument
from longwatch.policy.exporter import Label
from longwatch.promql.parse import regex_fault
from longwatch.suggest import closest

PHASES = ("initialising", "training", "finished", "saving", "evaluating", "paused")


def judge(file: str, document: ExporterDocument) -> tuple[Diagnostic, ...]:
    profile, top = document.profile, Origin(file=file, path=("profile",))
    found = [
        *_labels(profile.labels, top.at("labels")),
        *(_unknown_role(role, top.at("survives_restart", i)) for i, role in enumerate(profile.survives_restart)
          if role not in SIGNALS),
        *(_unknown_phase(phase, top.at("phases", phase, key=True)) for phase in profile.phases if phase not in PHASES),
    ]  # fmt: skip
    for role, metrics in profile.metrics.items():
        place = top.at("metrics", role)
        if role not in SIGNALS:
            found.append(_unknown_role(role, top.at("metrics", role, key=True)))
        if not metrics:
            found.append(_no_metric(role, place))
        for index, metric in enumerate(metrics):
            found += _labels(metric.labels, place.at(index, "labels"))
            for label, pattern in metric.matchers.items():
                if why := regex_fault(pattern):
                    found.append(_bad_regex(pattern, why, place.at(index, "matchers", label)))
            if metric.scale == 0:
                found.append(_no_scale(place.at(index, "scale")))
    return tuple(found)


def twice(documents: Sequence[tuple[str, object]]) -> tuple[Diagnostic, ...]:
    """Profiles of one name; which of them a family reads would depend on the names of the files."""
    first: dict[str, str] = {}
    found = []
    for file, document in documents:
        if isinstance(document, ExporterDocument):
            name = document.profile.name
            if name in first:
                found.append(
                    Diagnostic(
                        code="duplicate-name",
                        message=f'a second exporter profile is called "{name}"; the first is {first[name]}',
                        why="only one of them would be read",
                        help="rename one of them, or merge them",
                        origin=Origin(file=file, path=("profile", "name")),
                    )
                )
            first.setdefault(name, file)
    return tuple(found)


def _labels(labels: object, place: Origin) -> Iterator[Diagnostic]:
    assert isinstance(labels, dict)
    for name, label in labels.items():
        assert isinstance(label, Label)
        if why := regex_fault(label.pattern):
            yield _bad_regex(label.pattern, why, place.at(name, "pattern"))
        elif "(" not in label.pattern:
            yield _bad_regex(label.pattern, "it has no group, whose text would be kept", place.at(name, "pattern"))


def _bad_regex(pattern: str, why: str, place: Origin) -> Diagnostic:
    return Diagnostic(
        code="bad-regex",
        message=f'"{pattern}" is not a regular expression that Prometheus can use: {why}',
        why="the whole group of rules would be refused",
        help="write RE2; it is anchored at both ends, and the first group of a label's pattern is kept",
        origin=place,
    )


def _unknown_role(role: str, place: Origin) -> Diagnostic:
    near = closest(role, SIGNALS)
    return Diagnostic(
        code="bad-role",
        message=f'no role is called "{role}"',
        why="no detector would ever read it",
        help=f'did you mean "{near}"?' if near else f"roles: {', '.join(sorted(SIGNALS))}",
        origin=place,
    )


def _unknown_phase(phase: str, place: Origin) -> Diagnostic:
    near = closest(phase, PHASES)
    return Diagnostic(
        code="bad-role",
        message=f'no phase is called "{phase}"',
        help=f'did you mean "{near}"?' if near else f"phases: {', '.join(PHASES)}",
        origin=place,
    )


def _no_metric(role: str, place: Origin) -> Diagnostic:
    return Diagnostic(
        code="empty-list",
        message=f'the role "{role}" has no metric',
        help="list one metric at least, or remove the role",
        origin=place,
    )


def _no_scale(place: Origin) -> Diagnostic:
    return Diagnostic(
        code="out-of-range",
        message='"scale" cannot be 0',
        why="every value would become 0",
        help="write the factor to the base unit, such as 0.001 for milliseconds; 1 is the default",
        origin=place,
    )
