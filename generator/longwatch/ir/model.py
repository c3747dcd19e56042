"""The intermediate representation: what is compiled, before any tool's syntax.

A node that people may ask about carries an `origin`. Conditions are data; they become PromQL only in wire/.
All durations are seconds. PromQL fragments (`left`, `expr`) are made by detectors and by lower/.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from longwatch.diagnostics import Origin


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """Base of all IR types. Each repeats both words: msgspec does not inherit kw_only, nor mypy frozen."""


class Comparison(Node, frozen=True, kw_only=True):
    """`left operator right`. `right` is PromQL text when it varies by run, else a number in `unit`."""

    left: str
    operator: str
    right: float | str
    unit: str = ""
    """Grafana's unit id of the left side: s, bytes, percentunit, short, …"""
    on: tuple[str, ...] = ()
    """Labels that match left to a right that is a series."""


class Guard(Node, frozen=True, kw_only=True):
    """Keeps (`unless=False`) or drops the alerts whose `on` labels also appear in `expr`."""

    expr: str
    on: tuple[str, ...]
    reason: str
    unless: bool = False


class Join(Node, frozen=True, kw_only=True):
    """Adds the labels `take` from `expr` (one series per `on`, value 1). Optional: keeps alerts without a partner."""

    expr: str
    on: tuple[str, ...]
    take: tuple[str, ...]
    reason: str
    optional: bool = False


class Record(Node, frozen=True, kw_only=True):
    """One recording rule."""

    name: str
    expr: str
    reason: str
    labels: Mapping[str, str] = {}


class Window(Node, frozen=True, kw_only=True):
    """A number that the compiler derived, with why; shown by explain."""

    name: str
    value: str
    reason: str


class Alert(Node, frozen=True, kw_only=True):
    """One alert rule; several `conditions` are alternatives (or)."""

    name: str
    detector: str
    family: str
    """Family or cluster name."""
    conditions: tuple[Comparison, ...]
    guards: tuple[Guard, ...] = ()
    joins: tuple[Join, ...] = ()
    for_: float = 0.0
    keep_firing_for: float = 0.0
    severity: str
    owner: str
    stage: str
    """shadow, notify or page."""
    identity: tuple[str, ...]
    """Labels that name what the alert is about, in order: cluster, run_id or cluster, node, gpu."""
    labels: Mapping[str, str] = {}
    """Further static labels, e.g. signal."""
    summary: str
    description: str
    """Prometheus templates: `$labels.x` and `$value` only."""
    remediation: str
    causes: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    """Further annotations: runbook_url, dashboard_url."""
    absence: str
    """What happens when the series vanish, and which alert covers it."""
    nan: str
    pauses: str = ""
    """Unit-less note on what keeps the alert quiet on purpose."""
    windows: tuple[Window, ...] = ()
    rearm_at: int = 0
    """Unix seconds until which the alert is disabled; 0: not disabled."""
    disabled_reason: str = ""
    panel_title: str
    expected: str = ""
    """The expected value, as people read it."""
    signals: tuple[str, ...] = ()
    """Roles that it reads."""
    origin: Origin


class Inhibition(Node, frozen=True, kw_only=True):
    """While `source` fires, `targets` with equal non-empty `equal` labels stay silent."""

    source: str
    targets: tuple[str, ...]
    equal: tuple[str, ...]
    reason: str


class Query(Node, frozen=True, kw_only=True):
    expr: str
    legend: str
    dashed: bool = False
    """A threshold or band that is itself a series."""


class Line(Node, frozen=True, kw_only=True):
    """A constant threshold drawn in a panel."""

    value: float
    severity: str
    label: str
    below: bool = False
    """The bad side lies below the line."""


class Panel(Node, frozen=True, kw_only=True):
    """One time series panel. `key` is stable: panel ids derive from the order of keys in the dashboard."""

    key: str
    title: str
    description: str
    unit: str
    queries: tuple[Query, ...]
    lines: tuple[Line, ...] = ()
    row: str
    alerts: tuple[str, ...] = ()
    datasource: str = "prometheus"
    """prometheus or loki."""
    kind: str = "timeseries"
    """timeseries, stat, table, logs or text."""
    text: str = ""


class Dashboard(Node, frozen=True, kw_only=True):
    uid: str
    title: str
    description: str
    tags: tuple[str, ...]
    variables: tuple[tuple[str, str], ...]
    """(name, PromQL for label_values) in order."""
    panels: tuple[Panel, ...]
    annotations: tuple[tuple[str, str], ...]
    """(title, PromQL) of alert annotations."""


class Series(Node, frozen=True, kw_only=True):
    """An input series of a test: a selector with labels, and promtool's notation of its values."""

    selector: str
    values: str


class Firing(Node, frozen=True, kw_only=True):
    """At `at` seconds `alert` fires for exactly the subjects in `labels` (one mapping each)."""

    alert: str
    at: float
    labels: tuple[Mapping[str, str], ...]


