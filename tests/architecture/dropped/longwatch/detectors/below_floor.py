"""Below floor: a level under a number that it must never fall below.

## What it sees
A signal of an active run below `floor`, in the signal's base unit.

## Absence and NaN
Silent when the series vanish (SignalMissing covers that). NaN passes no comparison.

## Parameters
`signal`; `floor`.
"""

from __future__ import annotations

from typing import cast

from longwatch.catalogue.signals import SIGNALS
from longwatch.ir.model import Comparison
from longwatch.plugins.front import Act, Detector, History, Lowered, Proof
from longwatch.plugins.reading import ClusterReader, FamilyReader
from longwatch.policy.document import AlertParameters
from longwatch.policy.model import AlertSetting
from longwatch.units import Threshold


class Parameters(AlertParameters, frozen=True, kw_only=True):
    signal: str
    floor: Threshold


def needs(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> str:
    role = cast(Parameters, setting.parameters).signal
    return "" if reader.has(role) else role


def lower(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> tuple[Lowered, ...]:
    assert isinstance(reader, FamilyReader)
    parameters = cast(Parameters, setting.parameters)
    title = SIGNALS[parameters.signal].title
    return (
        Lowered(
            conditions=(Comparison(left=reader.level(parameters.signal), operator="<", right=float(parameters.floor)),),
            guards=(reader.active(),),
            for_=reader.holds(1),
            summary=f"{title.lower()} is below its floor",
            seen=f"{title.lower()} is {{{{ $value }}}}",
            expected=f"at least {parameters.floor.written}",
            absence="goes silent when the series vanish; SignalMissing covers that",
            nan="NaN passes no comparison",
            panel_title=f"{title} and its floor",
            signals=(parameters.signal,),
        ),
    )


def prove(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> tuple[Proof, ...]:
    assert isinstance(reader, FamilyReader)
    role = cast(Parameters, setting.parameters).signal
    healthy = Act(phase="training", seconds=reader.publications(10))
    fallen = Act(phase="training", seconds=reader.publications(10), factors={role: (0.0,)})
    return (
        Proof(
            key="falls-to-zero",
            title=f"{role} falls to zero",
            runs=(History(acts=(healthy, fallen)),),
            fires=((healthy.seconds + fallen.seconds, {}),),
            quiet_until=healthy.seconds,
        ),
        Proof(key="healthy", title="a healthy run", runs=(History(acts=(healthy,)),), quiet_until=healthy.seconds),
    )


DETECTOR = Detector(
    title="A level below its floor", scope="family", parameters=Parameters, needs=needs, lower=lower, prove=prove
)
