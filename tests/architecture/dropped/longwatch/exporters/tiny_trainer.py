"""tiny-trainer: an exporter that Longwatch has never heard of.

What it is: three gauges on one `/metrics` endpoint.

Which label carries the run: `experiment`.

Pitfalls:
- none; it is made up.
"""

from __future__ import annotations

from longwatch.policy.exporter import Exporter, Label, Metric

_SOURCE = "made up for the tests of Longwatch"

EXPORTER = Exporter(
    name="tiny_trainer",
    title="tiny-trainer",
    labels={"run_id": Label(label="experiment"), "cluster": Label(label="cluster")},
    survives_restart=("step",),
    metrics={
        "last_step": (Metric(name="tiny_last_step_seconds", type="gauge", unit="unix s", source=_SOURCE),),
        "step": (Metric(name="tiny_step", type="gauge", unit="steps", source=_SOURCE),),
        "learning_rate": (Metric(name="tiny_learning_rate", type="gauge", source=_SOURCE),),
    },
)
