"""The lives of runs, written as the exporters would show them: raw metric names and labels, one sample per scrape.

Written by hand from the exporters' own documentation and code, on purpose without the compiler's
profiles: a story that shared them would share their mistakes. Levels and amplitudes are absolute.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence

from longwatch.notation import Sample

SCRAPE = 15.0
"""Seconds between samples of every story that does not say otherwise."""

Seen = Iterator[tuple[str, float, bool]]
"""(series, value, pushed): a pushed series just stops; a scraped one is marked stale."""

Level = float | Sequence[float]
"""A value, or one for each publication, of which the last one holds."""


def series(name: str, **labels: str) -> str:
    """`name{a="b"}`; labels of no value are left out."""
    inside = ", ".join(f'{key}="{value}"' for key, value in labels.items() if value)
    return f"{name}{{{inside}}}"


def together(*runs: Run) -> dict[str, list[Sample]]:
    """The series of several runs. The same series twice would silently win with its last values."""
    made: dict[str, list[Sample]] = {}
    for one in runs:
        for name, values in one.series.items():
            assert name not in made, f"{name} is written twice"
            made[name] = values
    return made


class Run:
    """One run on the grid of scrapes; its acts are appended one after the other."""

    step_time: float
    log_every = 1
    healthy: Mapping[str, float]

    def __init__(
        self,
        name: str,
        *,
        cluster: str = "cluster-1",
        every: float = SCRAPE,
        identified: bool = True,
        nodes: Sequence[str] = (),
    ) -> None:
        self.name, self.cluster, self.every, self.identified, self.nodes = name, cluster, every, identified, nodes
        self.series: dict[str, list[Sample]] = {}
        self.ticks = 0
        self.phase = ""
        self.steps = 0
        """Of the whole run; a restart goes on from here."""
        self.attempt_steps = 0
        self.last_step = 0.0
        self.saved = 0.0
        self.since = 0.0
        """Seconds of training since the last publication."""
        self.levels: dict[str, float] = {}
        """What the gauges show; empty before the first publication of an attempt."""
        self.in_act = 0.0
        self._scraped: set[str] = set()

    @property
    def now(self) -> float:
        return self.ticks * self.every

    @property
    def publish(self) -> float:
        return self.step_time * self.log_every

    # acts ---------------------------------------------------------------------------------------------------------

    def start(self, seconds: float) -> None:
        """A new attempt: the process is up, no step is made yet."""
        self._new_attempt()
        self._act("initialising", seconds)

    def train(self, steps: float, **levels: Level) -> None:
        """`steps` of training; levels that are not given are healthy."""
        begun = 0
        end = self.now + steps * self.step_time
        self.in_act = 0.0
        while self.now < end - 1e-6:
            self.since += self.every
            if self.since >= self.publish - 1e-6:
                published = int((self.since + 1e-6) // self.publish)
                self.since -= published * self.publish
                self.steps += published * self.log_every
                self.attempt_steps += published * self.log_every
                begun += published
                self.last_step = self.now
                self.levels = {role: _at(levels.get(role, usual), begun) for role, usual in self.healthy.items()}
            self._tick("training")

    def hang(self, seconds: float) -> None:
        """Every rank waits, the process lives, nothing advances."""
        self._act("training", seconds)

    def evaluate(self, seconds: float) -> None:
        self._act("evaluating", seconds)

    def save(self, seconds: float) -> None:
        self._act("saving", seconds)
        self.saved = self.now

    def die(self, seconds: float) -> None:
        """The process and its target are gone, and nobody brings them back."""
        self._act("dead", seconds)

    def queue(self, seconds: float) -> None:
        """Gone, and waiting in the scheduler's queue."""
        self._act("queued", seconds)

    def finish(self, seconds: float, *, seen: int = 4) -> None:
        """The planned end; the exporter shows its own sign of it for `seen` more scrapes, then the target goes."""
        self.in_act = 0.0
        for index in range(round(seconds / self.every)):
            self._tick("finished" if index < seen else "ended")

    def drop(self, name: str) -> None:
        """The exporter never had series of this name."""
        for one in [one for one in self.series if one.split("{")[0] == name]:
            del self.series[one]

    def _new_attempt(self) -> None:
        self.attempt_steps, self.levels, self.since, self.last_step = 0, {}, 0.0, 0.0

    def _act(self, phase: str, seconds: float) -> None:
        self.in_act = 0.0
        for _ in range(round(seconds / self.every)):
            self._tick(phase)

    def _tick(self, phase: str) -> None:
        self.phase = phase
        seen = list(self.seen())
        for name, value, _ in seen:
            values = self.series.setdefault(name, [])
            values += [None] * (self.ticks - len(values))
            values.append(value)
        here = {name for name, _, _ in seen}
        for name in self._scraped - here:
            self.series[name].append("stale")
        self._scraped = {name for name, _, pushed in seen if not pushed}
        self.ticks += 1
        self.in_act += self.every

    def seen(self) -> Seen:
        """What is visible at this scrape."""
        raise NotImplementedError


