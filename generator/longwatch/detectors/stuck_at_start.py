"""Stuck at start: the run was expected, but has not made its first step.

## What it sees
Time since this attempt began (phase initialising, the first sample, or the scheduler's word that the job runs) without a step.

## Absence and NaN
With `expected: scheduler` it sees a job that exports nothing at all. With the other two the run must export something;
a process that dies before its first sample is seen by the scheduler only.

## Parameters
`limit`: how long a start may take; by default `lifecycle.pauses.initialising.limit`, else 45 minutes.

## Sources
Marin's contract: 45 minutes, then 5.
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
    limit: Duration | None = None
    """How long a start may take."""


def limit_of(reader: FamilyReader, setting: AlertSetting) -> float:
    written = cast(Parameters, setting.parameters).limit
    pause = reader.family.document.lifecycle.pauses.get("initialising")
    return float(written if written is not None else pause.limit if pause else 2700.0)


def needs(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> str:
    assert isinstance(reader, FamilyReader)
    expected = reader.family.document.lifecycle.expected
    if expected == "scheduler":
        return "" if reader.has("job_running") else "job_running from a scheduler's exporter"
    if expected == "phase":
        return "" if reader.has("phase") else "the phase"
    # A heartbeat that first appears with the first step cannot show a start that never ends.
    return "" if reader.has("last_step") or reader.has("step") else "a signal that exists before the first step"


def lower(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> tuple[Lowered, ...]:
    assert isinstance(reader, FamilyReader)
    started, progress = reader.recorded(names.ATTEMPT_START), reader.recorded(names.PROGRESS)
    # The first step shows one publication after it was made.
    limit = limit_of(reader, setting) + reader.family.publish_every
    return (
        Lowered(
            conditions=(Comparison(left=f"time() - {started}", operator=">", right=limit, unit="s"),),
            guards=(
                Guard(
                    expr=f"{progress} > on ({reader.by}) {started}",
                    on=reader.identity,
                    unless=True,
                    reason="this attempt has made a step",
                ),
                reader.active(),
            ),
            for_=300.0,
            summary="has not made its first step",
            seen="started {{ $value | humanizeDuration }} ago, no step yet",
            expected=f"the first step within {promql_duration(limit)}",
            absence="goes silent when the run's last sign of life vanishes; RunVanished covers that",
            nan="made from timestamps, which are never NaN",
            pauses="initialising is quiet inside its limit",
            windows=(
                Window(
                    name="limit",
                    value=promql_duration(limit),
                    reason="lifecycle.pauses.initialising.limit, else 45 minutes; plus one publication",
                ),
            ),
            panel_title="Time since the start without a step",
            signals=tuple(role for role in HEARTBEATS if reader.has(role))[:1],
        ),
    )


def prove(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> tuple[Proof, ...]:
    assert isinstance(reader, FamilyReader)
    limit = limit_of(reader, setting)
    stuck = reader.lasting(max(3 * 3600.0, limit + reader.family.publish_every + 3600.0))
    slow = Act(phase="initialising", seconds=reader.lasting(min(1200.0, 0.7 * limit)))
    training = Act(phase="training", seconds=reader.lasting(max(3600.0, 4 * reader.family.publish_every)))
    return (
        Proof(
            key="stuck-start",
            title="one node never joins the rendezvous",
            runs=(History(acts=(Act(phase="initialising", seconds=stuck),)),),
            fires=((stuck, {}),),
            quiet_until=min(900.0, limit),
            source="Marin's contract allows 45 minutes",
        ),
        Proof(
            key="slow-start",
            title="a cold image pull and worker start of 20 minutes",
            runs=(History(acts=(slow, training)),),
            quiet_until=slow.seconds + training.seconds,
            source="a GKE demonstration: 721 s of worker start, 450 s of image pull",
        ),
    )


DETECTOR = Detector(
    title="The run does not get going", scope="family", parameters=Parameters, needs=needs, lower=lower, prove=prove
)
