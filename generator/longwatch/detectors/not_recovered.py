"""Not recovered: a vanished run has not come back within its restart budget.

## What it sees
The same age as vanished, against `lifecycle.restarts.budget`. Inside the budget nobody is paged: schedulers requeue.

## Absence and NaN
Absence is what it is made for; it lasts until the run returns, finishes or is forgotten, and forgetting is not recovery.

## Parameters
`after`: the budget, if this alert should use another one.
"""

from __future__ import annotations

from typing import cast

from longwatch.ir import names
from longwatch.ir.model import Comparison, Guard, Window
from longwatch.plugins.front import Act, Detector, History, Lowered, Proof
from longwatch.plugins.reading import HEARTBEATS, ClusterReader, FamilyReader
from longwatch.policy.document import AlertParameters
from longwatch.policy.model import AlertSetting
from longwatch.units import Duration, promql_duration


class Parameters(AlertParameters, frozen=True, kw_only=True):
    after: Duration | None = None
    """How long a run may be away; by default the restart budget."""


def needs(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> str:
    assert isinstance(reader, FamilyReader)
    if not reader.first(HEARTBEATS):
        return f"a heartbeat ({', '.join(HEARTBEATS)})"
    return "" if reader.family.document.lifecycle.finished else "a finish source (lifecycle.finished)"


def lower(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> tuple[Lowered, ...]:
    assert isinstance(reader, FamilyReader)
    written = cast(Parameters, setting.parameters).after
    lifecycle = reader.family.document.lifecycle
    budget = float(written if written is not None else lifecycle.restarts.budget)
    forget = promql_duration(lifecycle.forget_after)
    return (
        Lowered(
            conditions=(
                Comparison(left=f"time() - {reader.recorded(names.SEEN)}", operator=">", right=budget, unit="s"),
            ),
            guards=(
                Guard(
                    expr=reader.recorded(names.OVER), on=reader.identity, unless=True, reason="the run ended as planned"
                ),
            ),
            summary="has not come back",
            seen="away for {{ $value | humanizeDuration }}, and it has not finished",
            expected=f"back within its restart budget of {promql_duration(budget)}",
            absence=f"fires on absence, until the run returns, finishes, or is forgotten after {forget}: that is no recovery",
            nan="made from timestamps, which are never NaN",
            windows=(Window(name="after", value=promql_duration(budget), reason="lifecycle.restarts.budget"),),
            panel_title="Time since the run was last seen, against its restart budget",
            signals=(reader.first(HEARTBEATS),),
        ),
    )


def prove(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> tuple[Proof, ...]:
    assert isinstance(reader, FamilyReader)
    healthy = Act(phase="training", seconds=reader.lasting(reader.publications(20)))
    written = cast(Parameters, setting.parameters).after
    budget = float(written if written is not None else reader.family.document.lifecycle.restarts.budget)
    dead = reader.lasting(max(3 * 3600.0, 2 * budget))
    # The requeue that schedulers need, or less where the policy allows less.
    queued = Act(phase="queued", seconds=reader.lasting(min(720.0, 0.6 * budget)))
    start = healthy.seconds
    return (
        Proof(
            key="death-without-return",
            title="dead, and nobody restarts it",
            runs=(History(acts=(healthy, Act(phase="gone", seconds=dead))),),
            # The later instant proves that no recovery is announced once look-back and carry have passed.
            fires=((start + budget + 900.0, {}), (start + dead, {})),
            quiet_until=start + queued.seconds,
            companions=("RunVanished",),
            source="OPT-175B: 35 manual restarts in two months",
        ),
        Proof(
            key="requeue-within-budget",
            title="back within the budget",
            runs=(History(acts=(healthy, queued, healthy)),),
            quiet_until=2 * start + queued.seconds,
            companions=("RunVanished",),
        ),
    )


DETECTOR = Detector(
    title="The run did not come back", scope="family", parameters=Parameters, needs=needs, lower=lower, prove=prove
)
