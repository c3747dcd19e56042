"""A variant that does not say how long a step takes.

What: a variant, with what it extends, has neither `step_time` nor `publish_every`; or only the latter, while the
family has a warm-up, which is counted in steps.
Why: windows, limits and tests are derived from the pace of a healthy run. With a wrong pace they are empty or blind.
What to do: write the usual time of one step; a percent or two more or less does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator

from longwatch.diagnostics import Diagnostic
from longwatch.plugins.front import Check
from longwatch.policy.document import Variant
from longwatch.policy.model import Family, Policy


def run(policy: Policy) -> tuple[Diagnostic, ...]:
    return tuple(problem for family in policy.families for problem in _problems(family))


def _problems(family: Family) -> Iterator[Diagnostic]:
    warm_up = family.document.lifecycle.warm_up.steps
    for variant, written in zip(family.variants, family.document.variants, strict=True):
        if variant.step_time > 0:
            continue
        if warm_up or not _publishes(written, family.document.variants):
            yield Diagnostic(
                code="variant-step-time",
                message=f'variant "{variant.name}" does not say how long a step takes',
                why="the warm-up is counted in steps" if warm_up else "windows and limits are derived from it",
                help="add `step_time: …`, the usual time of one step of a healthy run",
                origin=variant.origin.at("step_time") if written.step_time is not None else variant.origin.at("name"),
            )


def _publishes(variant: Variant, every: tuple[Variant, ...]) -> bool:
    seen = set()
    current: Variant | None = variant
    while current is not None and current.name not in seen:
        if current.publish_every is not None and current.publish_every > 0:
            return True
        seen.add(current.name)
        current = next((v for v in every if v.name == current.extends), None) if current.extends else None
    return False


CHECK = Check(run=run)
