"""What a detector and a check are, and how detectors, exporters and checks are found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Literal

import msgspec

from longwatch.diagnostics import Diagnostic
from longwatch.ir.model import Comparison, Guard, Join, Record, Window
from longwatch.plugins.discovery import discover
from longwatch.plugins.reading import ClusterReader, FamilyReader
from longwatch.policy.document import AlertParameters
from longwatch.policy.exporter import Exporter
from longwatch.policy.model import AlertSetting, Policy

Phase = Literal["training", "initialising", "evaluating", "saving", "hung", "gone", "finished", "queued"]


class Act(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of a run's life, in which its exporters show what they would show.

    hung: the process lives, nothing advances. gone: no training series, the scheduler holds the job as failed.
    queued: no series, job pending. finished: the process has ended well and its target is gone.
    """

    phase: Phase
    seconds: float
    factors: Mapping[str, tuple[float, ...]] = {}
    """Role → factors on its healthy level, one per publication; the last one holds to the end of the act."""
    ramps: Mapping[str, float] = {}
    """Role → factor that is reached linearly at the end of the act."""
    finish_seen: bool = True
    """finished: the exporter's own sign of the end (phase, last step) was scraped before the target went."""
    drops: tuple[str, ...] = ()
    """Roles whose series are absent."""
    one_rank: str = ""
    """Role for which only one of several ranks deviates."""


class History(msgspec.Struct, frozen=True, kw_only=True):
    """One run: its acts from time 0 on."""

    acts: tuple[Act, ...]
    labels: Mapping[str, str] = {}
    """Labels that differ from a healthy run's: a wrong name, another variant's labels, no identity."""
    variant: int = 0
    """Index of the variant that it runs as."""


class Device(msgspec.Struct, frozen=True, kw_only=True):
    """Series of one role on one machine: (seconds it lasts, value) pairs; None is absence."""

    role: str
    labels: Mapping[str, str]
    values: tuple[tuple[float, float | None], ...]


class Proof(msgspec.Struct, frozen=True, kw_only=True):
    """A failure, or its nearest benign neighbour, that a detector must tell apart. Amplitudes never come from the policy."""

    key: str
    title: str
    runs: tuple[History, ...] = ()
    devices: tuple[Device, ...] = ()
    fires: tuple[tuple[float, Mapping[str, str]], ...] = ()
    """(seconds from the start, labels beyond the run's or device's identity) at which the alert fires, for run 0 or as labelled."""
    quiet_until: float = 0.0
    """Seconds during which the alert must not fire; for a benign neighbour the whole test."""
    companions: tuple[str, ...] = ()
    """Other alerts that this failure rightly raises."""
    source: str = ""


class Lowered(msgspec.Struct, frozen=True, kw_only=True):
    """What a detector makes of its parameters; lower/ adds owner, stage, texts and links."""

    conditions: tuple[Comparison, ...]
    guards: tuple[Guard, ...] = ()
    joins: tuple[Join, ...] = ()
    records: tuple[Record, ...] = ()
    for_: float = 0.0
    keep_firing_for: float = 0.0
    identity: tuple[str, ...] = ()
    """Labels that name the subject; the run's identity by default."""
    labels: Mapping[str, str] = {}
    summary: str
    seen: str
    """What was observed, with `$value`."""
    expected: str
    """What was expected, as people read it."""
    absence: str
    nan: str
    pauses: str = ""
    windows: tuple[Window, ...] = ()
    panel_title: str
    signals: tuple[str, ...] = ()


class Detector(msgspec.Struct, frozen=True, kw_only=True):
    """One way of seeing a failure. Its module exports it as DETECTOR; the docstring is its manual."""

    title: str
    scope: Literal["family", "cluster", "both"]
    parameters: type[AlertParameters]
    needs: Callable[[FamilyReader | ClusterReader, AlertSetting], str]
    """Empty when the alert can be compiled; else what is missing, as people read it."""
    lower: Callable[[FamilyReader | ClusterReader, AlertSetting], tuple[Lowered, ...]]
    prove: Callable[[FamilyReader | ClusterReader, AlertSetting], tuple[Proof, ...]]


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """A judgement on the resolved policy. Its module exports it as CHECK; its name, with dashes, is the diagnostic's code."""

    run: Callable[[Policy], tuple[Diagnostic, ...]]


@cache
def detectors() -> Mapping[str, Detector]:
    return {name: record for name, (record, _) in discover("longwatch.detectors", "DETECTOR", Detector).items()}


@cache
def manuals() -> Mapping[str, str]:
    """Detector → its manual."""
    return {name: manual for name, (_, manual) in discover("longwatch.detectors", "DETECTOR", Detector).items()}


@cache
def exporters() -> Mapping[str, Exporter]:
    return {name: record for name, (record, _) in discover("longwatch.exporters", "EXPORTER", Exporter).items()}


@cache
def checks() -> Mapping[str, Check]:
    return {name: record for name, (record, _) in discover("longwatch.checks", "CHECK", Check).items()}
