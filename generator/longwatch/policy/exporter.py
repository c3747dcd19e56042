"""An exporter profile: which metric plays which role. The same type is read from `kind: Exporter` policies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from longwatch.units import Duration

LabelName = Annotated[str, Meta(pattern=r"^[a-zA-Z_][a-zA-Z0-9_]*$")]
MetricName = Annotated[str, Meta(pattern=r"^[a-zA-Z_:][a-zA-Z0-9_:]*$")]


class Label(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Takes one of our labels from an exporter's label, through an anchored RE2 whose first group is kept."""

    label: LabelName
    pattern: str = "(.+)"


class Through(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A label that only another info metric knows: `slurm_node_job` has a job id, `slurm_job_info` its name."""

    metric: MetricName
    on: tuple[LabelName, ...]
    take: LabelName
    matchers: Mapping[LabelName, str] = {}
    """Label → anchored RE2 that the info series must match, so that it is the only one of its `on`."""


class Metric(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One real metric. `scale` turns its unit into the signal's base unit (s, bytes, ratio, tokens/s, …)."""

    name: MetricName
    type: Literal["gauge", "counter", "histogram", "info"]
    unit: str = ""
    """The exporter's own unit, for people."""
    scale: float = 1.0
    matchers: Mapping[LabelName, str] = {}
    """Label → anchored RE2 that a series must match to play the role, e.g. job_state: COMPLETED."""
    labels: Mapping[LabelName, Label] = {}
    """Overrides the profile's labels for this metric."""
    through: Through | None = None
    default_on: bool = True
    """False: the exporter must be told to export it; `note` says how."""
    note: str = ""
    source: Annotated[str, Meta(min_length=10)]
    """Where the name was read: owner/repository@commit:path, or a recorded sample in tests/data/exporters."""


class Exporter(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`labels`: our label (run_id, cluster, node, gpu, rank) → the exporter's label."""

    name: Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]*$")]
    title: str
    labels: Mapping[LabelName, Label] = {}
    push_every: Duration | None = None
    """Seconds between pushes (OTLP); absent: the exporter is scraped."""
    survives_restart: tuple[str, ...] = ()
    """Roles whose value goes on where it was after a restart (never per-attempt counters)."""
    phases: Mapping[str, float] = {}
    """Value of the phase metric for initialising, training, finished, saving, evaluating, paused."""
    metrics: Mapping[str, tuple[Metric, ...]]
    """Role → alternatives, newest exporter version first; all that exist are read."""
