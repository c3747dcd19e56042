"""Signal missing: a run is there, but a signal that its alerts read is not.

## What it sees
One rule for each role that this family's alerts read. Every comparison is false when its series is absent, so without this
alert a renamed metric silences the others for ever.

## Absence and NaN
Absence is what it is made for. A NaN is present.

## Parameters
`after`: how long after its first step an attempt may lack a signal; by default the longer of 10 minutes and 4 publications.

## Sources
GKE's managed set has neither XID nor ECC fields; rules that read them load and never fire.
"""

from __future__ import annotations

from typing import cast

from longwatch.catalogue.signals import SIGNALS
from longwatch.ir import names
from longwatch.ir.model import Comparison, Guard, Window
from longwatch.plugins.front import Act, Detector, History, Lowered, Proof
from longwatch.plugins.reading import PROGRESS_ROLES, THROUGHPUT_ROLES, ClusterReader, FamilyReader
from longwatch.policy.document import AlertParameters
from longwatch.policy.model import AlertSetting
from longwatch.units import Duration, promql_duration


class Parameters(AlertParameters, frozen=True, kw_only=True):
    after: Duration | None = None


def after_of(reader: FamilyReader, setting: AlertSetting) -> float:
    written = cast(Parameters, setting.parameters).after
    return float(written) if written is not None else max(600.0, reader.publications(4))


def watched(reader: FamilyReader) -> tuple[str, ...]:
    """Roles that the family's alerts read and its exporters provide; a checkpoint's absence is its own alert's to see."""
    named = [getattr(s.parameters, "signal", None) for s in reader.family.settings]
    judged = {role for v in reader.family.variants for role in v.baselines}
    speed = next((r for r in THROUGHPUT_ROLES if r in judged and reader.has(r)), None)
    roles = dict.fromkeys((*named, reader.first(PROGRESS_ROLES), speed))
    return tuple(role for role in roles if role and reader.has(role) and SIGNALS[role].per == "run")


def needs(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> str:
    assert isinstance(reader, FamilyReader)
    return "" if watched(reader) else "a signal that an alert reads"


def lower(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> tuple[Lowered, ...]:
    assert isinstance(reader, FamilyReader)
    after = after_of(reader, setting)
    active = reader.recorded(names.ACTIVE)
    return tuple(
        Lowered(
            conditions=(
                Comparison(
                    left=f"{active} unless on ({reader.by}) {_series(reader, role)}", operator=">=", right=0.0, unit="s"
                ),
            ),
            guards=(
                Guard(
                    expr=f"time() - {reader.recorded(names.ATTEMPT_STEP)} > {after:g}",
                    on=reader.identity,
                    reason=f"{promql_duration(after)} after the attempt's first step",
                ),
            ),
            for_=600.0,
            labels={"signal": role},
            summary=f"does not export {SIGNALS[role].title.lower()}",
            seen=f"no series plays the role {role} ({', '.join(s.metric.name for s in reader.family.readings[role].sources)})",
            expected=f"{SIGNALS[role].title.lower()} for every run; the alerts that read it are blind",
            absence="fires on absence of this signal; a run that is gone altogether is RunVanished's",
            nan="a NaN is present, so it stays quiet",
            windows=(
                Window(name="after", value=promql_duration(after), reason="10 minutes and 4 publications at least"),
            ),
            panel_title="Runs that lack a signal",
            signals=(role,),
        )
        for role in watched(reader)
    )


def _series(reader: FamilyReader, role: str) -> str:
    histogram = reader.family.readings[role].sources[0].metric.type == "histogram"
    return reader.per_run(role, suffix="_count" if histogram else "")


def prove(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> tuple[Proof, ...]:
    assert isinstance(reader, FamilyReader)
    after = after_of(reader, setting)
    healthy = Act(phase="training", seconds=reader.lasting(after + 600))
    lost_for = reader.lasting(1800)
    progress = reader.first(PROGRESS_ROLES)
    lost = [
        role
        for role in watched(reader)
        if role != progress and reader.family.readings[role].sources[0].metric.type != "histogram"
    ]
    return tuple(
        Proof(
            key=f"{role}-not-exported".replace("_", "-"),
            title=f"the exporter stops exporting {role}",
            runs=(History(acts=(healthy, Act(phase="training", seconds=lost_for, drops=(role,)))),),
            fires=((healthy.seconds + lost_for, {"signal": role}),),
            quiet_until=healthy.seconds,
            source="a field that is not exported: rules load and never fire",
        )
        for role in lost[:2]
    )


DETECTOR = Detector(
    title="A signal is absent", scope="family", parameters=Parameters, needs=needs, lower=lower, prove=prove
)
