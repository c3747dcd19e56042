"""Roll call: the names of all alerts, one file for each family and one for the whole fleet."""

from __future__ import annotations

from longwatch.artifact import Artifact
from longwatch.ir.model import Plan, Shared, Summary
from longwatch.plugins.back import Emitter


def plan(plan: Plan, shared: Shared) -> tuple[Artifact, ...]:
    text = "".join(f"{alert.name}\n" for alert in plan.alerts)
    return (Artifact(path=f"roll-call/{plan.name}.txt", text=text, target="roll_call", sources=plan.sources),)


def fleet(summaries: tuple[Summary, ...], shared: Shared) -> tuple[Artifact, ...]:
    text = "".join(f"{summary.name}\n" for summary in summaries)
    return (Artifact(path="roll-call/fleet.txt", text=text, target="roll_call", sources=shared.sources),)


EMITTER = Emitter(title="Roll call", plan=plan, fleet=fleet)
