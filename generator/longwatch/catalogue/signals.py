"""The vocabulary of roles: what a signal means, in which base unit, and which way it gets worse.

Exporter profiles map real metrics to roles; docs/signals.md has our own names for them.
"""

from __future__ import annotations

from typing import Literal

import msgspec


class Signal(msgspec.Struct, frozen=True, kw_only=True):
    role: str
    title: str
    unit: str
    """Grafana's unit id of the base unit."""
    measure: str = ""
    """The unit as people read it after a number."""
    better: Literal["higher", "lower", ""] = ""
    minimum: float | None = None
    maximum: float | None = None
    per: Literal["run", "device", "node", "filesystem"] = "run"
    kind: Literal["level", "progress", "timestamp", "event", "info"] = "level"


_ALL = (
    # lifecycle
    Signal(role="phase", title="Phase", unit="short", kind="info"),
    Signal(role="run_info", title="Run information", unit="short", kind="info"),
    Signal(role="run_start", title="Start of the run", unit="dateTimeAsIso", kind="timestamp"),
    Signal(role="last_step", title="Last step", unit="dateTimeAsIso", kind="timestamp"),
    Signal(role="step", title="Step", unit="short", minimum=0, kind="progress"),
    Signal(role="steps_done", title="Steps of this attempt", unit="short", minimum=0, kind="progress"),
    Signal(role="samples", title="Samples seen", unit="short", minimum=0, kind="progress"),
    Signal(role="tokens", title="Tokens seen", unit="short", minimum=0, kind="progress"),
    Signal(role="job_running", title="Job running (scheduler)", unit="short", kind="info"),
    Signal(role="job_finished", title="Job ended as planned (scheduler)", unit="short", kind="info"),
    Signal(role="placement", title="Node of a run", unit="short", per="node", kind="info"),
    # numbers
    Signal(role="loss", title="Loss", unit="short", better="lower"),
    Signal(role="grad_norm", title="Gradient norm", unit="short", better="lower", minimum=0),
    Signal(role="learning_rate", title="Learning rate", unit="short", minimum=0),
    Signal(role="nonfinite_steps", title="Non-finite steps", unit="short", minimum=0, kind="event"),
    Signal(role="attention_logit_max", title="Largest attention logit", unit="short", better="lower"),
    # speed
    Signal(role="tflops_per_gpu", title="TFLOP/s per GPU", unit="short", measure="TFLOP/s per GPU", better="higher", minimum=0),
    Signal(role="tokens_per_second", title="Tokens per second", unit="short", measure="tokens/s", better="higher", minimum=0),
    Signal(role="samples_per_second", title="Samples per second", unit="short", measure="samples/s", better="higher", minimum=0),
    Signal(role="mfu", title="Model FLOPs utilisation", unit="percentunit", better="higher", minimum=0, maximum=1),
    Signal(role="step_time", title="Step time", unit="s", measure="s", better="lower", minimum=0),
    # checkpoints
    Signal(role="checkpoint", title="Last good checkpoint", unit="dateTimeAsIso", kind="timestamp"),
    # machines
    Signal(role="gpu_clock_event_reasons", title="GPU clock event reasons", unit="short", minimum=0, per="device"),
    Signal(role="gpu_xid", title="Last XID", unit="short", minimum=0, per="device", kind="event"),
    Signal(role="disk_free", title="Free disk space", unit="bytes", measure="bytes", better="higher", minimum=0, per="filesystem"),
    Signal(role="disk_size", title="Disk size", unit="bytes", measure="bytes", minimum=0, per="filesystem"),
    Signal(role="host_memory_available", title="Available host memory", unit="bytes", measure="bytes", better="higher", minimum=0, per="node"),
    Signal(role="host_memory_total", title="Host memory", unit="bytes", measure="bytes", minimum=0, per="node"),
)  # fmt: skip

SIGNALS = {signal.role: signal for signal in _ALL}
