"""Not finite: a NaN or an infinity on any rank.

## What it sees
Raw series, before any aggregation: `max by` hides one rank's NaN, and every comparison with NaN is false. The sum over
five minutes is NaN or infinite as soon as one sample in it is, so a process that exits within a minute is still seen.

## Absence and NaN
NaN is what it is made for. When the series vanish, the last five minutes are still looked at; then SignalMissing or
RunVanished covers.

## Parameters
`signal`: the role, e.g. loss. Under fp16 with a dynamic loss scale an infinite gradient norm on skipped steps is normal.

## Sources
0.3 % of incidents at ByteRobust; the public recipe `loss == NaN` never fires.
"""

from __future__ import annotations

from typing import cast

from longwatch.catalogue.signals import SIGNALS
from longwatch.ir.model import Comparison, Window
from longwatch.plugins.front import Act, Detector, History, Lowered, Proof
from longwatch.plugins.reading import ClusterReader, FamilyReader
from longwatch.policy.document import AlertParameters
from longwatch.policy.model import AlertSetting
from longwatch.units import promql_duration

_WINDOW = 270.0
"""Seconds; not a multiple of usual scrape intervals, so that Prometheus 2 and 3 read the same samples."""


class Parameters(AlertParameters, frozen=True, kw_only=True):
    signal: str


def needs(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> str:
    role = cast(Parameters, setting.parameters).signal
    return "" if reader.has(role) else role


def lower(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> tuple[Lowered, ...]:
    assert isinstance(reader, FamilyReader)
    role = cast(Parameters, setting.parameters).signal
    title = SIGNALS[role].title
    # A spike that this alert silences must not be due after it is over.
    keep = max(1800.0, reader.holds(1) + 600)
    total = reader.raw(role, "sum_over_time({}" + f"[{promql_duration(_WINDOW)}])")
    left = f"count by ({reader.by}) ((({total}) != ({total})) or (abs({total}) == Inf))"
    return (
        Lowered(
            conditions=(Comparison(left=left, operator=">", right=0.0, unit="short"),),
            keep_firing_for=keep,
            summary=f"{title.lower()} is not a finite number",
            seen=f'{title.lower()} is NaN or infinite on {{{{ printf "%.0f" $value }}}} series',
            expected=f"a finite {title.lower()} on every rank",
            absence="the last five minutes stay in view after the series vanish; then RunVanished or SignalMissing covers",
            nan="fires on NaN and on infinity of any rank",
            windows=(
                Window(
                    name="window", value=promql_duration(_WINDOW), reason="so that a value before an exit is still seen"
                ),
                Window(
                    name="keep firing",
                    value=promql_duration(keep),
                    reason="the process often exits within a minute; 30 minutes, and longer than a spike takes to fire",
                ),
            ),
            panel_title=f"Series whose {title.lower()} is not finite",
            signals=(role,),
        ),
    )


def prove(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> tuple[Proof, ...]:
    assert isinstance(reader, FamilyReader)
    role = cast(Parameters, setting.parameters).signal
    healthy = Act(phase="training", seconds=reader.lasting(reader.publications(20)))
    start, step = healthy.seconds, reader.lasting(2 * max(reader.family.publish_every, reader.family.rules))
    exits = reader.lasting(1200)
    others = ("LossNotFinite", "GradNormNotFinite")
    nan = float("nan")
    return (
        Proof(
            key=f"{role}-nan-on-one-rank".replace("_", "-"),
            title=f"{role} becomes NaN on one rank of several",
            runs=(History(acts=(healthy, Act(phase="training", seconds=step, factors={role: (nan,)}, one_rank=role))),),
            fires=((start + step, {}),),
            quiet_until=start - reader.grid,
            companions=others,
            source="AlgoPerf Criteo, 2025-03-16: NaN from step 63 on",
        ),
        Proof(
            key=f"{role}-infinite-then-exit".replace("_", "-"),
            title=f"{role} becomes infinite and the process exits",
            runs=(
                History(
                    acts=(
                        healthy,
                        Act(
                            phase="training",
                            seconds=reader.lasting(reader.family.rules),
                            factors={role: (float("inf"),)},
                        ),
                        Act(phase="gone", seconds=exits),
                    )
                ),
            ),
            fires=((start + 900, {}),),
            quiet_until=start - reader.grid,
            companions=(*others, "RunVanished", "RunNotRecovered"),
        ),
        Proof(
            key=f"{role}-large-but-finite".replace("_", "-"),
            title=f"{role} is five times as large, but finite",
            runs=(History(acts=(healthy, Act(phase="training", seconds=step, factors={role: (5.0,)}))),),
            quiet_until=start + step,
            companions=("LossSpike", "LossDiverging", "GradNormExploding"),
        ),
    )


DETECTOR = Detector(
    title="A value that is no number", scope="family", parameters=Parameters, needs=needs, lower=lower, prove=prove
)
