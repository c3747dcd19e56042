"""An added alert with the name of an inherited one.

What: `alerts.add` of a policy defines a name that one of its packs already brings.
Why: two rules of one name cannot be told apart in routes, tests and inhibitions.
What to do: tune the inherited alert with `alerts.override`, or give the new one a name of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from longwatch.diagnostics import Diagnostic
from longwatch.plugins.front import Check
from longwatch.policy.model import Policy


def run(policy: Policy) -> tuple[Diagnostic, ...]:
    return tuple(_problems(policy))


def _problems(policy: Policy) -> Iterator[Diagnostic]:
    for subject in policy.subjects:
        packs = {setting.name: setting.pack for setting in subject.settings if setting.pack}
        for name in subject.document.alerts.add:
            if name in packs:
                yield Diagnostic(
                    code="duplicate-alert",
                    message=f'{name} is already an alert of the pack "{packs[name]}"',
                    why="two alerts of one name cannot be told apart",
                    help=f"tune it under alerts.override, or call yours {_camel(subject.name)}{name}",
                    origin=subject.origin.at("alerts", "add", name, key=True),
                )


def _camel(name: str) -> str:
    """llm-pretraining → LlmPretraining."""
    return "".join(part.capitalize() for part in name.split("-"))


CHECK = Check(run=run)