class Silence(Node, frozen=True, kw_only=True):
    """Between 0 and `until` none of the family's alerts fires, except those named."""

    until: float
    allowed: tuple[str, ...] = ()
    alerts: tuple[str, ...] = ()
    """When given: only these are looked at."""


class Scenario(Node, frozen=True, kw_only=True):
    """One promtool test. `key` is unique in its file and stands in each expression: promtool prints no test name."""

    key: str
    title: str
    alert: str
    """The alert that it proves (empty: a quiet scenario of the whole family)."""
    interval: float
    scope: Mapping[str, str] = {}
    """Labels that only this scenario's alerts carry, so that it can share a test group; empty: it needs its own."""
    series: tuple[Series, ...]
    firing: tuple[Firing, ...] = ()
    silences: tuple[Silence, ...] = ()
    source: str = ""
    """Where the amplitude comes from."""
    origin: Origin


class Unprotected(Node, frozen=True, kw_only=True):
    """A pack's alert that was left out, or a failure that an alert cannot see."""

    alert: str
    reason: str
    remedy: str
    origin: Origin


class Manual(Node, frozen=True, kw_only=True):
    """A detector's manual, for the guide and explain."""

    detector: str
    text: str


class Plan(Node, frozen=True, kw_only=True):
    """Everything compiled from one family or one cluster."""

    name: str
    kind: str
    """family or cluster."""
    title: str
    owner: str
    stage: str
    tier: str = ""
    identity: tuple[str, ...]
    interval: float
    """Seconds between rule evaluations."""
    records: tuple[Record, ...]
    alerts: tuple[Alert, ...]
    dashboard: Dashboard
    scenarios: tuple[Scenario, ...]
    inhibitions: tuple[Inhibition, ...]
    unprotected: tuple[Unprotected, ...]
    manuals: tuple[Manual, ...]
    sources: tuple[str, ...]
    """Policy files that it was compiled from."""
    selector: Mapping[str, str] = {}
    """Labels that enrol a family's series and logs."""
    name_pattern: str = ""
    raw_series_per_run: int = 0
    recorded_series_per_run: int = 0
    pages_per_run: int = 0
    """Most pages that one run can cause at once: critical alerts in stage page."""
    origin: Origin


class Receiver(Node, frozen=True, kw_only=True):
    """`settings` are the receiver's fields as Alertmanager 0.25 spells them, under one integration name."""

    name: str
    integration: str
    settings: Mapping[str, str | bool | int]
    origin: Origin


class Team(Node, frozen=True, kw_only=True):
    name: str
    title: str
    contact: str
    notify: str
    """Receiver for warnings and for stage notify."""
    page: str
    escalation: str = ""
    origin: Origin


class SeverityRule(Node, frozen=True, kw_only=True):
    name: str
    pages: bool
    repeat: float
    group_wait: float
    group_interval: float


class MuteTime(Node, frozen=True, kw_only=True):
    """A named interval in Alertmanager's own fields, already normalised."""

    name: str
    teams: tuple[str, ...]
    severities: tuple[str, ...]
    weekdays: tuple[str, ...]
    start: str
    end: str
    location: str
    reason: str


class LogSchema(Node, frozen=True, kw_only=True):
    """The fields that every log line must and may carry."""

    required: tuple[str, ...]
    levels: tuple[str, ...]
    stages: tuple[str, ...]
    labels: tuple[str, ...]
    structured_metadata: tuple[str, ...]
    masks: tuple[tuple[str, str], ...]
    """(name, RE2 with one capture group)."""
    debug_sample: float
    paths: tuple[str, ...]
    push_url: str
    retention: float


class Shared(Node, frozen=True, kw_only=True):
    """What every emitter may need to know about the organisation."""

    name: str
    teams: tuple[Team, ...]
    receivers: tuple[Receiver, ...]
    severities: tuple[SeverityRule, ...]
    mute_times: tuple[MuteTime, ...]
    default_receiver: str
    runbook_url: str
    grafana_url: str
    prometheus_datasource: str
    loki_datasource: str
    logs: LogSchema
    sources: tuple[str, ...]
    origin: Origin


class Fleet(Node, frozen=True, kw_only=True):
    shared: Shared
    plans: tuple[Plan, ...]
    """Families, then clusters, each by name."""


class RouteFacts(Node, frozen=True, kw_only=True):
    """What the fleet-wide emitters need of one alert."""

    name: str
    owner: str
    severity: str
    stage: str


class Summary(Node, frozen=True, kw_only=True):
    """What fleet-wide emitters see of a plan; small, so that one changed family rebuilds little."""

    name: str
    kind: str
    title: str
    owner: str
    stage: str
    sources: tuple[str, ...]
    identity: tuple[str, ...]
    name_pattern: str
    selector: Mapping[str, str]
    alerts: tuple[RouteFacts, ...]
    inhibitions: tuple[Inhibition, ...]
