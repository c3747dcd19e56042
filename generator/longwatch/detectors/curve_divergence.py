"""Curve divergence: the loss stands above the committed curve of a recorded run.

## What it sees
The median of a signal over at least 30 steps and 30 publications, against the committed curve read at the median of x in
the same window. x is a counter that survives restarts; before the first point and beyond the last the curve is flat.

## What it does not see
The first 2 % of the planned x, where every run is wild; a single outlier (that is a spike).

## Absence and NaN
Silent when either series vanishes (SignalMissing). NaN passes no comparison (not-finite covers).

## Parameters
`signal`; `band`: by default the curve's own; `publications`: 30, at least 4 where a run has too few.

## Sources
With a band of 5 % and one publication a healthy BERT fires 721 times; IDEFICS drifted over three hours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, cast

from msgspec import Meta

from longwatch.catalogue.replays import DIVERGENCE
from longwatch.catalogue.signals import SIGNALS
from longwatch.ir import names
from longwatch.ir.model import Comparison, Guard, Record, Window
from longwatch.plugins.front import Act, Detector, History, Lowered, Proof
from longwatch.plugins.reading import ClusterReader, FamilyReader
from longwatch.policy.document import AlertParameters, Curve
from longwatch.policy.model import AlertSetting
from longwatch.units import Percent, number, promql_duration

_FROM = 0.02
"""Share of the planned x from which on the curve is compared."""


class Parameters(AlertParameters, frozen=True, kw_only=True):
    signal: str
    band: Percent | None = None
    publications: Annotated[int, Meta(ge=4)] = 30


def curves(reader: FamilyReader, role: str) -> tuple[tuple[str, Curve], ...]:
    """(variant, curve) of each variant that has one."""
    found = ((v.name, v.baselines[role].curve) for v in reader.family.variants if role in v.baselines)
    return tuple((name, curve) for name, curve in found if curve is not None)


def points(curve: Curve) -> tuple[tuple[float, float], ...]:
    return tuple(sorted((float(x), y) for x, y in curve.points.items()))


def interpolated(x: str, curve: Curve) -> str:
    """The curve at PromQL `x`: the first value plus a clamped piece of each segment."""
    log = curve.interpolate == "log"
    known = points(curve)
    axis = [math.log(px) if log else px for px, _ in known]
    terms = [number(known[0][1])]
    for (left, y0), (right, y1) in zip(
        zip(axis, known, strict=True), list(zip(axis, known, strict=True))[1:], strict=False
    ):
        slope = (y1[1] - y0[1]) / (right - left)
        terms.append(f"(clamp({x}, {left:.12g}, {right:.12g}) - {left:.12g}) * {slope:.12g}")
    return " + ".join(terms)


def needs(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> str:
    assert isinstance(reader, FamilyReader)
    role = cast(Parameters, setting.parameters).signal
    if not reader.has(role):
        return role
    found = curves(reader, role)
    if not found:
        return f"a committed curve of {role} (variants: baselines: {role}: curve)"
    if len({(curve.x, curve.interpolate) for _, curve in found}) > 1:
        return f"one x and one interpolation for all curves of {role}"
    lost = [c.x for _, c in found if not reader.has(c.x) or c.x not in reader.family.survives_restart]
    return f"{lost[0]} as a signal that survives restarts" if lost else ""


def _x_of(found: Sequence[tuple[str, Curve]]) -> str:
    return found[0][1].x


def lower(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> tuple[Lowered, ...]:
    assert isinstance(reader, FamilyReader)
    parameters = cast(Parameters, setting.parameters)
    role = parameters.signal
    title = SIGNALS[role].title
    found = curves(reader, role)
    window = max(reader.publications(parameters.publications), 30 * reader.family.step_time)
    span = promql_duration(window)
    x_role = _x_of(found)
    x = f"quantile_over_time(0.5, {reader.level(x_role)}[{span}])"
    x_name, curve_name = names.level(role, "curve_x"), names.level(role, "curve")
    log = found[0][1].interpolate == "log"
    records = [
        Record(
            name=x_name,
            expr=f"ln({x} > 0)" if log else x,
            reason=f"{'the logarithm of ' if log else ''}the median {x_role}, at which the curve is read",
        )
    ]
    x_here = reader.recorded(x_name)
    for variant, curve in found:
        of_variant = names.selector(names.VARIANT, {names.FAMILY: reader.family.name, "variant": variant})
        records.append(
            Record(
                name=curve_name,
                expr=f"({interpolated(x_here, curve)}) and on ({reader.by}) {of_variant}",
                labels={"variant": variant},
                reason=f"the committed curve of variant {variant}",
            )
        )
    band = float(parameters.band if parameters.band is not None else max(c.band for _, c in found))
    median = f"quantile_over_time(0.5, {reader.level(role)}[{span}])"
    start = _FROM * min(points(c)[-1][0] for _, c in found)
    return (
        Lowered(
            conditions=(
                Comparison(
                    left=f"{median} / on ({reader.by}) max by ({reader.by}) ({reader.recorded(curve_name)})",
                    operator=">",
                    right=1 + band,
                    unit="percentunit",
                ),
            ),
            guards=(
                Guard(expr=f"{x} >= {start:.12g}", on=reader.identity, reason="past the first 2 % of the plan"),
                *reader.settled(window),
                reader.active(),
            ),
            records=tuple(records),
            for_=reader.holds(3),
            summary=f"{title.lower()} leaves its committed curve",
            seen=f'median {title.lower()} of {span} at {{{{ printf "%.2f" $value }}}} times the committed curve',
            expected=f"at most {number(round(1 + band, 4))} times the curve of the recorded run at the same {x_role}",
            absence="goes silent when the signal or x vanishes; SignalMissing covers that",
            nan="NaN passes no comparison; the not-finite alert of this signal covers it",
            pauses="signal and x are both held while training pauses",
            windows=(
                Window(
                    name="median", value=span, reason=f"{parameters.publications} publications and 30 steps at least"
                ),
                Window(name="for", value=promql_duration(reader.holds(3)), reason="three publications"),
                reader.pace(),
            ),
            panel_title=f"{title} over its committed curve",
            signals=(role, x_role),
        ),
    )


def prove(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> tuple[Proof, ...]:
    assert isinstance(reader, FamilyReader)
    parameters = cast(Parameters, setting.parameters)
    role = parameters.signal
    window = max(reader.publications(parameters.publications), 30 * reader.family.step_time)
    warm = reader.family.document.lifecycle.warm_up.steps * reader.family.step_time
    healthy = Act(phase="training", seconds=reader.lasting(warm + 2 * window))
    drift = Act(phase="training", seconds=reader.lasting(3 * 3600.0), ramps={role: DIVERGENCE.factors[-1]})
    stays = Act(phase="training", seconds=reader.lasting(2 * window), factors={role: (DIVERGENCE.factors[-1],)})
    end = healthy.seconds + drift.seconds + stays.seconds
    return (
        Proof(
            key=f"{role}-drifts-from-its-curve".replace("_", "-"),
            title=f"{role} drifts 30 % above its curve over three hours",
            runs=(History(acts=(healthy, drift, stays)),),
            fires=((end, {}),),
            quiet_until=healthy.seconds,
            companions=("LossSpike",),
            source=DIVERGENCE.source,
        ),
        Proof(
            key=f"{role}-outlier-above-its-curve".replace("_", "-"),
            title="a few publications at 2.2 times the curve, for longer than the `for`",
            runs=(
                History(
                    acts=(
                        healthy,
                        Act(
                            phase="training",
                            seconds=reader.lasting(
                                reader.holds(3) + 2 * max(reader.family.publish_every, reader.family.rules)
                            ),
                            factors={role: (2.2,)},
                        ),
                        healthy,
                    )
                ),
            ),
            quiet_until=2 * healthy.seconds,
            companions=("LossSpike",),
            source="GluonNLP BERT log: 11 isolated outliers of up to 2.2 times",
        ),
    )


DETECTOR = Detector(
    title="Above the committed curve", scope="family", parameters=Parameters, needs=needs, lower=lower, prove=prove
)
