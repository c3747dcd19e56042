"""Spike: a value far above its own trailing median.

## What it sees
The ratio of a signal to its median over a window of at least an hour and 30 publications. A median forgets outliers, so
the spike itself does not raise it; the window is more than twice the `for`.

## What it does not see
A slow rise: the median follows it (the curve and the baseline see that). The first window of an attempt and the warm-up are
quiet on purpose.

## Absence and NaN
Silent when the series vanish (SignalMissing). NaN makes the ratio NaN, which no comparison passes (not-finite covers).

## Parameters
`signal`; `above`: percentage of the median, e.g. 130%; `window`.

## Sources
BLOOM, 2022-04-12: loss ×2.3 within five steps, gradient norm ×10 three steps before. PaLM: about 20 spikes in a run.
"""

from __future__ import annotations

from typing import cast

from longwatch.catalogue.replays import GRAD_NORM_EXPLOSION, LOSS_SPIKE
from longwatch.catalogue.signals import SIGNALS
from longwatch.ir.model import Comparison, Guard, Window
from longwatch.plugins.front import Act, Detector, History, Lowered, Proof
from longwatch.plugins.reading import ClusterReader, FamilyReader
from longwatch.policy.document import AlertParameters
from longwatch.policy.model import AlertSetting
from longwatch.units import Duration, Percent, number, promql_duration


class Parameters(AlertParameters, frozen=True, kw_only=True):
    signal: str
    above: Percent
    """Of the trailing median; 130% is 1.3 times."""
    window: Duration | None = None
    """Of the median."""


def window_of(reader: FamilyReader, setting: AlertSetting) -> float:
    written = cast(Parameters, setting.parameters).window
    return float(written) if written is not None else max(3630.0, reader.publications(30))


def needs(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> str:
    role = cast(Parameters, setting.parameters).signal
    return "" if reader.has(role) else role


def lower(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> tuple[Lowered, ...]:
    assert isinstance(reader, FamilyReader)
    parameters = cast(Parameters, setting.parameters)
    role, times = parameters.signal, float(parameters.above)
    window = window_of(reader, setting)
    level = reader.level(role)
    median = f"quantile_over_time(0.5, {level}[{promql_duration(window)}])"
    title = SIGNALS[role].title
    hold = reader.holds(1)
    return (
        Lowered(
            conditions=(Comparison(left=f"{level} / {median}", operator=">", right=times, unit="short"),),
            guards=(
                Guard(
                    expr=f"{median} > 0", on=reader.identity, reason="a ratio to a median of zero or less says nothing"
                ),
                *reader.settled(window),
                reader.active(),
            ),
            for_=hold,
            summary=f"{title.lower()} spikes",
            seen=f'{title.lower()} is {{{{ printf "%.1f" $value }}}} times its median of the last {promql_duration(window)}',
            expected=f"at most {number(times)} times that median",
            absence="goes silent when the series vanish; SignalMissing covers that",
            nan="NaN passes no comparison; the not-finite alert of this signal covers it",
            pauses="the gauge is held while training pauses, so a pause neither raises nor clears it",
            windows=(
                Window(
                    name="median",
                    value=promql_duration(window),
                    reason="at least an hour and 30 publications, more than twice the for",
                ),
                Window(name="for", value=promql_duration(hold), reason="one publication, in whole evaluations"),
                reader.pace(),
            ),
            panel_title=f"{title} over its trailing median",
            signals=(role,),
        ),
    )


def prove(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> tuple[Proof, ...]:
    assert isinstance(reader, FamilyReader)
    role = cast(Parameters, setting.parameters).signal
    window = window_of(reader, setting)
    warm = reader.family.document.lifecycle.warm_up.steps * reader.family.step_time
    healthy = Act(phase="training", seconds=reader.lasting(warm + window + reader.publications(10)))
    start, publish = healthy.seconds, max(reader.family.publish_every, reader.family.rules)
    replay = GRAD_NORM_EXPLOSION if role == "grad_norm" else LOSS_SPIKE
    spike = Act(phase="training", seconds=reader.lasting(len(replay.factors) * publish), factors={role: replay.factors})
    early = Act(phase="training", seconds=reader.lasting(10 * publish))
    nudge = Act(phase="training", seconds=reader.lasting(3 * publish), factors={role: (1.2,)})
    key = role.replace("_", "-")
    peak = replay.factors.index(max(replay.factors)) * publish
    written = setting.parameters.for_
    hold = reader.lasting(float(written) if written is not None else reader.holds(1))
    hold += reader.grid if publish % reader.grid else 0.0  # the publication itself shows at the next sample only
    return (
        Proof(
            key=f"{key}-spike",
            title=f"{role} spikes as in {replay.source}",
            runs=(History(acts=(healthy, spike, early)),),
            fires=((start + peak + hold, {}),),
            quiet_until=start,
            companions=("LossSpike", "LossDiverging"),
            source=replay.source,
        ),
        Proof(
            key=f"{key}-spike-in-the-first-minutes",
            title="the same spike ten publications after the start, when every run is wild",
            runs=(History(acts=(early, spike, early)),),
            quiet_until=early.seconds * 2 + spike.seconds,
        ),
        Proof(
            key=f"{key}-noise",
            title=f"{role} 20 % up for three publications",
            runs=(History(acts=(healthy, nudge, early)),),
            quiet_until=start + nudge.seconds + early.seconds,
        ),
    )


DETECTOR = Detector(
    title="A value far above its trailing median",
    scope="family",
    parameters=Parameters,
    needs=needs,
    lower=lower,
    prove=prove,
)
