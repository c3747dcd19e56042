"""A role that the vocabulary does not have.

What: `signal` or `of` of an alert, or a baseline, names a role that no exporter could ever play; so may a profile of
your own.
Why: nothing would be compared, and nothing would say so.
What to do: correct the name; docs/signals.md lists the roles.
"""

from __future__ import annotations

from collections.abc import Iterator

from longwatch.catalogue.signals import SIGNALS
from longwatch.diagnostics import Diagnostic, Origin
from longwatch.plugins.front import Check
from longwatch.policy.model import Policy
from longwatch.suggest import closest


def run(policy: Policy) -> tuple[Diagnostic, ...]:
    return tuple(_unknown(role, place) for role, place in _roles(policy) if role not in SIGNALS)


def _roles(policy: Policy) -> Iterator[tuple[str, Origin]]:
    for subject in policy.subjects:
        for setting in subject.settings:
            for key in ("signal", "of"):
                role = getattr(setting.parameters, key, None)
                if role is not None:
                    yield role, setting.place(key)
    for family in policy.families:
        for index, variant in enumerate(family.document.variants):
            for role in variant.baselines:
                yield role, family.origin.at("variants", index, "baselines", role, key=True)


def _unknown(role: str, place: Origin) -> Diagnostic:
    near = closest(role, SIGNALS)
    return Diagnostic(
        code="bad-role",
        message=f'no role is called "{role}"',
        why="no exporter could ever give it",
        help=f'did you mean "{near}"?' if near else f"roles: {', '.join(sorted(SIGNALS))}",
        origin=place,
    )


CHECK = Check(run=run)
