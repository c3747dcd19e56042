"""Slurm as soperator's exporter sees it: jobs with their state, and which job is on which node.

What it is: the Slurm exporter of Nebius' soperator, which asks slurmrestd every 30 s (`--collection-interval`) and
gives each job and each job-node pair a series of its own. Other Slurm exporters have totals only.

Which label carries the run: `job_name` of `slurm_job_info`; name the job after the run (`sbatch --job-name`). The job
id is no name of a run: a resubmission gets a new one. `slurm_node_job` knows the id only, so the placement is joined
through `slurm_job_info`. `cluster` is a target label of yours.

Off by default: nothing here. The exporter itself needs the Slurm REST API and its token.

Pitfalls:
- Every series is 1; the state is a label, so a change of state is a new series.
- A job that slurmctld has forgotten (`MinJobAge`, 300 s by default) has no series any more: the finished marker has to
  be carried. `--job-source=accounting` keeps jobs for `--accounting-jobs-lookback`, one hour.
- COMPLETED and CANCELLED are deliberate ends. FAILED, TIMEOUT, NODE_FAIL, OUT_OF_MEMORY and PREEMPTED are not, and a
  requeued job is PENDING again under the same id.
- COMPLETED means that the batch script exited with 0, which a launcher that swallows its error does as well.
- `slurm_node_job` keeps the nodes of ended jobs for as long as the job is known, and array tasks share a job name.
- Where pods carry the exporter, service discovery may add `pod`, `instance` and `container`; soperator's own
  PodMonitor drops them.
- `node_name` is Slurm's name of the node (on soperator the worker pod, `worker-0`), which device metrics carry only if
  their exporter runs inside the worker or is relabelled.
"""

from __future__ import annotations

from longwatch.policy.exporter import Exporter, Label, Metric, Through

_SOURCE = "nebius/soperator@c238d993341a9f52b132062fbc3cb22f0fb63578:internal/exporter/collector.go"
_RUN = {"run_id": Label(label="job_name"), "cluster": Label(label="cluster")}

EXPORTER = Exporter(
    name="slurm_soperator",
    title="Slurm (soperator exporter)",
    labels=_RUN,
    metrics={
        "job_running": (Metric(name="slurm_job_info", type="info", matchers={"job_state": "RUNNING"}, source=_SOURCE),),
        "job_finished": (
            Metric(
                name="slurm_job_info",
                type="info",
                matchers={"job_state": "COMPLETED|CANCELLED"},
                note="a deliberate end; a job that ran out of time or lost a node did not finish",
                source=_SOURCE,
            ),
        ),
        "placement": (
            Metric(
                name="slurm_node_job",
                type="info",
                labels={**_RUN, "node": Label(label="node_name")},
                # The nodes of an ended job are listed for a while; only a running one stands on them.
                through=Through(
                    metric="slurm_job_info",
                    on=("cluster", "job_id"),
                    take="job_name",
                    matchers={"job_state": "RUNNING"},
                ),
                source=_SOURCE,
            ),
        ),
    },
)
