"""Policies as people write them. The JSON Schema is generated from these types, so the two cannot differ.

Durations, percentages and thresholds are decoded to base units (see longwatch.units).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from longwatch.policy.exporter import Exporter, LabelName
from longwatch.units import Duration, Percent

ApiVersion = Literal["longwatch/v1"]
Name = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$", description="Lower case letters, digits and dashes.")]
AlertName = Annotated[str, Meta(pattern=r"^[A-Z][A-Za-z0-9]{2,59}$", description="CamelCase.")]
Text = Annotated[str, Meta(min_length=1)]
Date = Annotated[str, Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$", description="YYYY-MM-DD")]
Stage = Literal["shadow", "notify", "page"]
SeverityName = Literal["critical", "warning", "info"]
PhaseName = Literal["initialising", "training", "saving", "evaluating", "evaluation", "paused"]
Count = Annotated[int, Meta(ge=1)]
Positive = Annotated[float, Meta(gt=0)]


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of everything in a policy file."""


class AlertParameters(Part, frozen=True, kw_only=True):
    """What any alert may say about itself; detectors add their own parameters."""

    severity: SeverityName | None = None
    owner: Name | None = None
    """A team; the family's owner by default."""
    stage: Stage | None = None
    for_: Duration | None = msgspec.field(default=None, name="for")
    """How long the condition must hold; derived from the publication interval by default."""
    keep_firing_for: Duration | None = None
    summary: Text | None = None
    remediation: Text | None = None
    """The first thing to do."""
    causes: tuple[str, ...] | None = None
    """Likely causes, most likely first."""
    runbook: Text | None = None
    disable: bool = False
    reason: Text | None = None
    """Why it is disabled."""
    until: Date | None = None
    """The day (UTC) on which a disabled alert arms itself again."""


class Runs(Part, frozen=True, kw_only=True):
    select: Mapping[LabelName, Text] = {}
    """Labels that enrol a series in this family."""
    identity: Annotated[tuple[LabelName, ...], Meta(min_length=1)] = ("cluster", "run_id")
    """Labels that name one run; never step, value or attempt."""
    name_pattern: Text | None = None
    """RE2 that every run_id must match."""
    examples: tuple[Text, ...] = ()
    """Two run names that match name_pattern; the generated tests use them."""


class StepFinish(Part, frozen=True, kw_only=True):
    at_least: Positive


class Finish(Part, frozen=True, kw_only=True):
    step: StepFinish
    """The run is over when its step role, which survives restarts, reaches this."""


class Pause(Part, frozen=True, kw_only=True):
    usual: Duration | None = None
    limit: Duration


class Restarts(Part, frozen=True, kw_only=True):
    budget: Duration = Duration(1500)
    """How long a run may be away before somebody is paged."""
    per_day: Count = 6


class WarmUp(Part, frozen=True, kw_only=True):
    steps: Annotated[int, Meta(ge=0)]


class Checkpoints(Part, frozen=True, kw_only=True):
    every: Duration
    save: Duration = Duration(300)
    """How long a save takes at most."""


class Lifecycle(Part, frozen=True, kw_only=True):
    expected: Literal["phase", "run-info", "scheduler"]
    finished: tuple[Literal["phase", "scheduler"] | Finish, ...] = ()
    pauses: Mapping[PhaseName, Pause] = {}
    restarts: Restarts = Restarts()
    warm_up: WarmUp = WarmUp(steps=0)
    checkpoints: Checkpoints | None = None
    forget_after: Duration = Duration(604800)


class Placement(Part, frozen=True, kw_only=True):
    info: LabelName
    run: LabelName
    node: LabelName


class Learned(Part, frozen=True, kw_only=True):
    from_: Date = msgspec.field(name="from")
    to: Date
    runs: Count
    quantile: Literal["p50", "p05", "p95"] = "p50"


class Curve(Part, frozen=True, kw_only=True):
    x: Literal["step", "samples", "tokens", "steps_done"]
    """A counter or step that survives restarts."""
    interpolate: Literal["log", "linear"]
    points: Mapping[str, float]
    band: Percent = Percent(0.10)


class Baseline(Part, frozen=True, kw_only=True):
    value: float | None = None
    spread: Annotated[float, Meta(ge=0)] | None = None
    """Robust standard deviation (1.4826 × MAD) of one publication, in the signal's unit."""
    learned: Learned | None = None
    curve: Curve | None = None


class Variant(Part, frozen=True, kw_only=True):
    name: Name
    extends: Name | None = None
    when: Mapping[LabelName, Text] = {}
    """Labels of the run information that choose this variant; none: every run."""
    ranks: Count | None = None
    step_time: Duration | None = None
    log_every: Count | None = None
    """Steps between two publications."""
    publish_every: Duration | None = None
    """Seconds between two publications, where pauses fall inside the log interval; otherwise derived."""
    baselines: Mapping[str, Baseline] = {}


class Alerts(Part, frozen=True, kw_only=True):
    packs: tuple[str, ...] = ()
    override: Mapping[str, Mapping[str, Any]] = {}
    add: Mapping[AlertName, Mapping[str, Any]] = {}


class Expectation(Part, frozen=True, kw_only=True):
    alert: AlertName
    within: Duration


