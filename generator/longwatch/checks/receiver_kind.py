"""A receiver that is none or several of slack, pagerduty, email and webhook.

What: a receiver of organisation.yaml has not exactly one integration.
Why: with none it tells nobody; with two, one of them would be dropped.
What to do: give it one; where two are wanted, make two receivers and name one for `notify` and one for `page`.
"""

from __future__ import annotations

from collections.abc import Iterator

from longwatch.diagnostics import Diagnostic
from longwatch.plugins.front import Check
from longwatch.policy.model import Policy


def run(policy: Policy) -> tuple[Diagnostic, ...]:
    return tuple(_problems(policy))


def _problems(policy: Policy) -> Iterator[Diagnostic]:
    for name, receiver in policy.organisation.document.receivers.items():
        kinds = receiver.__struct_fields__
        given = [kind for kind in kinds if getattr(receiver, kind) is not None]
        if len(given) != 1:
            yield Diagnostic(
                code="receiver-kind",
                message=f'receiver "{name}" '
                + (f"is {' and '.join(given)} at once" if given else "has no integration"),
                why="a receiver is one way of telling people",
                help="keep one, and make a second receiver of the other"
                if given
                else f"write one of {', '.join(kinds)}",
                origin=policy.organisation.origin.at("receivers", name, key=True),
            )


CHECK = Check(run=run)
