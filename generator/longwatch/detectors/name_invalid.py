"""Name invalid: a run whose name breaks the family's convention.

## What it sees
Active runs whose run label does not match `runs.name_pattern` (an anchored RE2). Links, log queries and the scheduler's join
are made from that name.

## Absence and NaN
Silent for runs that are gone.
"""

from __future__ import annotations

from longwatch.ir import names
from longwatch.ir.model import Comparison
from longwatch.plugins.front import Act, Detector, History, Lowered, Proof
from longwatch.plugins.reading import ClusterReader, FamilyReader
from longwatch.policy.document import AlertParameters
from longwatch.policy.model import AlertSetting


class Parameters(AlertParameters, frozen=True, kw_only=True):
    pass


def needs(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> str:
    assert isinstance(reader, FamilyReader)
    return "" if reader.family.document.runs.name_pattern else "runs.name_pattern"


def lower(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> tuple[Lowered, ...]:
    assert isinstance(reader, FamilyReader)
    pattern = reader.family.document.runs.name_pattern or ""
    left = f"{names.ACTIVE}{{{names.FAMILY}={names.quote(reader.family.name)}, {reader.run_label}!~{names.quote(pattern)}}}"
    return (
        Lowered(
            conditions=(Comparison(left=left, operator=">=", right=0.0, unit="s"),),
            for_=300.0,
            summary="has a name outside the convention",
            seen=f"{reader.run_label} is {{{{ $labels.{reader.run_label} }}}}",
            expected=f"a name that matches {pattern}",
            absence="silent for runs that are gone",
            nan="names are matched, not values",
            panel_title="Runs with a name outside the convention",
            signals=(),
        ),
    )


def prove(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> tuple[Proof, ...]:
    assert isinstance(reader, FamilyReader)
    odd, hour = "Test Run ü 1", reader.lasting(max(3600.0, 4 * reader.family.publish_every))
    return (
        Proof(
            key="run-with-an-odd-name",
            title="a run that was started by hand",
            runs=(History(acts=(Act(phase="training", seconds=hour),), labels={reader.run_label: odd}),),
            fires=((hour, {reader.run_label: odd}),),
            quiet_until=240,
        ),
    )


DETECTOR = Detector(
    title="Names outside the convention", scope="family", parameters=Parameters, needs=needs, lower=lower, prove=prove
)
