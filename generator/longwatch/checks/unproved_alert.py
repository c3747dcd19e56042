"""A raw expression that no scenario proves.

What: an alert with `detect: expression` that no scenario of its policy expects.
Why: the other detectors bring their own proofs; a raw expression has none, and a label that is misspelt makes it
silent.
What to do: add a scenario with the incident that it was written for: `expect: [{alert: NAME, within: …}]`.
"""

from __future__ import annotations

from longwatch.diagnostics import Diagnostic
from longwatch.plugins.front import Check
from longwatch.policy.model import Policy


def run(policy: Policy) -> tuple[Diagnostic, ...]:
    return tuple(
        Diagnostic(
            code="unproved-alert",
            message=f"no scenario expects {setting.name}",
            why="nothing proves that a raw expression can fire",
            help=f"add a scenario with `expect: [{{alert: {setting.name}, within: …}}]`",
            origin=setting.origin,
        )
        for family in policy.families
        for setting in family.settings
        if setting.detector == "expression"
        and not any(setting.name == e.alert for scenario in family.scenarios for e in scenario.expect)
    )


CHECK = Check(run=run)
