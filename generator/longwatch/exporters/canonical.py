"""Longwatch's own names, published by the helper library or by any code that follows docs/signals.md.

What it is: one `/metrics` endpoint per run (rank 0), one publication per logged step, gauges held in between.

Which label carries the run: `run_id`, chosen by the launcher and unchanged by a restart; the attempt is a label of
`train_run_info` only. `cluster` names the cluster; set it as a target label where the process does not know it.
External labels do not count: Prometheus adds them on the way out, so no rule sees them.

Off by default: nothing, but a series exists only once its first value was published. `train_eval_score` and the
checkpoint times appear hours into a run.

Pitfalls:
- `train_step` is a gauge. It falls on a rollback, and `increase()` reads a fall as a counter reset, so a rollback of
  41 steps looks like progress. Progress is read from the level.
- `train_samples_total` and `train_tokens_total` are restored from the checkpoint on resume, and fall there likewise.
- `train_step_duration_seconds_count` starts again at zero with every attempt.
- `train_nonfinite_steps_total` is counted before any filter; a framework's own loss may have been filtered already.
"""

from __future__ import annotations

from longwatch.policy.exporter import Exporter, Label, Metric

_SOURCE = "docs/signals.md of this project, table of canonical names"
_RUN = {"run_id": Label(label="run_id"), "cluster": Label(label="cluster")}
_RUN_INFO = ("model_size", "sequence", "dataset_version", "config_hash", "code_revision", "attempt")


def _gauge(name: str, unit: str = "") -> tuple[Metric, ...]:
    return (Metric(name=name, type="gauge", unit=unit, source=_SOURCE),)


def _counter(name: str, unit: str, note: str = "") -> tuple[Metric, ...]:
    return (Metric(name=name, type="counter", unit=unit, note=note, source=_SOURCE),)


EXPORTER = Exporter(
    name="canonical",
    title="Canonical training metrics (train_*)",
    labels=_RUN,
    survives_restart=("step", "samples", "tokens"),
    phases={"initialising": 0, "training": 1, "finished": 2, "saving": 3, "evaluating": 4, "paused": 5},
    metrics={
        "phase": _gauge("train_phase"),
        "run_info": (
            Metric(
                name="train_run_info",
                type="info",
                labels={**_RUN, **{name: Label(label=name) for name in _RUN_INFO}},
                source=_SOURCE,
            ),
        ),
        "run_start": _gauge("train_run_start_timestamp_seconds", "unix s"),
        "last_step": _gauge("train_last_step_timestamp_seconds", "unix s"),
        "step": _gauge("train_step", "steps"),
        "steps_done": _counter("train_step_duration_seconds_count", "steps", "starts at zero with every attempt"),
        "samples": _counter("train_samples_total", "samples", "restored from the checkpoint on resume"),
        "tokens": _counter("train_tokens_total", "tokens", "restored from the checkpoint on resume"),
        "loss": _gauge("train_loss"),
        "grad_norm": _gauge("train_grad_norm"),
        "learning_rate": _gauge("train_learning_rate"),
        "nonfinite_steps": _counter("train_nonfinite_steps_total", "steps"),
        "mfu": _gauge("train_mfu_ratio", "ratio"),
        "step_time": (Metric(name="train_step_duration_seconds", type="histogram", unit="s", source=_SOURCE),),
        "checkpoint": _gauge("train_checkpoint_last_success_timestamp_seconds", "unix s"),
    },
)
