"""What a run's exporters would show: acts of a proof become raw series under the exporters' own names and labels.

Levels come from the policy's baselines, so that a healthy run is healthy; amplitudes of failures come from the proof.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

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

_ALIVE = ("training", "initialising", "evaluating", "saving", "hung")


class RunSimulation:
    """One run on a grid of `every` seconds. Lives for the making of one scenario."""

    def __init__(self, reader: FamilyReader, history: History, name: str, every: float, roles: Sequence[str]) -> None:
        self.reader, self.history, self.name, self.every = reader, history, name, every
        self.variant = reader.family.variants[history.variant]
        self.publish = max(self.variant.publish_every, every)
        self.roles = [role for role in roles if reader.has(role)]
        self.samples: dict[str, list[Sample]] = {role: [] for role in self.roles}
        self.sums: list[Sample] = []
        self.deviating: dict[str, list[Sample]] = {act.one_rank: [] for act in history.acts if act.one_rank}
        self.trained = self.attempt = 0.0
        """Seconds of training in the run and in this attempt."""
        self.total = 0.0
        """Sum of the step-time histogram in this attempt, base unit."""
        self.saved: float | None = None
        self.last_step = 0.0
        self.previous: Mapping[str, float] = {}
        self.tick = 0

    def series(self) -> tuple[Series, ...]:
        before: Act | None = None
        for act in self.history.acts:
            if before is not None and before.phase in ("gone", "queued", "finished"):
                self.attempt, self.total, self.last_step = 0.0, 0.0, 0.0
            for index in range(max(1, round(act.seconds / self.every))):
                self._step(act, index)
            before = act
        return tuple(self._emitted())

    # one tick ---------------------------------------------------------------------------------------------------------

    def _step(self, act: Act, index: int) -> None:
        now = self.tick * self.every
        if act.phase == "training":
            if math.floor(self.trained / self.publish) != math.floor((self.trained + self.every) / self.publish):
                self.last_step = now
            steps = self.every / self.variant.step_time
            self.total += steps * self._level("step_time", act, index)
            self.trained += self.every
            self.attempt += self.every
            checkpoints = self.reader.family.document.lifecycle.checkpoints
            due = checkpoints is not None and self.trained % float(checkpoints.every) < self.every
            if due and "checkpoint" not in act.factors:
                self.saved = now
        for role in self.roles:
            healthy = self._sample(role, act, index, now)
            self.samples[role].append(None if role in act.drops else healthy)
        for role, values in self.deviating.items():
            values.append(self._sample(role, act, index, now) if act.one_rank == role else self._healthy(role, act, now))
        self.sums.append(self._histogram_sum(act))
        self.tick += 1

    def _alive(self, act: Act, index: int) -> bool:
        return act.phase in _ALIVE or (act.phase == "finished" and index == 0 and act.finish_seen)

    def _sample(self, role: str, act: Act, index: int, now: float) -> Sample:
        if role == "job_running":
            return 1.0 if act.phase in _ALIVE else None
        if role == "job_finished":
            return 1.0 if act.phase == "finished" and index * self.every < _MARKER_SECONDS else None
        if role == "placement":
            return 1.0 if act.phase in _ALIVE else None
        if not self._alive(act, index):
            return None
        if role == "phase":
            return self._phase(act)
        if role == "run_info":
            return 1.0
        if act.phase == "initialising":
            return 0.0 if self.reader.family.document.lifecycle.expected == "run-info" else None
        return self._value(role, act, index, now)

    def _phase(self, act: Act) -> float:
        known = self.reader.family.phases
        return known.get("training" if act.phase == "hung" else act.phase, known["training"])

    def _value(self, role: str, act: Act, index: int, now: float) -> Sample:
        published = math.floor(self.trained / self.publish) * self.publish
        if role == "step" and act.phase == "finished":
            ends = [f.step.at_least for f in self.reader.family.document.lifecycle.finished if isinstance(f, Finish)]
            return float(ends[0]) if ends else math.floor(published / self.variant.step_time)
        if role == "step":
            return float(math.floor(published / self.variant.step_time))
        if role in ("samples", "tokens"):
            return math.floor(self._x0(role)) + float(math.floor(published / self.variant.step_time))
        if role in ("steps_done", "step_time"):
            return float(math.floor(math.floor(self.attempt / self.publish) * self.publish / self.variant.step_time))
        if role == "last_step":
            return self.last_step
        if role == "run_start":
            return 0.0
        if role == "checkpoint":
            return self.saved
        if role == "nonfinite_steps":
            return 0.0
        return self._level(role, act, index) / self._source(role).metric.scale

    def _level(self, role: str, act: Act, index: int) -> float:
        """In the base unit."""
        healthy = self._healthy_level(role)
        if act.phase != "training":
            return self.previous.get(role, healthy)
        at = index * self.every
        if role in act.factors:
            factors = act.factors[role]
            value = healthy * factors[min(int(at / self.publish), len(factors) - 1)]
        elif role in act.ramps:
            value = healthy * (1 + (act.ramps[role] - 1) * math.floor(at / self.publish) * self.publish / act.seconds)
        else:
            value = healthy
        self.previous = {**self.previous, role: value}
        return round(value, 6) if abs(value) < 1e6 else float(round(value)) if math.isfinite(value) else value

    def _healthy(self, role: str, act: Act, now: float) -> Sample:
        if act.phase not in _ALIVE or act.phase == "initialising":
            return None
        return round(self._healthy_level(role) / self._source(role).metric.scale, 6)

    def _healthy_level(self, role: str) -> float:
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

    def _histogram_sum(self, act: Act) -> Sample:
        counts = self.samples.get("step_time")
        if not counts or counts[-1] in (None, "stale"):
            return None
        scale = self._source("step_time").metric.scale
        return round(self.total / scale, 3)

    def _source(self, role: str) -> Source:
        return self.reader.family.readings[role].sources[0]

    # series -----------------------------------------------------------------------------------------------------------

    def _emitted(self) -> list[Series]:
        made = []
        for role in self.roles:
            source = self._source(role)
            values = self._ended(source, self.samples[role])
            if source.metric.type == "histogram":
                made.append(Series(selector=self._selector(role, source.metric, "_count"), values=compress(values)))
                sums = self._ended(source, self.sums)
                made.append(Series(selector=self._selector(role, source.metric, "_sum"), values=compress(sums)))
            elif role in self.deviating:
                healthy = [None if v is None else self._flat(role) for v in self.samples[role]]
                made.append(Series(selector=self._selector(role, source.metric, "", rank="0"), values=compress(self._ended(source, healthy))))
                other = self._ended(source, self.deviating[role])
                made.append(Series(selector=self._selector(role, source.metric, "", rank="1"), values=compress(other)))
            else:
                made.append(Series(selector=self._selector(role, source.metric, ""), values=compress(values)))
                made += [s for s in (through_series(source, self.name, self._cluster(), values),) if s is not None]
        return [series for series in made if any(not token.startswith("_") for token in series.values.split())]

    def selector(self, role: str) -> str:
        """The raw selector under which the run publishes `role`."""
        return self._selector(role, self._source(role).metric, "")

    def _flat(self, role: str) -> float:
        return round(self._healthy_level(role) / self._source(role).metric.scale, 6)

    def _ended(self, source: Source, samples: Sequence[Sample]) -> list[Sample]:
        """A scraped series is marked stale when it ends; a pushed one just stops."""
        if source.exporter.push_every is not None:
            return list(samples)
        out: list[Sample] = []
        for index, sample in enumerate(samples):
            out.append("stale" if sample is None and index and samples[index - 1] is not None else sample)
        return out

    def _cluster(self) -> str:
        return self.reader.family.document.runs.select.get("cluster", "cluster-1")

    def _selector(self, role: str, metric: Metric, suffix: str, **more: str) -> str:
        source = self._source(role)
        own = {"cluster": self._cluster(), self.reader.run_label: self.name, **self.history.labels}
        labels: dict[str, str] = {}
        if role not in SCHEDULER_ROLES:
            labels |= self.reader.family.document.runs.select
            labels |= {key: value for key, value in {**self.variant.when, **_foreign(self.history.labels, self.reader)}.items()}
        for ours in (*self.reader.identity, *(("node",) if role == "placement" else ())):
            labels[label_of(source, ours).label] = own.get(ours, f"{ours}-1")
        labels |= matched(metric, labels)
        if metric.through is not None:
            labels.pop(metric.through.take, None)
            labels |= dict.fromkeys(metric.through.on, self.name)
        labels |= more
        return names.selector(metric.name + suffix, {key: value for key, value in labels.items() if value})


def _foreign(labels: Mapping[str, str], reader: FamilyReader) -> dict[str, str]:
    """Labels of a history that are not the identity's."""
    return {key: value for key, value in labels.items() if key not in reader.identity}


