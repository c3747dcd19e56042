"""Vanished: a run that was seen, has not finished, and is gone.

## What it sees
The age of the newest sample. The record of when a run was last seen carries itself, so the alert lasts until the run
returns, finishes, or is forgotten (`lifecycle.forget_after`); forgetting is not recovery.

## Absence and NaN
Absence is what it is made for. A Prometheus that was down for less than an hour forgets nothing.

## Parameters
`after`: age of the newest sample; by default four samples, at least a minute.
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
    after: Duration | None = None
    """Age of the newest sample beyond which a run counts as gone."""


def needs(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> str:
    assert isinstance(reader, FamilyReader)
    return "" if reader.first(HEARTBEATS) else f"a heartbeat ({', '.join(HEARTBEATS)})"


def lower(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> tuple[Lowered, ...]:
    assert isinstance(reader, FamilyReader)
    written = cast(Parameters, setting.parameters).after
    after = float(written) if written is not None else reader.gone_after
    forget = promql_duration(reader.family.document.lifecycle.forget_after)
    return (
        Lowered(
            conditions=(
                Comparison(left=f"time() - {reader.recorded(names.SEEN)}", operator=">", right=after, unit="s"),
            ),
            guards=(
                Guard(
                    expr=reader.recorded(names.OVER), on=reader.identity, unless=True, reason="the run ended as planned"
                ),
            ),
            for_=300.0,
            summary="has vanished",
            seen="last seen {{ $value | humanizeDuration }} ago, and it has not finished",
            expected=f"a sample every {promql_duration(reader.family.sample_every)}, or a sign that the run has finished",
            absence=f"fires on absence, until the run returns, finishes, or is forgotten after {forget}: that is no recovery",
            nan="made from timestamps, which are never NaN",
            windows=(
                Window(name="after", value=promql_duration(after), reason="four samples, at least a minute"),
                Window(name="for", value="5m", reason="a failed scrape or a restarted exporter comes back sooner"),
            ),
            panel_title="Time since the run was last seen",
            signals=(reader.first(HEARTBEATS),),
        ),
    )


def prove(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> tuple[Proof, ...]:
    assert isinstance(reader, FamilyReader)
    healthy = Act(phase="training", seconds=reader.lasting(reader.publications(20)))
    start = healthy.seconds
    finished = Act(phase="finished", seconds=reader.lasting(3600))
    gone, queued = reader.lasting(3600), reader.lasting(720)
    proofs = [
        Proof(
            key="crash",
            title="the process dies and its target goes",
            runs=(History(acts=(healthy, Act(phase="gone", seconds=gone))),),
            fires=((start + 900, {}), (start + gone, {})),
            quiet_until=start + 240,
            companions=("RunNotRecovered",),
            source="most explicit crashes; a stall rule goes silent here",
        ),
        Proof(
            key="normal-finish",
            title="the run ends as planned",
            runs=(History(acts=(healthy, finished)),),
            quiet_until=start + finished.seconds,
        ),
        Proof(
            key="requeue",
            title="back after 12 minutes in the queue",
            runs=(History(acts=(healthy, Act(phase="queued", seconds=queued), healthy)),),
            fires=((start + 660, {}),),
            quiet_until=start + 240,
        ),
    ]
    if reader.has("job_finished"):
        proofs.append(
            Proof(
                key="finish-before-the-next-scrape",
                title="the process exits before its own sign of the end is scraped",
                runs=(History(acts=(healthy, Act(phase="finished", seconds=finished.seconds, finish_seen=False))),),
                quiet_until=start + finished.seconds,
            )
        )
    return tuple(proofs)


DETECTOR = Detector(
    title="The run is gone", scope="family", parameters=Parameters, needs=needs, lower=lower, prove=prove
)