class PolicyScenario(Part, frozen=True, kw_only=True):
    name: Text
    every: Duration
    healthy_before: Duration
    series: Mapping[str, Text]
    """Role → values in promtool's notation, one per `every`."""
    expect: tuple[Expectation, ...] = ()
    quiet: tuple[AlertName, ...] = ()


class FamilyDocument(Part, frozen=True, kw_only=True):
    """One model family."""

    apiVersion: ApiVersion
    kind: Literal["ModelFamily"]
    name: Name
    title: Text
    owner: Name
    tier: Name | None = None
    stage: Stage = "shadow"
    exporters: Annotated[tuple[str, ...], Meta(min_length=1)]
    runs: Runs = Runs()
    lifecycle: Lifecycle
    placement: Placement | None = None
    variants: Annotated[tuple[Variant, ...], Meta(min_length=1)]
    alerts: Alerts = Alerts()
    scenarios: tuple[PolicyScenario, ...] = ()


class ClusterDocument(Part, frozen=True, kw_only=True):
    """The machines that runs stand on."""

    apiVersion: ApiVersion
    kind: Literal["Cluster"]
    name: Name
    title: Text
    owner: Name
    stage: Stage = "shadow"
    exporters: Annotated[tuple[str, ...], Meta(min_length=1)]
    select: Mapping[LabelName, Text] = {}
    """Labels that enrol a device's or node's series."""
    nodes: Count = 1
    gpus_per_node: Count = 8
    alerts: Alerts = Alerts()


class TeamDocument(Part, frozen=True, kw_only=True):
    title: Text
    contact: Text
    notify: Name
    page: Name
    escalation: Name | None = None


class Slack(Part, frozen=True, kw_only=True):
    channel: Text
    api_url_file: Text


class PagerDuty(Part, frozen=True, kw_only=True):
    routing_key_file: Text


class Email(Part, frozen=True, kw_only=True):
    to: Text


class Webhook(Part, frozen=True, kw_only=True):
    url: Text
    credentials_file: Text | None = None


class ReceiverDocument(Part, frozen=True, kw_only=True):
    """Exactly one of these. Secrets are files, never values."""

    slack: Slack | None = None
    pagerduty: PagerDuty | None = None
    email: Email | None = None
    webhook: Webhook | None = None


class SeverityDocument(Part, frozen=True, kw_only=True):
    group_wait: Duration = Duration(30)
    group_interval: Duration = Duration(300)
    repeat: Duration = Duration(14400)


class Tier(Part, frozen=True, kw_only=True):
    pages: tuple[SeverityName, ...]


class Links(Part, frozen=True, kw_only=True):
    runbooks: Text
    grafana: Text


class Datasources(Part, frozen=True, kw_only=True):
    prometheus: Text = "prometheus"
    loki: Text = "loki"


class Scrape(Part, frozen=True, kw_only=True):
    interval: Duration = Duration(15)
    rules: Duration = Duration(60)
    """Seconds between rule evaluations."""


class Mask(Part, frozen=True, kw_only=True):
    name: Name
    pattern: Text
    """RE2 with one capture group: what is replaced."""


class Logs(Part, frozen=True, kw_only=True):
    paths: tuple[Text, ...]
    push_url: Text
    levels: tuple[Text, ...] = ("debug", "info", "warning", "error", "critical")
    labels: tuple[LabelName, ...] = ("cluster", "model_family", "level", "stage")
    masks: tuple[Mask, ...] = ()
    debug_sample: Percent = Percent(0.1)
    retention: Duration = Duration(2592000)


class MuteTimeDocument(Part, frozen=True, kw_only=True):
    teams: tuple[Name, ...]
    severities: tuple[SeverityName, ...] = ("warning", "info")
    weekdays: tuple[Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"], ...] = ()
    start: Annotated[str, Meta(pattern=r"^[0-2][0-9]:[0-5][0-9]$")]
    end: Annotated[str, Meta(pattern=r"^[0-2][0-9]:[0-5][0-9]$")]
    location: Text = "UTC"
    reason: Text


class OrganisationDocument(Part, frozen=True, kw_only=True):
    """Who is told, how, and the defaults of every policy."""

    apiVersion: ApiVersion
    kind: Literal["Organisation"]
    name: Name
    teams: Mapping[Name, TeamDocument]
    receivers: Mapping[Name, ReceiverDocument]
    default_receiver: Name
    severities: Mapping[SeverityName, SeverityDocument] = {}
    tiers: Mapping[Name, Tier] = {}
    packs: tuple[str, ...] = ()
    """Packs that every family gets."""
    override: Mapping[str, Mapping[str, Any]] = {}
    links: Links
    datasources: Datasources = Datasources()
    scrape: Scrape = Scrape()
    logs: Logs
    mute_times: Mapping[Name, MuteTimeDocument] = {}


class ExporterDocument(Part, frozen=True, kw_only=True):
    """A team's own exporter profile."""

    apiVersion: ApiVersion
    kind: Literal["Exporter"]
    profile: Exporter


PolicyDocument = FamilyDocument | ClusterDocument | OrganisationDocument | ExporterDocument
DOCUMENTS: Mapping[str, type[PolicyDocument]] = {
    "ModelFamily": FamilyDocument,
    "Cluster": ClusterDocument,
    "Organisation": OrganisationDocument,
    "Exporter": ExporterDocument,
}
