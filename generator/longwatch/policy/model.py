"""Resolved policies: merged, in base units, each value with its origin. Every later stage reads these."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from longwatch.diagnostics import Origin
from longwatch.policy.document import (
    AlertParameters,
    Baseline,
    ClusterDocument,
    FamilyDocument,
    OrganisationDocument,
    PolicyScenario,
)
from longwatch.policy.exporter import Exporter, Metric


class Resolved(msgspec.Struct, frozen=True, kw_only=True):
    """Base of the resolved types."""


class Value(Resolved, frozen=True, kw_only=True):
    """One value with the layer that set it; for explain."""

    path: str
    value: str
    layer: str
    """pack NAME, organisation, family, variant NAME, derived."""
    origin: Origin | None = None


class AlertSetting(Resolved, frozen=True, kw_only=True):
    """One alert after packs, organisation and family were merged."""

    name: str
    detector: str
    pack: str
    """Empty for an alert that the policy added."""
    parameters: AlertParameters
    """The detector's own type."""
    values: tuple[Value, ...]
    failures: tuple[str, ...] = ()
    """Rows of the failure catalogue."""
    origin: Origin

    @property
    def asked_for(self) -> bool:
        """The family named it itself, so that leaving it out would be an error."""
        return not self.pack

    def written(self, key: str) -> Origin | None:
        """Where a policy wrote a parameter; None when it has the pack's value or its default."""
        return next((value.origin for value in self.values if value.path == key), None)

    def place(self, key: str) -> Origin:
        """Where to point at a parameter: where it was written, else at the alert."""
        return self.written(key) or self.origin


class ResolvedVariant(Resolved, frozen=True, kw_only=True):
    """A variant with its `extends` applied. Times in seconds."""

    name: str
    when: Mapping[str, str]
    ranks: int
    step_time: float
    publish_every: float
    """max(step time × log interval, scrape, push), or as written where pauses fall inside the log interval."""
    baselines: Mapping[str, Baseline]
    origin: Origin


class Source(Resolved, frozen=True, kw_only=True):
    """One metric of one exporter."""

    exporter: Exporter
    metric: Metric


class Reading(Resolved, frozen=True, kw_only=True):
    """A role and everything that plays it here; never empty."""

    role: str
    sources: tuple[Source, ...]


class Subject(Resolved, frozen=True, kw_only=True):
    """What a family and a cluster have in common."""

    name: str
    title: str
    owner: str
    stage: str
    readings: Mapping[str, Reading]
    """Role → how it is read; absent where no exporter provides it."""
    settings: tuple[AlertSetting, ...]
    scrape: float
    rules: float
    file: str
    sources: tuple[str, ...]
    origin: Origin


class Family(Subject, frozen=True, kw_only=True):
    document: FamilyDocument
    variants: tuple[ResolvedVariant, ...]
    pages: tuple[str, ...]
    """Severities that page in this family's tier."""
    push_every: float
    """Longest push interval of its exporters; 0: all scraped."""
    scenarios: tuple[PolicyScenario, ...]
    survives_restart: tuple[str, ...]
    """Roles that go on where they were after a restart."""
    phases: Mapping[str, float]

    @property
    def identity(self) -> tuple[str, ...]:
        return self.document.runs.identity

    @property
    def sample_every(self) -> float:
        """Seconds between two samples of a series in Prometheus."""
        return max(self.scrape, self.push_every)

    @property
    def step_time(self) -> float:
        """The slowest variant's."""
        return max(v.step_time for v in self.variants)

    @property
    def publish_every(self) -> float:
        """The slowest variant's."""
        return max(v.publish_every for v in self.variants)


class Cluster(Subject, frozen=True, kw_only=True):
    document: ClusterDocument


class Organisation(Resolved, frozen=True, kw_only=True):
    document: OrganisationDocument
    file: str
    origin: Origin


class Policy(Resolved, frozen=True, kw_only=True):
    """All policies of one directory."""

    organisation: Organisation
    families: tuple[Family, ...]
    clusters: tuple[Cluster, ...]

    @property
    def subjects(self) -> tuple[Family | Cluster, ...]:
        return (*self.families, *self.clusters)
