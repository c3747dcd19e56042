"""Identity missing: enrolled series that carry no run identity.

## What it sees
Series of the family of which a label of the identity is empty. Twenty such runs would collapse into one series: one hung and one dead, and
nothing fires. Recorded series therefore leave them out, and this alert says so.

## Absence and NaN
Silent when there is no such series, which is the wanted state.
"""

from __future__ import annotations

from longwatch.ir.model import Comparison
from longwatch.plugins.front import Act, Detector, History, Lowered, Proof
from longwatch.plugins.reading import HEARTBEATS, ClusterReader, FamilyReader
from longwatch.policy.document import AlertParameters
from longwatch.policy.model import AlertSetting


class Parameters(AlertParameters, frozen=True, kw_only=True):
    pass


def needs(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> str:
    assert isinstance(reader, FamilyReader)
    if not reader.family.document.runs.select:
        return "runs.select, to tell the family's series from others"
    return "" if reader.first(HEARTBEATS) else "a heartbeat"


def lower(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> tuple[Lowered, ...]:
    assert isinstance(reader, FamilyReader)
    rest = reader.identity[:-1]
    heartbeat = reader.first(HEARTBEATS)
    anonymous = " or ".join(f"({reader.raw(heartbeat, lacking=label)})" for label in reversed(reader.identity))
    return (
        Lowered(
            conditions=(
                Comparison(left=f"count by ({', '.join(rest)}) ({anonymous})", operator=">", right=0.0, unit="short"),
            ),
            for_=300.0,
            identity=rest,
            summary="series without a run's identity",
            seen=f'{{{{ printf "%.0f" $value }}}} series lack {" or ".join(reader.identity)}; their runs are not watched',
            expected=f"{' and '.join(reader.identity)} on every series",
            absence="silent without such series, which is the wanted state",
            nan="counts series, whatever their value",
            panel_title="Series without a run's identity",
            signals=(reader.first(HEARTBEATS),),
        ),
    )


def prove(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> tuple[Proof, ...]:
    assert isinstance(reader, FamilyReader)
    run, hour = reader.run_label, reader.lasting(max(3600.0, 4 * reader.family.publish_every))
    return (
        Proof(
            key="run-without-identity",
            title="one run exports no run label beside a healthy one",
            runs=(
                History(acts=(Act(phase="training", seconds=hour),)),
                History(acts=(Act(phase="training", seconds=hour),), labels={run: ""}),
            ),
            fires=((hour, {run: ""}),),
            quiet_until=240,
        ),
        *(
            Proof(
                key=f"run-without-{label}".replace("_", "-"),
                title=f"one run whose series lack {label}",
                runs=(History(acts=(Act(phase="training", seconds=hour),), labels={label: ""}),),
                fires=((hour, {label: "", run: ""}),),
                quiet_until=240,
                # With a scheduler the job is seen, but none of its training series is.
                companions=("TrainingStuckAtStart",),
            )
            for label in reader.identity[:-1]
            if label not in reader.family.document.runs.select
        ),
    )


DETECTOR = Detector(
    title="Runs without identity", scope="family", parameters=Parameters, needs=needs, lower=lower, prove=prove
)
