"""prime-rl, the reinforcement-learning trainer: a `/metrics` endpoint on the trainer's first rank.

What it is: eleven gauges named `trainer_*`, set once per step and scraped. The last-step time is set with each step
and is the hang signal; there is no phase, so what ended well has to come from the scheduler.

How to switch it on: add a `[trainer.metrics_server]` section (port 8000, all interfaces) to the configuration. Only
the RL trainer has the server; the SFT trainer does not.

Which label carries the run: none. The trainer does not name its run, so the scrape configuration has to add `run_id`
(and `cluster`) as target labels, for example by `relabel_configs` from the job name. Without it, runs on different
hosts differ only in `instance`, and the missing-identity alert fires.

Pitfalls:
- `trainer_mfu_percent` is a percentage, not a ratio.
- The throughput is tokens of all ranks over the forward and backward time only: waiting for rollouts and broadcasting
  weights do not lower it.
- A gauge that is not set yet reads 0, the last-step time included: it is 1970 until the first step is done.
- The gradient norm keeps its last value where a step has none.
- Other nodes answer on the same port with `/health` only; scrape the first one.
"""

from __future__ import annotations

from longwatch.policy.exporter import Exporter, Label, Metric

_SOURCE = "PrimeIntellect-ai/prime-rl@559b44772e471d1538537b8805cc77f3824a5e64:src/prime_rl/utils/metrics_server.py"


def _gauge(name: str, unit: str = "", *, scale: float = 1.0, note: str = "") -> tuple[Metric, ...]:
    return (Metric(name=name, type="gauge", unit=unit, scale=scale, note=note, source=_SOURCE),)


EXPORTER = Exporter(
    name="prime_rl",
    title="prime-rl trainer",
    # Target labels: the exporter has neither, see the manual.
    labels={"run_id": Label(label="run_id"), "cluster": Label(label="cluster")},
    survives_restart=("step",),
    metrics={
        "step": _gauge("trainer_step", "steps", note="run_id is a target label that the scrape configuration adds"),
        "last_step": _gauge("trainer_last_step_timestamp_seconds", "unix s", note="0 until the first step is done"),
        "loss": _gauge("trainer_loss"),
        "grad_norm": _gauge("trainer_grad_norm"),
        "learning_rate": _gauge("trainer_learning_rate"),
        "mfu": _gauge("trainer_mfu_percent", "%", scale=0.01),
        "tokens_per_second": _gauge(
            "trainer_throughput_tokens_per_sec", "tokens/s", note="of all ranks, over forward and backward time only"
        ),
    },
)
