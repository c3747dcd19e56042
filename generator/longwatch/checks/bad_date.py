"""A date that is not in the calendar, or a time that ends before it begins.

What: `until` of a disabled alert, or `learned.from` and `learned.to` of a baseline, is no real date, or the two are
swapped.
Why: the alert would never arm itself again, and the provenance of the baseline would be wrong.
What to do: write YYYY-MM-DD.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from longwatch.diagnostics import Diagnostic, Origin
from longwatch.plugins.front import Check
from longwatch.policy.model import Policy


def run(policy: Policy) -> tuple[Diagnostic, ...]:
    found = (_impossible(text, place) for text, place in _dates(policy) if _date(text) is None)
    return (*dict.fromkeys(found), *_swapped(policy))


def _dates(policy: Policy) -> Iterator[tuple[str, Origin]]:
    for subject in policy.subjects:
        for setting in subject.settings:
            if setting.parameters.until is not None:
                yield setting.parameters.until, setting.place("until")
    for first, last, place in _learned(policy):
        yield first, place.at("from")
        yield last, place.at("to")


def _learned(policy: Policy) -> Iterator[tuple[str, str, Origin]]:
    for family in policy.families:
        for index, variant in enumerate(family.document.variants):
            for role, baseline in variant.baselines.items():
                if (learned := baseline.learned) is not None:
                    place = family.origin.at("variants", index, "baselines", role, "learned")
                    yield learned.from_, learned.to, place


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _impossible(text: str, place: Origin) -> Diagnostic:
    return Diagnostic(
        code="bad-date",
        message=f"{text} is not in the calendar",
        help="write a day that exists, as YYYY-MM-DD",
        origin=place,
    )


def _swapped(policy: Policy) -> Iterator[Diagnostic]:
    for first, last, place in _learned(policy):
        begin, end = _date(first), _date(last)
        if begin is not None and end is not None and begin > end:
            yield Diagnostic(
                code="bad-date",
                message=f"the baseline was learned from {first} to {last}, which is earlier",
                help="swap the two, or correct them",
                origin=place.at("to"),
            )


CHECK = Check(run=run)
