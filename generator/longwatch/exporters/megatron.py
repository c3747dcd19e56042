"""Megatron-LM, which pushes OTLP through NeMo Lens.

What it is: eight instruments named `megatron.training.*`, recorded once per `--log-interval` on one rank and pushed
every 10 s (NeMo Lens sets 10,000 ms; the OpenTelemetry default of 60 s does not apply; `OTEL_METRIC_EXPORT_INTERVAL`
overrides). There is no phase, no step, no last-step time and no count of tokens: what should be running, and what
ended well, has to come from the scheduler.

How to switch it on: install `megatron-core[otel]`, run with `--otel-enabled` (or `MEGATRON_OTEL_ENABLED=1`) and point
`OTEL_EXPORTER_OTLP_ENDPOINT` at a collector or at Prometheus with `--web.enable-otlp-receiver`. The throughput in
TFLOP/s needs `--log-throughput` as well.

Which label carries the run: `nemo_run_id`, from `NEMO_LENS_RUN_ID`, else `SLURM_JOB_ID`, else a random id. Set
`NEMO_LENS_RUN_ID` to the name of the run: a resubmission changes the Slurm job id, a restart changes a random id.

Pitfalls:
- `nemo.run.id` is an OTLP resource attribute. Prometheus makes no label of it unless `promote_resource_attributes`
  lists it (with `service.name`); otherwise it sits in `target_info`, and every run is a series without a run.
  A collector that Prometheus scrapes needs `resource_to_telemetry_conversion` instead. `cluster` is yours to add.
- The unit is doubled in `megatron_training_step_duration_ms_milliseconds`: the instrument's own name ends in `_ms`,
  and the translation to Prometheus appends the unit. A receiver that appends none leaves the second half out.
- The histogram records the mean of a log interval once per log interval, so its count counts log intervals: it counts
  steps only at `--log-interval 1`; Megatron's default is 100.
- Its buckets are OpenTelemetry's own and end at 10,000 ms: quantiles of longer steps are worthless. Only sum over count
  tells their duration.
- Only the last rank exports by default (`MEGATRON_OTEL_RANK_STRATEGY=single_rank`); other strategies multiply the
  series, told apart by `service_instance_id`.
- `megatron_training_skipped_iters_total` does not exist before the first skipped step, and with fp16 the loss scaler
  skips steps by design: it plays no role here.
- A push ends without a staleness marker: the last values are seen for five more minutes after a run has died. A
  collector's Prometheus exporter without `send_timestamps` repeats them until its `metric_expiration`.
"""

from __future__ import annotations

from longwatch.policy.exporter import Exporter, Label, Metric
from longwatch.units import Duration

_MEGATRON = "NVIDIA/Megatron-LM@d98e8a64ddf34856e74b24714e3bedb2f5a39553:megatron/core/telemetry/training_metrics.py"
_LENS = (
    "NVIDIA-NeMo/Lens@b85578fc2b736a1804705e537001b5f45e9c715d:observability/grafana/dashboards/megatron-training.json"
)


def _gauge(name: str, unit: str = "", *, default_on: bool = True, note: str = "") -> tuple[Metric, ...]:
    return (Metric(name=name, type="gauge", unit=unit, default_on=default_on, note=note, source=_LENS),)


EXPORTER = Exporter(
    name="megatron",
    title="Megatron-LM (OTLP, NeMo Lens)",
    labels={"run_id": Label(label="nemo_run_id"), "cluster": Label(label="cluster")},
    push_every=Duration(10.0),
    metrics={
        "step_time": (
            Metric(
                name="megatron_training_step_duration_ms_milliseconds",
                type="histogram",
                unit="ms",
                scale=0.001,
                note="the mean of a log interval, once per log interval; buckets end at 10 s, so use sum over count",
                source=_MEGATRON,
            ),
        ),
        "steps_done": (
            Metric(
                name="megatron_training_step_duration_ms_milliseconds_count",
                type="counter",
                unit="log intervals",
                note="counts log intervals of this attempt; equals steps at --log-interval 1 only",
                source=_LENS,
            ),
        ),
        "loss": _gauge("megatron_training_loss", note="of the first loss, averaged over the log interval"),
        "grad_norm": _gauge("megatron_training_grad_norm"),
        "learning_rate": _gauge("megatron_training_learning_rate"),
        "tflops_per_gpu": _gauge(
            "megatron_training_throughput_tflops", "TFLOP/s per GPU", default_on=False, note="run with --log-throughput"
        ),
        "tokens_per_second": _gauge("megatron_training_tokens_per_sec", "tokens/s", note="of the whole run"),
    },
)