def _at(level: Level, publication: int) -> float:
    if isinstance(level, (int, float)):
        return float(level)
    return float(level[min(publication, len(level)) - 1])


class MegatronOnSlurm(Run):
    """Megatron-LM pushes OTLP once per step, here at --log-interval 1; Slurm (soperator's exporter) knows the job."""

    step_time = 105.0
    healthy = {"loss": 2.199, "grad_norm": 0.242, "tflops": 149.1}
    """BLOOM-176B, bigscience train/tr11-176B-ml/chronicles.md: iteration 31214, and 42780 for the throughput."""
    model, sequence = "176b", "2048"
    notices = True
    """Slurm sees that a job has died. BLOOM's did not always (failure F12)."""

    def job(self, name: str, **labels: str) -> str:
        return series(name, job_id=f"9{hash_of(self.name):05}", cluster=self.cluster, **labels)

    def slurm(self, state: str) -> str:
        return self.job("slurm_job_info", job_name=self.name, user_name="trainer", job_state=state)

    def seen(self) -> Seen:
        alive = self.phase in ("initialising", "training", "evaluating", "saving")
        if alive:
            for node in self.nodes:
                yield self.job("slurm_node_job", node_name=node), 1, False
        if alive or (self.phase == "dead" and not self.notices):
            yield self.slurm("RUNNING"), 1, False
        elif self.phase == "queued":
            yield self.slurm("PENDING"), 1, False
        elif self.in_act < 300:  # Slurm's MinJobAge
            yield self.slurm("FAILED" if self.phase == "dead" else "COMPLETED"), 1, False
        if not alive or not self.levels:
            return
        label = {
            "service_name": "llm-pretraining", "cluster": self.cluster, "model_size": self.model,
            "sequence": self.sequence, "nemo_run_id": self.name if self.identified else "",
            "service_instance_id": f"{self.name}-383",
        }  # fmt: skip
        total = self.attempt_steps * self.step_time * 1000
        yield series("megatron_training_step_duration_ms_milliseconds_count", **label), self.attempt_steps, True
        yield series("megatron_training_step_duration_ms_milliseconds_sum", **label), total, True
        yield series("megatron_training_loss", **label), self.levels["loss"], True
        yield series("megatron_training_grad_norm", **label), self.levels["grad_norm"], True
        yield series("megatron_training_learning_rate", **label), 5.279e-05, True
        yield series("megatron_training_throughput_tflops", **label), self.levels["tflops"], True


