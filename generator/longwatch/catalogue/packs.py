"""The packs: alerts that a family or a cluster inherits by naming a pack.

`failures` are the rows of the failure catalogue (F01–F48) that an alert answers.
Parameters are as a policy would write them; what is absent is derived from the policy's own numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec


class PackAlert(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    detect: str
    severity: str
    parameters: Mapping[str, Any] = {}
    failures: tuple[str, ...] = ()
    causes: tuple[str, ...]
    remediation: str


class Pack(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    title: str
    scope: Literal["family", "cluster"]
    alerts: tuple[PackAlert, ...]


_PACKS = (
    Pack(
        name="progress",
        title="Is the run alive and moving?",
        scope="family",
        alerts=(
            PackAlert(
                name="TrainingStalled",
                detect="stalled",
                severity="critical",
                failures=("F08", "F09", "F12"),
                causes=("a collective that waits for one rank", "a data loader or evaluation that is stuck on a lock", "storage that does not answer"),
                remediation="Before restarting, dump the stacks of all ranks (py-spy dump --pid PID, or the NCCL flight recorder); the rank that did not enter the collective is the lead.",
            ),
            PackAlert(
                name="TrainingStuckAtStart",
                detect="stuck_at_start",
                severity="warning",
                failures=("F10",),
                causes=("a rendezvous that misses one node", "an image pull or a compile that takes for ever", "name resolution"),
                remediation="Read the log of the rank that joined last; check the rendezvous address, the image pull and the one node that is missing.",
            ),
            PackAlert(
                name="RunVanished",
                detect="vanished",
                severity="warning",
                failures=("F11", "F12"),
                causes=("the process crashed", "the scheduler took the job away", "the scrape target or the exporter is gone while training goes on"),
                remediation="Read the job's exit reason in the scheduler, then the first error of the earliest failing rank; a requeue within the restart budget needs nothing.",
            ),
            PackAlert(
                name="RunNotRecovered",
                detect="not_recovered",
                severity="critical",
                failures=("F11", "F13"),
                causes=("the requeue is waiting for nodes", "the restart fails again", "nobody restarted it"),
                remediation="Look at the queue and at the exit code of the last attempt; restart from the last good checkpoint without the node that failed.",
            ),
        ),
    ),
    Pack(
        name="loss",
        title="Does the loss behave?",
        scope="family",
        alerts=(
            PackAlert(
                name="LossNotFinite",
                detect="not_finite",
                severity="critical",
                parameters={"signal": "loss"},
                failures=("F01",),
                causes=("a bad batch", "a learning rate that is too high", "fp16 overflow", "faulty hardware on one rank"),
                remediation="Stop saving over good checkpoints, then roll back; check the batch, the learning rate and the loss scale before the hardware.",
            ),
            PackAlert(
                name="LossSpike",
                detect="spike",
                severity="warning",
                parameters={"signal": "loss", "above": "130%", "keep_firing_for": "15m"},
                failures=("F02",),
                causes=("a hard or corrupt stretch of data", "an optimiser that has become unstable"),
                remediation="Watch it: most spikes are gone in 30 steps. If it stays, roll back about 100 steps and skip 200 to 500 batches.",
            ),
            PackAlert(
                name="LossDiverging",
                detect="curve_divergence",
                severity="critical",
                parameters={"signal": "loss"},
                failures=("F03",),
                causes=("a learning rate that is too high for this phase", "a change of data or code", "silent corruption"),
                remediation="Compare with the reference run at the same number of samples; roll back about 100 steps and lower the learning rate or skip the data.",
            ),
        ),
    ),
    Pack(
        name="optimisation",
        title="Is the optimiser stable?",
        scope="family",
        alerts=(
            PackAlert(
                name="GradNormNotFinite",
                detect="not_finite",
                severity="critical",
                parameters={"signal": "grad_norm"},
                failures=("F01",),
                causes=("a bad batch", "fp16 overflow", "faulty hardware on one rank"),
                remediation="Check that the step was skipped and that the loss is finite; if not, stop saving and roll back.",
            ),
            PackAlert(
                name="GradNormExploding",
                detect="spike",
                severity="warning",
                parameters={"signal": "grad_norm", "above": "1000%", "for": "0s"},
                failures=("F04",),
                causes=("a loss spike that comes in a few steps", "clipping that is off"),
                remediation="Check that clipping and skip-step are on; a loss spike usually follows within five steps.",
            ),
        ),
    ),
    Pack(
        name="throughput",
        title="Is the run as fast as it was when it was known to be good?",
        scope="family",
        alerts=(
            PackAlert(
                name="ThroughputDegraded",
                detect="baseline_band",
                severity="warning",
                failures=("F27", "F32"),
                causes=("one slow GPU or node", "a network link that flaps", "a change of code or data", "storage"),
                remediation="Ask what changed; then benchmark the run's nodes and halve the set until the slow one is found.",
            ),
            PackAlert(
                name="ThroughputCollapsed",
                detect="baseline_band",
                severity="critical",
                parameters={"worse_than": "20%", "publications": 4, "for": "5m"},
                failures=("F26", "F32"),
                causes=("RDMA is off and traffic runs over TCP", "a node that throttles", "a data pipeline that starves the GPUs"),
                remediation="Check the fabric first (NET/IB in the NCCL log, RDMA bytes per node), then clocks, then the data wait.",
            ),
        ),
    ),
    Pack(
        name="checkpoint",
        title="How much work would a crash cost?",
        scope="family",
        alerts=(
            PackAlert(
                name="CheckpointTooOld",
                detect="checkpoint_age",
                severity="warning",
                failures=("F37",),
                causes=("the saver thread has died", "storage is slow or full", "the save fails and is retried"),
                remediation="Check free space and the saver's log; save by hand before anything else is tried.",
            ),
        ),
    ),
    Pack(
        name="monitoring",
        title="Can we still see?",
        scope="family",
        alerts=(
            PackAlert(
                name="SignalMissing",
                detect="signal_missing",
                severity="warning",
                failures=("F45",),
                causes=("the exporter was updated and renamed a metric", "a field is not exported", "the rank that exports it has gone"),
                remediation="Compare the exporter's /metrics with its profile; until the signal is back, the alerts that read it are blind.",
            ),
            PackAlert(
                name="RunIdentityMissing",
                detect="identity_missing",
                severity="warning",
                failures=("F45",),
                causes=("the launch script does not set the run id", "a resource attribute is not promoted to a label"),
                remediation="Set the run's identity at launch; runs without one are not watched at all.",
            ),
            PackAlert(
                name="BaselineMissing",
                detect="baseline_missing",
                severity="warning",
                failures=("F32",),
                causes=("a new configuration of the model", "a label of the run information that was misspelt"),
                remediation="Add a variant with a baseline to the policy, or correct the run's labels; its throughput is not judged until then.",
            ),
            PackAlert(
                name="RunNameInvalid",
                detect="name_invalid",
                severity="info",
                failures=("F45",),
                causes=("a run that was started by hand",),
                remediation="Rename the run at its next start; its logs and its metrics will not be found by the usual links.",
            ),
        ),
    ),
    Pack(
        name="gpu",
        title="Are the GPUs well?",
        scope="cluster",
        alerts=(
            PackAlert(
                name="GpuThrottled",
                detect="bit_mask",
                severity="warning",
                parameters={"signal": "gpu_clock_event_reasons", "bits": [8, 32, 64, 128], "for": "5m"},
                failures=("F29", "F30"),
                causes=("cooling", "a power brake", "a power supply"),
                remediation="Look at temperature and power of the GPU (nvidia-smi -q -d PERFORMANCE); drain the node at the next checkpoint if it stays.",
            ),
            PackAlert(
                name="GpuXidCritical",
                detect="coded_edge",
                severity="critical",
                parameters={"signal": "gpu_xid"},
                failures=("F15", "F16", "F18", "F21", "F22"),
                causes=("the GPU fell off the bus (79)", "uncorrectable memory (48, 64, 95)", "firmware (119, 120)"),
                remediation="Drain the node, then reset the GPU or reboot as the code asks; two strikes mean hardware.",
            ),
        ),
    ),
    Pack(
        name="host",
        title="Will the hosts last?",
        scope="cluster",
        alerts=(
            PackAlert(
                name="HostMemoryRunningOut",
                detect="forecast",
                severity="warning",
                parameters={"signal": "host_memory_available", "of": "host_memory_total", "below": "5%", "within": "12h", "history": "6h", "floor": "50%"},
                failures=("F35",),
                causes=("a leak in a data loader", "a cache that grows without bound"),
                remediation="Restart the run from a checkpoint before the kernel kills it; then find the process whose resident memory grows.",
            ),
        ),
    ),
    Pack(
        name="storage",
        title="Will the disks last?",
        scope="cluster",
        alerts=(
            PackAlert(
                name="DiskFillingUp",
                detect="forecast",
                severity="warning",
                parameters={"signal": "disk_free", "of": "disk_size", "below": "3%", "within": "12h", "history": "6h", "floor": "40%"},
                failures=("F40",),
                causes=("checkpoints that are not pruned", "logs or a cache on the wrong disk"),
                remediation="Prune old checkpoints (never the newest two); then widen the retention gap.",
            ),
        ),
    ),
)  # fmt: skip

PACKS = {pack.name: pack for pack in _PACKS}
