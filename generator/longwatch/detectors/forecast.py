"""Forecast: a straight line through the recent past crosses a limit soon.

## What it sees
`predict_linear` over `history`, `within` ahead, against `below` or `above`; with `of`, as a share of another signal. A floor
keeps it quiet while there is plenty, since a clean-up or a restart makes nonsense of the line.

## Absence and NaN
Silent when the series vanish; the exporter's own `up` shows that. NaN passes no comparison.

## Parameters
`signal`, `of`, `below` or `above`, `within`, `history`, `floor` (share of `of` below which it may speak).

## Sources
IDEFICS: host memory leaked in a line over days; checkpoints fill disks in steps, so the history spans several saves.
"""

from __future__ import annotations

from typing import cast

from longwatch.catalogue.signals import SIGNALS
from longwatch.ir.model import Comparison, Guard, Join, Window
from longwatch.plugins.front import Detector, Device, Lowered, Proof
from longwatch.plugins.reading import ClusterReader, FamilyReader
from longwatch.policy.document import AlertParameters
from longwatch.policy.model import AlertSetting
from longwatch.units import Duration, Percent, Threshold, number, promql_duration


class Parameters(AlertParameters, frozen=True, kw_only=True):
    signal: str
    of: str | None = None
    below: Threshold | None = None
    above: Threshold | None = None
    within: Duration
    history: Duration | None = None
    floor: Percent | None = None


def needs(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> str:
    parameters = cast(Parameters, setting.parameters)
    missing = [role for role in (parameters.signal, parameters.of) if role and not reader.has(role)]
    return ", ".join(missing)


def history_of(reader: FamilyReader | ClusterReader, parameters: Parameters) -> float:
    if parameters.history is not None:
        return float(parameters.history)
    least = reader.publications(30) if isinstance(reader, FamilyReader) else 3600.0
    return max(float(parameters.within), least)


def lower(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> tuple[Lowered, ...]:
    parameters = cast(Parameters, setting.parameters)
    role, within, history = parameters.signal, float(parameters.within), history_of(reader, parameters)
    signal = SIGNALS[role]
    limit = parameters.below if parameters.below is not None else parameters.above
    assert limit is not None
    span = promql_duration(history)
    guards: tuple[Guard, ...] = ()
    joins: tuple[Join, ...] = ()
    if isinstance(reader, FamilyReader):
        predicted = f"predict_linear({reader.level(role)}[{span}], {within:g})"
        identity = reader.identity
        guards = (*reader.settled(history), reader.active())
    else:
        identity = reader.subject(role)
        predicted = reader.per_subject(role, "predict_linear({}" + f"[{span}], {within:g})")
        if parameters.of:
            whole = reader.per_subject(parameters.of)
            predicted = f"{predicted} / {whole}"
            if parameters.floor is not None:
                guards = (
                    Guard(
                        expr=f"{reader.per_subject(role)} / {whole} < {float(parameters.floor):g}",
                        on=identity,
                        reason=f"less than {float(parameters.floor) * 100:g} % is left",
                    ),
                )
        if "node" in identity and signal.per == "node" and reader.has("placement"):
            joins = (reader.placed(optional=True),)
    shown = f"{float(limit) * 100:g} %" if limit.relative else f"{number(float(limit))} {signal.measure}".strip()
    value = (
        "{{ $value | humanizePercentage }}"
        if parameters.of
        else '{{ printf "%.4g" $value }}' + f" {signal.measure}".rstrip()
    )
    side = "below" if parameters.below is not None else "above"
    return (
        Lowered(
            conditions=(
                Comparison(
                    left=predicted,
                    operator="<" if side == "below" else ">",
                    right=float(limit),
                    unit="percentunit" if parameters.of else signal.unit,
                ),
            ),
            guards=guards,
            joins=joins,
            for_=900.0,
            identity=identity,
            summary=f"{signal.title.lower()} runs out"
            if side == "below"
            else f"{signal.title.lower()} is growing towards its limit",
            seen=f"{signal.title.lower()} would be at {value} in {promql_duration(within)}",
            expected=f"not {side} {shown} within {promql_duration(within)}",
            absence="goes silent when the series vanish",
            nan="NaN passes no comparison",
            windows=(
                Window(name="history", value=span, reason="long enough to span several saves or publications"),
                Window(name="within", value=promql_duration(within), reason="how far ahead the line is drawn"),
            ),
            panel_title=f"{signal.title} in {promql_duration(within)}",
            signals=tuple(r for r in (role, parameters.of) if r),
        ),
    )


def prove(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> tuple[Proof, ...]:
    parameters = cast(Parameters, setting.parameters)
    if isinstance(reader, FamilyReader) or not parameters.of:
        return ()
    labels = {
        "node": "node-a",
        **({"mountpoint": "/scratch"} if SIGNALS[parameters.signal].per == "filesystem" else {}),
    }
    gib = 2.0**30
    hours = 12
    whole = Device(role=parameters.of, labels=labels, values=((hours * 3600, 1000 * gib),))
    falling = tuple((600.0, (400 - 5 * i) * gib) for i in range(hours * 6))
    plenty = tuple((600.0, (990 - 10 * i) * gib) for i in range(7 * 6))
    key = parameters.signal.replace("_", "-")
    return (
        Proof(
            key=f"{key}-runs-out",
            title="40 % left, 3 % of it gone every hour",
            devices=(whole, Device(role=parameters.signal, labels=labels, values=falling)),
            fires=((hours * 3600 - 60, labels),),
            source="IDEFICS: a leak over days, exit at 95 %",
        ),
        Proof(
            key=f"{key}-plenty-left",
            title="twice the slope, but more than half of it left",
            devices=(whole, Device(role=parameters.signal, labels=labels, values=plenty)),
            quiet_until=hours * 3600 - 60,
        ),
    )


DETECTOR = Detector(
    title="A limit that is coming near", scope="both", parameters=Parameters, needs=needs, lower=lower, prove=prove
)