class PrimeRl(Run):
    """prime-rl's trainer: eleven gauges, set once per step; a gauge that is not set yet reads 0."""

    step_time = 60.0
    healthy = {"loss": -0.002, "grad_norm": 0.31, "tokens": 86000.0}
    model = "7b"

    def seen(self) -> Seen:
        if self.phase in ("dead", "queued", "ended"):
            return
        label = {
            "job": "prime-rl", "instance": f"{self.name}:8000", "cluster": self.cluster, "model_size": self.model,
            "run_id": self.name if self.identified else "",
        }  # fmt: skip
        step = 2000 if self.phase == "finished" else self.steps if self.levels else 0
        yield series("trainer_step", **label), step, False
        yield series("trainer_last_step_timestamp_seconds", **label), self.last_step, False
        yield series("trainer_loss", **label), self.levels.get("loss", 0.0), False
        yield series("trainer_grad_norm", **label), self.levels.get("grad_norm", 0.0), False
        yield series("trainer_learning_rate", **label), 1e-6 if self.levels else 0.0, False
        yield series("trainer_mfu_percent", **label), 38.0 if self.levels else 0.0, False
        yield series("trainer_throughput_tokens_per_sec", **label), self.levels.get("tokens", 0.0), False


class CanonicalOnKubernetes(Run):
    """Our own names with phases, published every 100 steps; the Job is named after the run."""

    step_time = 0.2
    log_every = 100
    healthy = {"loss": 0.1374, "grad_norm": 0.3, "step_seconds": 0.2}
    model = "small"
    first_sample = 30_000_000
    batch = 1
    phases = {"initialising": 0, "training": 1, "finished": 2, "saving": 3, "evaluating": 4, "paused": 5}
    checkpoint_every = 1800.0

    busy = 0.0
    """Sum of the histogram of step times in this attempt, and how many of its steps are in it."""
    counted = 0

    def _new_attempt(self) -> None:
        super()._new_attempt()
        self.busy, self.counted = 0.0, 0

    def seen(self) -> Seen:
        ended = self.phase in ("dead", "ended")
        job = {"job_name": self.name, "namespace": "ranking", "cluster": self.cluster}
        yield series("kube_job_status_active", **job), 0 if ended else 1, False
        if self.phase == "ended":
            yield series("kube_job_complete", condition="true", **job), 1, False
            yield series("kube_job_complete", condition="false", **job), 0, False
        if self.phase not in self.phases:
            return
        for index, node in enumerate(self.nodes):
            pod = {"created_by_kind": "Job", "created_by_name": self.name, "pod": f"{self.name}-{index}"}
            yield series("kube_pod_info", node=node, namespace="ranking", cluster=self.cluster, **pod), 1, False
        own = {"job": "recsys", "cluster": self.cluster, "run_id": self.name if self.identified else ""}
        label = {**own, "instance": f"{self.name}-0:9400"}
        yield series("train_phase", **label), self.phases[self.phase], False
        yield series("train_run_info", model_size=self.model, attempt="1", **label), 1, False
        if not self.levels:
            return
        moves = self.phase == "training" and self.now - self.last_step < self.publish + self.every
        if moves and self.now - self.saved >= self.checkpoint_every:
            self.saved = self.now
        self.busy += (self.attempt_steps - self.counted) * self.levels["step_seconds"]
        self.counted = self.attempt_steps
        yield series("train_step", **label), self.steps, False
        yield series("train_last_step_timestamp_seconds", **label), self.last_step, False
        yield series("train_samples_total", **label), self.first_sample + self.steps * self.batch, False
        yield series("train_loss", **label), self.levels["loss"], False
        yield series("train_grad_norm", **label), self.levels["grad_norm"], False
        yield series("train_step_duration_seconds_count", **label), self.attempt_steps, False
        yield series("train_step_duration_seconds_sum", **label), round(self.busy, 3), False
        if self.saved:
            yield series("train_checkpoint_last_success_timestamp_seconds", **label), self.saved, False


def hash_of(text: str) -> int:
    """A number of five digits at most, the same in every process."""
    return zlib.crc32(text.encode()) % 100_000


def ramp(begin: float, end: float, publications: int) -> tuple[float, ...]:
    """A straight line over so many publications, both ends included."""
    return tuple(begin + (end - begin) * index / (publications - 1) for index in range(publications))
