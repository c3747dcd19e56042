"""What a run's exporters would show: acts of a proof become raw series under the exporters' own names and labels.

Levels come from the policy's baselines, so that a healthy run is healthy; amplitudes of failures come from the proof.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise

import msgspec

from longwatch.ir import names
from longwatch.ir.model import Series
from longwatch.notation import Sample, compress
from longwatch.plugins.front import Act, Device, History
from longwatch.plugins.reading import SCHEDULER_ROLES, ClusterReader, FamilyReader, label_of
from longwatch.policy.document import Baseline, Curve, Finish
from longwatch.policy.exporter import Metric
from longwatch.policy.model import Source

_DEFAULT_LEVELS: Mapping[str, float] = {
    "loss": 2.199, "grad_norm": 0.242, "learning_rate": 5e-5, "mfu": 0.4, "tokens_per_second": 1e5,
    "tflops_per_gpu": 149.1, "samples_per_second": 44.5, "attention_logit_max": 50.0,
}  # fmt: skip
"""Healthy levels of signals without a baseline; loss and gradient norm are BLOOM's before its spike."""

_MARKER_SECONDS = 300.0
"""How long a scheduler remembers an ended job: Slurm's MinJobAge."""

_HAIR = 1e-6
"""Of a step: 60 seconds are 300 steps of 0.2 s, though 60 // 0.2 is 299."""

_ALIVE = ("training", "initialising", "evaluating", "saving", "hung")


class _Clock(msgspec.Struct):
    """What advances in an act, one entry for each tick."""

    steps: list[float]
    """Published steps of the run."""
    attempt: list[float]
    """Published steps of this attempt."""
    last_step: list[float]
    """Time of the last published step."""
    saved: list[Sample]
    """Time of the last checkpoint."""


