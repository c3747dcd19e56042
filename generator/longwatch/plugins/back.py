"""What an emitter and a fleet check are, and how they are found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

import msgspec

from longwatch.artifact import Artifact
from longwatch.diagnostics import Diagnostic
from longwatch.ir.model import Fleet, Plan, Shared, Summary
from longwatch.plugins.discovery import discover


class Emitter(msgspec.Struct, frozen=True, kw_only=True):
    """One target. Its module exports it as EMITTER; the module's name is the target's, its docstring the manual."""

    title: str
    plan: Callable[[Plan, Shared], tuple[Artifact, ...]] | None = None
    """Artifacts of one family or cluster."""
    fleet: Callable[[tuple[Summary, ...], Shared], tuple[Artifact, ...]] | None = None
    """Artifacts of the whole organisation."""


class FleetCheck(msgspec.Struct, frozen=True, kw_only=True):
    """A judgement on the compiled fleet. Its module exports it as CHECK; its name, with dashes, is the diagnostic's code."""

    run: Callable[[Fleet], tuple[Diagnostic, ...]]


@cache
def emitters() -> Mapping[str, Emitter]:
    return {name: record for name, (record, _) in discover("longwatch.emitters", "EMITTER", Emitter).items()}


@cache
def fleet_checks() -> Mapping[str, FleetCheck]:
    return {name: record for name, (record, _) in discover("longwatch.fleet_checks", "CHECK", FleetCheck).items()}