def matched(metric: Metric, labels: Mapping[str, str]) -> dict[str, str]:
    """A value for each matcher: its first alternative, unless a label is set already."""
    return {
        key: pattern.split("|")[0] if pattern != ".+" else labels.get(key, "any")
        for key, pattern in metric.matchers.items()
        if pattern != ".+" or key not in labels
    }


def through_series(source: Source, run: str, cluster: str, values: Sequence[Sample]) -> Series | None:
    """The info series that knows the label which the metric itself lacks."""
    via = source.metric.through
    if via is None:
        return None
    labels = {**dict.fromkeys(via.on, run), via.take: run, label_of(source, "cluster").label: cluster}
    return Series(selector=names.selector(via.metric, labels), values=compress(values))


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
        labels |= dict.fromkeys(source.metric.through.on, run)
    samples: list[Sample] = []
    upto = 0.0
    for seconds, value in device.values:
        upto += seconds
        raw = None if value is None else value / source.metric.scale
        samples += [raw] * (round(upto / every) - len(samples))
    series = Series(selector=names.selector(source.metric.name, labels), values=compress(samples))
    more = through_series(source, run, cluster, samples)
    return (series,) if more is None else (series, more)


def curve_at(curve: Curve, x: float) -> float:
    """The curve's value at `x`; flat outside its points."""
    known = sorted((float(px), y) for px, y in curve.points.items())
    if x <= known[0][0]:
        return known[0][1]
    for (x0, y0), (x1, y1) in zip(known, known[1:], strict=False):
        if x <= x1:
            position = math.log(x / x0) / math.log(x1 / x0) if curve.interpolate == "log" else (x - x0) / (x1 - x0)
            return round(y0 + (y1 - y0) * position, 6)
    return known[-1][1]