class RunSimulation:
    """One run on a grid of `every` seconds. Lives for the making of one scenario."""

    def __init__(
        self,
        reader: FamilyReader,
        history: History,
        name: str,
        every: float,
        roles: Sequence[str],
        scope: Mapping[str, str],
    ) -> None:
        """`scope`: the identity's labels beyond the run's own, e.g. the cluster."""
        self.reader, self.history, self.name, self.every, self.scope = reader, history, name, every, scope
        self.variant = reader.family.variants[history.variant]
        self.publish = max(self.variant.publish_every, every)
        self.identity = reader.identity
        self.own = {**scope, reader.run_label: name, **history.labels}
        self.enrolled = {
            **reader.family.document.runs.select,
            **self.variant.when,
            **{key: value for key, value in history.labels.items() if key not in reader.identity},
        }
        """Labels of all training series beyond the identity."""
        self.roles = [role for role in roles if reader.has(role)]
        self.samples: dict[str, list[Sample]] = {role: [] for role in self.roles}
        self.sums: list[Sample] = []
        self.deviating: dict[str, list[Sample]] = {act.one_rank: [] for act in history.acts if act.one_rank}
        self.trained = self.attempt = self.last_step = self.total = 0.0
        """Seconds of training in the run and in this attempt; time of the last step; sum of the step-time histogram."""
        self.saved: float | None = None
        self.healthy: dict[str, float] = {}
        self.held: dict[str, float] = {}
        """The level that each gauge still shows while training pauses."""
        self.tick = 0

    def series(self) -> tuple[Series, ...]:
        before: Act | None = None
        for act in self.history.acts:
            if before is not None and before.phase in ("gone", "queued", "finished"):
                self.attempt, self.total, self.last_step = 0.0, 0.0, 0.0
            self._play(act, max(1, round(act.seconds / self.every)))
            before = act
        return tuple(self._emitted())

    # one act ----------------------------------------------------------------------------------------------------------

    def _play(self, act: Act, ticks: int) -> None:
        clock = self._advance(act, ticks)
        for role in self.roles:
            self.samples[role] += [None] * ticks if role in act.drops else self._samples(role, act, ticks, clock)
        for role, values in self.deviating.items():
            deviates = act.one_rank == role
            values += (
                self._samples(role, act, ticks, clock) if deviates else self._alive(act, [self._flat(role)] * ticks)
            )
        if "step_time" in self.samples and self._source("step_time").metric.type == "histogram":
            self.sums += self._sums(act, ticks, clock)
        self.tick += ticks

    def _advance(self, act: Act, ticks: int) -> _Clock:
        start = self.tick * self.every
        if act.phase != "training":
            steps, attempt = self._published(self.trained), self._published(self.attempt)
            return _Clock([steps] * ticks, [attempt] * ticks, [self.last_step] * ticks, [self.saved] * ticks)
        steps_list = self._steps(self.trained, ticks)
        attempts = steps_list if self.attempt == self.trained else self._steps(self.attempt, ticks)
        last = self._last_steps(start, attempts)
        saved = self._saves(act, start, ticks)
        self.trained += self.every * ticks
        self.attempt += self.every * ticks
        return _Clock(steps_list, attempts, last, saved)

    def _last_steps(self, start: float, attempts: Sequence[float]) -> list[float]:
        """Time of the last published step, at each tick."""
        if "last_step" not in self.samples:
            return []
        last: list[float] = []
        before, index = self._published(self.attempt), 0
        for after, same in groupby(attempts):
            if after != before:
                self.last_step, before = start + index * self.every, after
            last += [self.last_step] * (count := len(list(same)))
            index += count
        return last

    def _saves(self, act: Act, start: float, ticks: int) -> list[Sample]:
        """Time of the last checkpoint, at each tick."""
        checkpoints = self.reader.family.document.lifecycle.checkpoints
        if checkpoints is None or "checkpoint" in act.factors or "checkpoint" not in self.samples:
            return [self.saved] * ticks
        saved: list[Sample] = []
        for index in range(ticks):
            if (self.trained + self.every * (index + 1)) % (float(checkpoints.every) or math.inf) < self.every:
                self.saved = start + index * self.every
            saved.append(self.saved)
        return saved

    def _steps(self, since: float, ticks: int) -> list[float]:
        every, publish, step = self.every, self.publish, self.variant.step_time
        at = [(since + every * i) // publish * publish for i in range(1, ticks + 1)]
        return [(seconds + _HAIR * step) // step for seconds in at]

    def _published(self, seconds: float) -> float:
        step = self.variant.step_time
        return (seconds // self.publish * self.publish + _HAIR * step) // step

    def _alive(self, act: Act, values: list[Sample]) -> list[Sample]:
        """`values` for as long as the process exports; it may be scraped once more when it ends."""
        if act.phase in _ALIVE:
            return values
        last = values[:1] if act.phase == "finished" and act.finish_seen else [None]
        return [*last, *([None] * (len(values) - 1))]

    def _samples(self, role: str, act: Act, ticks: int, clock: _Clock) -> list[Sample]:
        if role in ("job_running", "placement"):
            return [1.0 if act.phase in _ALIVE else None] * ticks
        if role == "job_finished":
            shown = min(ticks, round(_MARKER_SECONDS / self.every)) if act.phase == "finished" else 0
            return [1.0] * shown + [None] * (ticks - shown)
        if role == "phase":
            return self._alive(act, [self._phase(act)] * ticks)
        if role == "run_info":
            return self._alive(act, [1.0] * ticks)
        if act.phase == "initialising":
            # A gauge that was never set reads 0; other exporters show nothing before the first step.
            return [0.0 if self.reader.family.document.lifecycle.expected == "run-info" else None] * ticks
        return self._alive(act, self._scaled(role, self._values(role, act, ticks, clock)))

    def _phase(self, act: Act) -> float:
        known = self.reader.family.phases
        return known.get("training" if act.phase == "hung" else act.phase, known["training"])

    def _values(self, role: str, act: Act, ticks: int, clock: _Clock) -> list[Sample]:
        if role == "step" and act.phase == "finished":
            ends = [f.step.at_least for f in self.reader.family.document.lifecycle.finished if isinstance(f, Finish)]
            return [float(ends[0])] * ticks if ends else list(clock.steps)
        if role == "step":
            return list(clock.steps)
        if role in ("samples", "tokens"):
            origin = math.floor(self._x0(role))
            return [origin + steps for steps in clock.steps]
        if role == "steps_done" or (role == "step_time" and self._source(role).metric.type == "histogram"):
            return list(clock.attempt)
        if role == "last_step":
            return list(clock.last_step)
        if role == "checkpoint":
            return list(clock.saved)
        if role in ("run_start", "nonfinite_steps"):
            return [0.0] * ticks
        return list(self._levels(role, act, ticks))

    def _scaled(self, role: str, values: list[Sample]) -> list[Sample]:
        """In the exporter's own unit; counters of steps have none."""
        scale = self._source(role).metric.scale
        if scale == 1 or role == "steps_done" or self._source(role).metric.type == "histogram":
            return values
        return [value / scale if isinstance(value, float) else value for value in values]

    def _levels(self, role: str, act: Act, ticks: int) -> list[float]:
        """In the base unit."""
        healthy = self._healthy_level(role)
        if act.phase != "training":
            return [self.held.get(role, healthy)] * ticks
        if role not in act.factors and role not in act.ramps:
            self.held[role] = _rounded(healthy)
            return [self.held[role]] * ticks
        publications = [int(index * self.every / self.publish) for index in range(ticks)]
        if role in act.factors:
            factors = act.factors[role]
            shown = [_rounded(healthy * factor) for factor in factors[: publications[-1] + 1]]
            shown += [shown[-1]] * (publications[-1] + 1 - len(shown))
        else:
            rise = (act.ramps[role] - 1) * self.publish / act.seconds
            shown = [_rounded(healthy * (1 + rise * index)) for index in range(publications[-1] + 1)]
        levels = [shown[index] for index in publications]
        self.held[role] = levels[-1]
        return levels

    def _sums(self, act: Act, ticks: int, clock: _Clock) -> list[Sample]:
        """The histogram's sum in the exporter's unit: each published step adds the level of its time."""
        scale = self._source("step_time").metric.scale
        levels = self._levels("step_time", act, ticks)
        sums: list[Sample] = []
        done = clock.attempt[0] if act.phase != "training" else self._published(self.attempt - ticks * self.every)
        for level, count, shown in zip(levels, clock.attempt, self.samples["step_time"][-ticks:], strict=True):
            self.total += (count - done) * level
            done = count
            sums.append(None if shown is None else round(self.total / scale, 3))
        return sums

    def _healthy_level(self, role: str) -> float:
        if role not in self.healthy:
            self.healthy[role] = self._baseline_level(role)
        return self.healthy[role]

    def _baseline_level(self, role: str) -> float:
        if role == "step_time" and role not in self.variant.baselines:
            return self.variant.step_time
        baseline = self.variant.baselines.get(role, Baseline())
        if baseline.value is not None:
            return baseline.value
        if baseline.curve is not None:
            return curve_at(baseline.curve, self._x0(baseline.curve.x))
        return _DEFAULT_LEVELS.get(role, 1.0)

    def _x0(self, role: str) -> float:
        """Where on the curve a simulated run stands: the geometric middle."""
        for baseline in self.variant.baselines.values():
            if baseline.curve is not None and baseline.curve.x == role:
                known = sorted(float(x) for x in baseline.curve.points)
                return math.sqrt(max(known[0], 1.0) * known[-1])
        return 0.0

    def _source(self, role: str) -> Source:
        return self.reader.family.readings[role].sources[0]

    # series -----------------------------------------------------------------------------------------------------------

    def _emitted(self) -> list[Series]:
        made = []
        for role in self.roles:
            source, values = self._source(role), self.samples[role]
            if source.metric.type == "histogram":
                made.append(self._series(role, values, "_count"))
                made.append(self._series(role, self.sums, "_sum"))
            elif role in self.deviating:
                flat = self._flat(role)
                made.append(self._series(role, [None if v is None else flat for v in values], rank="0"))
                made.append(self._series(role, self.deviating[role], rank="1"))
            else:
                made.append(self._series(role, values))
                through = through_series(source, self.name, self.scope.get("cluster", ""), made[-1].values)
                made += [] if through is None else [through]
        return [series for series in made if not _empty(series.values)]

    def _series(self, role: str, samples: Sequence[Sample], suffix: str = "", **more: str) -> Series:
        """A scraped series is marked stale when it ends; a pushed one just stops."""
        source = self._source(role)
        return Series(
            selector=self._selector(role, source.metric, suffix, **more),
            values=compress(samples, ended=source.exporter.push_every is None),
        )

    def selector(self, role: str) -> str:
        """The raw selector under which the run publishes `role`."""
        return self._selector(role, self._source(role).metric, "")

    def _flat(self, role: str) -> float:
        return round(self._healthy_level(role) / self._source(role).metric.scale, 6)

    def _selector(self, role: str, metric: Metric, suffix: str, **more: str) -> str:
        source = self._source(role)
        labels = {} if role in SCHEDULER_ROLES else dict(self.enrolled)
        for ours in (*self.identity, "node") if role == "placement" else self.identity:
            labels.setdefault(label_of(source, ours).label, self.own.get(ours, f"{ours}-1"))
        if metric.matchers:
            labels |= matched(metric, labels)
        if metric.through is not None:
            labels.pop(metric.through.take, None)
            labels |= dict.fromkeys(metric.through.on, self.name)
        labels |= more
        for ours, value in self.history.labels.items():
            if ours in self.identity:
                labels[label_of(source, ours).label] = value
        return names.selector(metric.name + suffix, {key: value for key, value in labels.items() if value})


def _empty(values: str) -> bool:
    return values.startswith("_") and all(token.startswith("_") for token in values.split())


def _rounded(level: float) -> float:
    return round(level, 6) if abs(level) < 1e6 else float(round(level)) if math.isfinite(level) else level


def matched(metric: Metric, labels: Mapping[str, str]) -> dict[str, str]:
    """A value for each matcher: its first alternative, unless a label is set already."""
    return {
        key: pattern.split("|")[0] if pattern != ".+" else labels.get(key, "any")
        for key, pattern in metric.matchers.items()
        if pattern != ".+" or key not in labels
    }


def through_series(source: Source, run: str, cluster: str, values: str) -> Series | None:
    """The info series that knows the label which the metric itself lacks."""
    via = source.metric.through
    if via is None:
        return None
    labels = {**dict.fromkeys(via.on, run), via.take: run, label_of(source, "cluster").label: cluster}
    labels |= {key: pattern.split("|")[0] for key, pattern in via.matchers.items()}
    return Series(selector=names.selector(via.metric, labels), values=values)


def device_series(reader: ClusterReader, device: Device, every: float) -> tuple[Series, ...]:
    """Raw series of one device under its exporter's own names."""
    source = reader.cluster.readings[device.role].sources[0]
    cluster = reader.cluster.document.select.get("cluster", reader.cluster.name)
    own = {"cluster": cluster, **device.labels}
    labels: dict[str, str] = {} if device.role in SCHEDULER_ROLES else dict(reader.cluster.document.select)
    for ours in (*reader.subject(device.role), *device.labels):
        labels[label_of(source, ours).label] = own.get(ours, f"{ours}-1")
    labels |= matched(source.metric, labels)
    run = device.labels.get("run_id", "")
    if source.metric.through is not None:
        labels.pop(source.metric.through.take, None)
        labels |= {label: run for label in source.metric.through.on if label not in labels}
    samples: list[Sample] = []
    upto = 0.0
    for seconds, value in device.values:
        upto += seconds
        raw = None if value is None else value / source.metric.scale
        samples += [raw] * (round(upto / every) - len(samples))
    series = Series(selector=names.selector(source.metric.name, labels), values=compress(samples))
    more = through_series(source, run, cluster, series.values)
    return (series,) if more is None else (series, more)


def curve_at(curve: Curve, x: float) -> float:
    """The curve's value at `x`; flat outside its points."""
    known = sorted((float(px), y) for px, y in curve.points.items())
    if x <= known[0][0]:
        return known[0][1]
    for (x0, y0), (x1, y1) in pairwise(known):
        if x <= x1:
            position = math.log(x / x0) / math.log(x1 / x0) if curve.interpolate == "log" else (x - x0) / (x1 - x0)
            return round(y0 + (y1 - y0) * position, 6)
    return known[-1][1]
