"""The records that know a run's life: seen, finished, over, active, attempt start, progress, first step, variant.

Each is a timestamp that carries itself, so that it outlives its source; every comparison is between timestamps, so that
nothing has to be deleted and a Prometheus that was down for less than an hour forgets nothing. Order matters: a rule
reads what the rules above it wrote in the same evaluation.
"""

from __future__ import annotations

from longwatch.ir import names
from longwatch.ir.model import Record
from longwatch.plugins.reading import HEARTBEATS, PROGRESS_ROLES, FamilyReader
from longwatch.policy.document import Finish
from longwatch.units import promql_duration

_CARRY = "1h"
"""How long a record survives without being evaluated."""

_AFTERWARDS = 300
"""Seconds for which series may go on after the sign of the end: a process takes its time to exit."""


def lifecycle_records(reader: FamilyReader) -> tuple[Record, ...]:
    family = reader.family
    rules = {"seen": _seen(reader), "finished": _finished(reader)}
    return tuple(
        record
        for record in (
            _attempt_start(reader),
            _progress(reader),
            _attempt_step(reader),
            rules["seen"],
            _first_step(reader),
            rules["finished"],
            _over(reader),
            _active(reader),
            Record(
                name=names.RUN_INFO,
                expr=_run_info(reader),
                labels={"run_owner": family.owner},
                reason="which family a run belongs to, and who owns it; device alerts join it",
            ),
            *_variants(reader),
        )
        if record is not None
    )


def _run_info(reader: FamilyReader) -> str:
    """Always under the label run_id, by which the machines know a run."""
    info = f"{reader.recorded(names.SEEN)} * 0 + 1"
    run = reader.run_label
    return info if run == "run_id" else f'label_replace({info}, "run_id", "$1", "{run}", "(.+)")'


def carried(reader: FamilyReader, name: str) -> str:
    """The record's own last value, from up to an hour ago."""
    return f"last_over_time({reader.recorded(name)}[{_CARRY}])"


def _scheduler(reader: FamilyReader, role: str, wrap: str = "{}") -> str:
    return f"max by ({reader.by}) ({reader.raw(role, wrap)} > 0)"


_AWAY = 300.0
"""Seconds for which the sign must have been away before it means a new attempt; a failed scrape is shorter."""


def _attempt_signal(reader: FamilyReader) -> str:
    """Series that exist from the beginning of an attempt."""
    return _attempt_sign(reader, "{}", f"[{promql_duration(reader.change_window)}]")


def _attempt_before(reader: FamilyReader) -> str:
    """The same sign at any time of the five minutes before."""
    span = f"[{promql_duration(_AWAY)}] offset {promql_duration(reader.change_window)}"
    return _attempt_sign(reader, "max_over_time({}" + span + ")", span)


def _attempt_sign(reader: FamilyReader, wrap: str, span: str) -> str:
    expected = reader.family.document.lifecycle.expected
    if expected == "scheduler" and reader.has("job_running"):
        return _scheduler(reader, "job_running", wrap)
    if expected == "phase" and reader.has("phase"):
        first = reader.family.phases["initialising"]
        # The lowest phase of a window also shows a start that no evaluation saw.
        lowest = first == min(reader.family.phases.values())
        phase = reader.raw("phase", "min_over_time({}" + span + ")" if lowest else wrap)
        return f"min by ({reader.by}) ({phase}) == {first:g}"
    return reader.per_run(reader.first(HEARTBEATS), wrap)


def _attempt_start(reader: FamilyReader) -> Record:
    window = reader.change_window
    signal, before = _attempt_signal(reader), _attempt_before(reader)
    mine = carried(reader, names.ATTEMPT_START)
    return Record(
        name=names.ATTEMPT_START,
        expr=f"((({signal}) * 0 + time()) unless on ({reader.by}) ({before})"
        f" unless on ({reader.by}) ({mine} > time() - {window:g})) or on ({reader.by}) {_kept(reader, mine)}",
        reason="when the sign of a new attempt (phase, first sample or running job) appeared",
    )


def _kept(reader: FamilyReader, mine: str) -> str:
    """Kept for as long as the run is remembered, however old the record itself is."""
    seen = f"{carried(reader, names.SEEN)} > time() - {reader.family.document.lifecycle.forget_after:g}"
    return f"({mine} and on ({reader.by}) ({seen}))"


def _progress(reader: FamilyReader) -> Record:
    role = reader.first(PROGRESS_ROLES)
    mine = _kept(reader, carried(reader, names.PROGRESS))
    if role == "last_step":
        now = f"(clamp_max({reader.per_run('last_step', scaled=True)}, time()) > 0)"
        reason = "the exporter's own time of the last step; a clock that is ahead counts as now"
    else:
        moved = reader.raw(role, "changes({}" + f"[{promql_duration(reader.change_window)}])")
        now = f"((max by ({reader.by}) ({moved}) > 0) * 0 + time())"
        reason = f"the last time that {role} was seen to change"
    return Record(name=names.PROGRESS, expr=f"{now} or on ({reader.by}) {mine}", reason=reason)


