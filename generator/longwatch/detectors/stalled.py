"""Stalled: the run is there, but makes no step.

## What it sees
The age of the last step (or of the last change of a step counter) against a limit. With a phase signal the limit is that
of the phase; without one the longest pause of the policy applies, since nothing tells an evaluation from a hang.

## What it does not see
A run that is gone (RunVanished), or one that has not made its first step (TrainingStuckAtStart).

## Absence and NaN
When the series vanish the alert goes silent and RunVanished takes over. The age is made from timestamps, which are never NaN.

## Parameters
`silent_for`: how long training may be silent; by default the longest of 15 minutes, 10 steps and 2 publications.

## Sources
Marin's training-stall contract (15 minutes, then 5); BLOOM lost 18, 6 and 11 hours to hangs inside evaluations.
"""

from __future__ import annotations

from typing import cast

from longwatch.ir import names
from longwatch.ir.model import Comparison, Record, Window
from longwatch.plugins.front import Act, Detector, History, Lowered, Proof
from longwatch.plugins.reading import PROGRESS_ROLES, ClusterReader, FamilyReader
from longwatch.policy.document import AlertParameters
from longwatch.policy.model import AlertSetting
from longwatch.units import Duration, promql_duration


class Parameters(AlertParameters, frozen=True, kw_only=True):
    silent_for: Duration | None = None
    """How long training may make no step."""


def training_limit(reader: FamilyReader, setting: AlertSetting) -> float:
    """Seconds without a step that training may take."""
    written = cast(Parameters, setting.parameters).silent_for
    if written is not None:
        return float(written)
    return max(900.0, 10 * reader.family.step_time, 2 * reader.family.publish_every)


def pause_limits(reader: FamilyReader) -> dict[str, float]:
    """Phase → its limit in seconds, as the policy gives it."""
    named = {"evaluation": "evaluating"}
    pauses = reader.family.document.lifecycle.pauses
    return {named.get(phase, phase): float(pause.limit) for phase, pause in pauses.items()}


def longest_limit(reader: FamilyReader, setting: AlertSetting) -> float:
    """Without a phase: the longest pause, seen from the publication before it."""
    inside = [limit for phase, limit in pause_limits(reader).items() if phase != "initialising"]
    pause = max(inside, default=0.0)
    return max(training_limit(reader, setting), pause + reader.family.publish_every if pause else 0.0)


def needs(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> str:
    assert isinstance(reader, FamilyReader)
    return "" if reader.first(PROGRESS_ROLES) else f"a progress signal ({', '.join(PROGRESS_ROLES)})"


def lower(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> tuple[Lowered, ...]:
    assert isinstance(reader, FamilyReader)
    age = f"time() - {reader.recorded(names.PROGRESS)}"
    hold = reader.holds(max(1.0, 300 / reader.family.publish_every))
    if reader.has("phase"):
        phases = reader.family.phases
        usual = training_limit(reader, setting)
        # A pause whose limit the policy does not give may last no longer than training may be silent.
        unsaid = {phase: usual for phase in ("training", "saving", "evaluating") if phase in phases}
        limits = {**unsaid, **pause_limits(reader)}
        limit_expr = " or ".join(
            f"(max by ({reader.by}) ({reader.raw('phase')}) == {phases[phase]:g}) * 0 + {limit:g}"
            for phase, limit in limits.items()
            if phase in phases and phase != "initialising"
        )
        records: tuple[Record, ...] = (
            Record(name=names.STALL_LIMIT, expr=limit_expr, reason="how long each phase may make no step"),
        )
        right: str | float = reader.recorded(names.STALL_LIMIT)
        windows = tuple(
            Window(name=f"limit while {phase}", value=promql_duration(limit), reason="lifecycle.pauses of the policy")
            for phase, limit in limits.items()
            if phase not in ("initialising", "training")
        )
        expected = "a step within the limit of its phase: " + ", ".join(
            f"{phase} {promql_duration(limit)}" for phase, limit in limits.items() if phase != "initialising"
        )
        pauses = "each phase is quiet inside its own limit and stalled beyond it"
    else:
        limit = longest_limit(reader, setting)
        records, right, windows = (), limit, ()
        expected = f"a step every {promql_duration(limit)} at least"
        pauses = "no exporter tells the phase, so the longest pause of the policy applies, plus one publication"
    chosen = promql_duration(training_limit(reader, setting))
    return (
        Lowered(
            conditions=(
                Comparison(left=age, operator=">", right=right, unit="s", on=reader.identity if records else ()),
            ),
            guards=(reader.active(), reader.stepped()),
            records=records,
            for_=hold,
            summary="makes no step",
            seen="no step for {{ $value | humanizeDuration }}",
            expected=expected,
            absence="goes silent when the series vanish; RunVanished covers that",
            nan="the age is made from timestamps, which are never NaN",
            pauses=pauses,
            windows=(
                Window(
                    name="limit in training",
                    value=chosen,
                    reason="the longest of 15 minutes, 10 steps and 2 publications",
                ),
                *windows,
                Window(name="for", value=promql_duration(hold), reason="5 minutes, in whole publications"),
                reader.pace(),
            ),
            panel_title="Time since the last step",
            signals=(reader.first(PROGRESS_ROLES), *(("phase",) if records else ())),
        ),
    )


def prove(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> tuple[Proof, ...]:
    assert isinstance(reader, FamilyReader)
    healthy = Act(phase="training", seconds=reader.lasting(reader.publications(20)))
    limits = pause_limits(reader)
    # The benign pauses are the usual ones, or shorter where the policy allows less.
    evaluation = Act(
        phase="evaluating",
        seconds=reader.lasting(min(1200.0, 0.7 * limits.get("evaluating", longest_limit(reader, setting)))),
    )
    saving = Act(
        phase="saving", seconds=reader.lasting(min(120.0, 0.7 * limits.get("saving", longest_limit(reader, setting))))
    )
    start = healthy.seconds
    longest = longest_limit(reader, setting)
    hung = reader.lasting(2 * 3600.0 + longest)
    endless = reader.lasting(max(3 * 3600.0, longest + 3600.0))
    return (
        Proof(
            key="hang",
            title="every rank waits, the process lives",
            runs=(History(acts=(healthy, Act(phase="hung", seconds=hung))),),
            fires=((start + hung, {}),),
            quiet_until=start + 600,
            companions=("CheckpointTooOld",),
            source="ByteRobust: 9.9 % of incidents are hangs without an error line",
        ),
        Proof(
            key="evaluation-of-20-minutes",
            title="a healthy evaluation of 20 minutes",
            runs=(History(acts=(healthy, evaluation, healthy)),),
            quiet_until=2 * start + evaluation.seconds,
        ),
        Proof(
            key="evaluation-hangs-for-3-hours",
            title="an evaluation that never ends",
            runs=(History(acts=(healthy, Act(phase="evaluating", seconds=endless))),),
            fires=((start + endless, {}),),
            quiet_until=start + evaluation.seconds,
            companions=("CheckpointTooOld",),
            source="BLOOM, 2022-04-30: hung for at least 3 hours in evaluation",
        ),
        Proof(
            key="checkpoint-pause",
            title="a save that pauses training",
            runs=(History(acts=(healthy, saving, healthy)),),
            quiet_until=2 * start + saving.seconds,
        ),
    )


DETECTOR = Detector(
    title="The run makes no step", scope="family", parameters=Parameters, needs=needs, lower=lower, prove=prove
)
