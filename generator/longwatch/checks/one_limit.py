"""An alert with no limit, or with two.

What: a forecast or an expression has neither or both of `above` and `below`; a baseline band has more than one of
`below`, `above` and `worse_than`.
Why: without a limit there is nothing to compare with; of two, one would be ignored.
What to do: keep one. For both sides make two alerts: they have different causes and remedies.
"""

from __future__ import annotations

from collections.abc import Iterator

from longwatch.diagnostics import Diagnostic
from longwatch.plugins.front import Check
from longwatch.policy.model import AlertSetting, Policy

_NEEDS_ONE = ("expression", "forecast")


def run(policy: Policy) -> tuple[Diagnostic, ...]:
    found = (problem for subject in policy.subjects for s in subject.settings for problem in _problems(s))
    return tuple(dict.fromkeys(found))


def _problems(setting: AlertSetting) -> Iterator[Diagnostic]:
    keys = ("above", "below", "worse_than")
    given = [key for key in keys if getattr(setting.parameters, key, None) is not None]
    if setting.detector == "baseline_band":
        # A limit that the policy writes goes before the pack's.
        given = [key for key in given if setting.written(key)] or given
    if not given and setting.detector in _NEEDS_ONE:
        yield Diagnostic(
            code="one-limit",
            message=f"{setting.name} has no limit",
            why="there is nothing to compare with",
            help="add `above` or `below`",
            origin=setting.origin,
        )
    if len(given) > 1:
        yield Diagnostic(
            code="one-limit",
            message=f"{setting.name} has several limits: {' and '.join(given)}",
            why="one of them would be ignored",
            help="keep one, and make a second alert of the other",
            origin=setting.place(next((k for k in reversed(given) if setting.written(k)), given[-1])),
        )


CHECK = Check(run=run)