def _attempt_step(reader: FamilyReader) -> Record:
    mine = carried(reader, names.ATTEMPT_STEP)
    started, progress = reader.recorded(names.ATTEMPT_START), reader.recorded(names.PROGRESS)
    return Record(
        name=names.ATTEMPT_STEP,
        expr=f"({_kept(reader, mine)} unless on ({reader.by}) ({started} > on ({reader.by}) {mine}))"
        f" or on ({reader.by}) ({progress} unless on ({reader.by}) ({started} > on ({reader.by}) {progress}))",
        reason="the first step of this attempt; windows must lie after it",
    )


def _first_step(reader: FamilyReader) -> Record:
    return Record(
        name=names.FIRST_STEP,
        expr=f"{_kept(reader, carried(reader, names.FIRST_STEP))} or on ({reader.by}) {reader.recorded(names.PROGRESS)}",
        reason="the first step of the run; the warm-up is counted from it",
    )


def _seen(reader: FamilyReader) -> Record:
    heartbeat = reader.per_run(reader.first(HEARTBEATS), "timestamp({})")
    parts = [heartbeat]
    if reader.family.document.lifecycle.expected == "scheduler" and reader.has("job_running"):
        # Before the first step there are no training series yet, so the job's word counts; after it, only they do.
        stepped = f"{reader.recorded(names.ATTEMPT_STEP)} >= on ({reader.by}) {reader.recorded(names.ATTEMPT_START)}"
        running = f"max by ({reader.by}) (timestamp(({reader.raw('job_running')}) > 0))"
        parts.append(f"({running} unless on ({reader.by}) ({stepped}))")
    forget = reader.family.document.lifecycle.forget_after
    parts.append(f"({carried(reader, names.SEEN)} > time() - {forget:g})")
    return Record(
        name=names.SEEN,
        expr=f" or on ({reader.by}) ".join(parts),
        reason="when the run was last seen; kept until it is forgotten",
    )


def _finished(reader: FamilyReader) -> Record | None:
    signs = []
    # A process may exit right after its one scrape with the sign, before any rule is evaluated.
    wrap = "last_over_time({}" + f"[{promql_duration(reader.change_window)}])"
    for source in reader.family.document.lifecycle.finished:
        if isinstance(source, Finish):
            signs.append(f"({reader.per_run('step', wrap, scaled=True)} >= {source.step.at_least:g})")
        elif source == "phase":
            signs.append(f"({reader.per_run('phase', wrap)} == {reader.family.phases['finished']:g})")
        else:
            running = (
                f" unless on ({reader.by}) {_scheduler(reader, 'job_running')}" if reader.has("job_running") else ""
            )
            # An ended job of the same name says nothing while another one runs.
            signs.append(f"({_scheduler(reader, 'job_finished')}{running})")
    if not signs:
        return None
    return Record(
        name=names.FINISHED,
        expr=f"(({' or '.join(signs)}) * 0 + time()) or on ({reader.by}) {_kept(reader, carried(reader, names.FINISHED))}",
        reason="the last time that a sign of the planned end was there",
    )


def _over(reader: FamilyReader) -> Record | None:
    if not reader.family.document.lifecycle.finished:
        return None
    seen, finished = reader.recorded(names.SEEN), reader.recorded(names.FINISHED)
    return Record(
        name=names.OVER,
        expr=f"{finished} and on ({reader.by}) ({finished} + {_AFTERWARDS} >= on ({reader.by}) {seen})",
        reason="the sign of the end is as new as the run's last sample: the run is over",
    )


def _active(reader: FamilyReader) -> Record:
    age = f"(time() - {reader.recorded(names.SEEN)} <= {reader.gone_after:g})"
    over = (
        f" unless on ({reader.by}) {reader.recorded(names.OVER)}" if reader.family.document.lifecycle.finished else ""
    )
    return Record(
        name=names.ACTIVE, expr=f"{age}{over}", reason="present and not over; the value is the age of its newest sample"
    )


def _variants(reader: FamilyReader) -> tuple[Record, ...]:
    info = "run_info" if reader.has("run_info") else reader.first(HEARTBEATS)
    records = []
    for variant in reader.family.variants:
        selector = reader.raw(info, more=dict(variant.when))
        records.append(
            Record(
                name=names.VARIANT,
                expr=f"max by ({reader.by}) ({selector}) * 0 + 1",
                labels={"variant": variant.name},
                reason=f"runs of variant {variant.name}",
            )
        )
    return tuple(records)


def level_records(reader: FamilyReader, roles: tuple[str, ...]) -> tuple[Record, ...]:
    """One series per run for each role that an alert or a panel reads."""
    records = []
    for role in dict.fromkeys(roles):
        operation = reader.operation(role)
        if operation == "mean":
            expr = reader.histogram_mean(role, reader.publications(4))
        else:
            expr = reader.per_run(role, "{}", operation, scaled=True)
        records.append(
            Record(name=names.level(role, operation), expr=expr, reason=f"{reader.signal(role).title} of a run")
        )
    return tuple(records)
