"""Kubernetes Jobs as kube-state-metrics sees them: which run is active, which is complete, and on which nodes.

What it is: the state of the API server as metrics, one series per object, scraped.

Which label carries the run: `job_name`, the name of the Kubernetes Job; on pods `created_by_name`. Name the Job after
the run. Operators that put a layer in between do not: a JobSet names its Jobs `<set>-<replicated job>-<index>`, and
the pods of a PyTorchJob are created by no Job at all; map those in an Exporter of your own. `cluster` is a target
label of yours.

Off by default: nothing here. Labels of Jobs and pods need `--metric-labels-allowlist`.

Pitfalls:
- `kube_job_status_active` is a number of pods, pending ones included, and 0 after the end: active means above 0.
- `kube_job_complete` has one series per condition (true, false, unknown) with the value 0 or 1, and none before the
  end. Only `condition="true"` at 1 is an end. `kube_job_status_succeeded` counts pods: one early pod of a Job with many
  completions is not a finished run, so it plays no role here.
- A Job that someone deletes, or that `ttlSecondsAfterFinished` removes, loses all its series: the finished marker has
  to be carried, and a deletion before the end looks like a vanished run.
- `kube_pod_info` stays for as long as the pod object, so an ended pod still names its node; it has an empty `node`
  before it is scheduled.
- Names are unique in a namespace only. Where two namespaces use the same names, add the namespace to the identity.
- kube-state-metrics is scraped with `honor_labels`, else `namespace` and `pod` become `exported_namespace` and
  `exported_pod`.
"""

from __future__ import annotations

from longwatch.policy.exporter import Exporter, Label, Metric

_REPOSITORY = "kubernetes/kube-state-metrics@c92fe0c5ce02d3b52abf54490e00db6c706f2ba5"
_JOB = f"{_REPOSITORY}:internal/store/job.go"
_CLUSTER = {"cluster": Label(label="cluster")}

EXPORTER = Exporter(
    name="kube_state_metrics",
    title="Kubernetes Jobs (kube-state-metrics)",
    labels={"run_id": Label(label="job_name"), **_CLUSTER},
    metrics={
        "job_running": (
            Metric(name="kube_job_status_active", type="gauge", unit="pods", note="above 0: active", source=_JOB),
        ),
        "job_finished": (
            Metric(
                name="kube_job_complete",
                type="gauge",
                matchers={"condition": "true"},
                note="1: complete; absent before the end",
                source=_JOB,
            ),
        ),
        "placement": (
            Metric(
                name="kube_pod_info",
                type="info",
                matchers={"created_by_kind": "Job", "node": ".+"},
                labels={**_CLUSTER, "run_id": Label(label="created_by_name"), "node": Label(label="node")},
                source=f"{_REPOSITORY}:internal/store/pod.go",
            ),
        ),
    },
)
