"""A disabled alert without a reason or an end.

What: `disable: true` without `reason` and `until`, or one of these without `disable`.
Why: alerts that were switched off for a week stay off for years; with a date they arm themselves again, and the
reason tells the next reader whether it still holds. A date without `disable` disables nothing.
What to do: write both, or neither.
"""

from __future__ import annotations

from collections.abc import Iterator

from longwatch.diagnostics import Diagnostic
from longwatch.plugins.front import Check
from longwatch.policy.model import AlertSetting, Policy


def run(policy: Policy) -> tuple[Diagnostic, ...]:
    found = (problem for subject in policy.subjects for s in subject.settings for problem in _problems(s))
    return tuple(dict.fromkeys(found))


def _problems(setting: AlertSetting) -> Iterator[Diagnostic]:
    parameters = setting.parameters
    if parameters.disable:
        absent = [key for key in ("reason", "until") if getattr(parameters, key) is None]
        if absent:
            yield Diagnostic(
                code="disabled-alert",
                message=f"{setting.name} is disabled without {' and '.join(absent)}",
                why="it arms itself again on that day, so that a pause does not become a gap",
                help="add "
                + " and ".join({"reason": "`reason: …`", "until": "`until: YYYY-MM-DD`"}[k] for k in absent),
                origin=setting.place("disable"),
            )
        return
    for key in ("reason", "until"):
        if getattr(parameters, key) is not None:
            yield Diagnostic(
                code="disabled-alert",
                message=f"{setting.name} has `{key}`, but is not disabled",
                why="alone it has no effect",
                help=f"add `disable: true`, or remove `{key}`",
                origin=setting.place(key),
            )
            return


CHECK = Check(run=run)
