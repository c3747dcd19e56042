"""Checkpoint age: the last good checkpoint is too old, or there is none.

## What it sees
Time since the last successful save; for a run that has never saved, time since its first step.

## Absence and NaN
Silent when the run is gone (RunVanished). A missing timestamp counts as never saved.

## Parameters
`intervals`: how many checkpoint intervals (lifecycle.checkpoints.every) may pass; 2 by default, plus the time of a save.

## Sources
BLOOM lost 7.3 hours to a crash two steps before a save.
"""

from __future__ import annotations

from typing import Annotated, cast

from msgspec import Meta

from longwatch.ir import names
from longwatch.ir.model import Comparison, Window
from longwatch.plugins.front import Act, Detector, History, Lowered, Proof
from longwatch.plugins.reading import ClusterReader, FamilyReader
from longwatch.policy.document import AlertParameters
from longwatch.policy.model import AlertSetting
from longwatch.units import promql_duration


class Parameters(AlertParameters, frozen=True, kw_only=True):
    intervals: Annotated[float, Meta(ge=1)] = 2.0


def limit_of(reader: FamilyReader, setting: AlertSetting) -> float:
    checkpoints = reader.family.document.lifecycle.checkpoints
    assert checkpoints is not None
    return cast(Parameters, setting.parameters).intervals * float(checkpoints.every) + float(checkpoints.save)


def needs(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> str:
    assert isinstance(reader, FamilyReader)
    if not reader.has("checkpoint"):
        return "the time of the last good checkpoint"
    return (
        "" if reader.family.document.lifecycle.checkpoints else "lifecycle.checkpoints (how often a checkpoint is due)"
    )


def lower(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> tuple[Lowered, ...]:
    assert isinstance(reader, FamilyReader)
    limit = limit_of(reader, setting)
    checkpoints = reader.family.document.lifecycle.checkpoints
    assert checkpoints is not None
    every = float(checkpoints.every)
    saved = f"({reader.per_run('checkpoint', scaled=True)} > 0)"
    age = f"(time() - {saved}) or on ({reader.by}) (time() - {reader.recorded(names.FIRST_STEP)})"
    return (
        Lowered(
            conditions=(Comparison(left=age, operator=">", right=limit, unit="s"),),
            guards=(reader.active(), reader.stepped()),
            for_=300.0,
            summary="has no recent checkpoint",
            seen="the last good checkpoint is {{ $value | humanizeDuration }} old",
            expected=f"one every {promql_duration(every)}; {promql_duration(limit)} is too old",
            absence="a missing timestamp counts as never saved; a run that is gone is RunVanished's",
            nan="a NaN timestamp counts as never saved",
            windows=(
                Window(
                    name="limit", value=promql_duration(limit), reason="checkpoint intervals plus the time of a save"
                ),
            ),
            panel_title="Age of the last good checkpoint",
            signals=("checkpoint",),
        ),
    )


def prove(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> tuple[Proof, ...]:
    assert isinstance(reader, FamilyReader)
    checkpoints = reader.family.document.lifecycle.checkpoints
    assert checkpoints is not None
    every = float(checkpoints.every)
    healthy = Act(phase="training", seconds=reader.lasting(max(2 * every, 3600.0)))
    frozen = Act(phase="training", seconds=reader.lasting(4 * every + 3600), factors={"checkpoint": (0.0,)})
    start = healthy.seconds
    return (
        Proof(
            key="no-more-checkpoints",
            title="training goes on, saves stop",
            runs=(History(acts=(healthy, frozen)),),
            fires=((start + frozen.seconds, {}),),
            quiet_until=start,
            source="BLOOM: 7.3 h lost two steps before a save",
        ),
        Proof(
            key="checkpoints-on-time",
            title="a save at every interval",
            runs=(History(acts=(healthy, healthy, healthy)),),
            quiet_until=3 * healthy.seconds,
        ),
    )


DETECTOR = Detector(
    title="Too much work unsaved", scope="family", parameters=Parameters, needs=needs, lower=lower, prove=prove
)
