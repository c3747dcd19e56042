"""One family's or cluster's part of out/, what all of them share, and the rest as it lies there."""

from __future__ import annotations

from pathlib import Path

import msgspec

from longwatch.artifact import Artifact
from longwatch.compiler import PlanEmitter, emit_fleet
from longwatch.diagnostics import Diagnostic, Trouble
from longwatch.ir.model import Fleet
from longwatch.lower.fleet import summary
from longwatch.render.manifest import PATH, manifest


class _Listed(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    target: str
    policies: tuple[str, ...]


class _Manifest(msgspec.Struct, frozen=True, kw_only=True):
    files: tuple[_Listed, ...]


def only(name: str, fleet: Fleet, out: Path, emitter: PlanEmitter) -> tuple[Artifact, ...]:
    """All artifacts, of which those of other families and clusters are read from out/: the manifest tells what lies there.

    Raises Trouble when a listed file cannot be read.
    """
    plan = next(plan for plan in fleet.plans if plan.name == name)
    fresh = [*emitter(plan, fleet.shared), *emit_fleet(tuple(summary(p) for p in fleet.plans), fleet.shared)]
    paths = {artifact.path for artifact in fresh}
    rest = [one for one in _listed(out) if one.path not in paths and one.policies != plan.sources]
    artifacts = [*fresh, *(a for a in (_lying(one, out) for one in rest) if a is not None)]
    artifacts.sort(key=lambda artifact: artifact.path)
    return (*artifacts, manifest(artifacts))


def _listed(out: Path) -> tuple[_Listed, ...]:
    try:
        return msgspec.json.decode((out / PATH).read_bytes(), type=_Manifest).files
    except (OSError, msgspec.DecodeError):
        return ()


def _lying(one: _Listed, out: Path) -> Artifact | None:
    try:
        text = (out / one.path).read_bytes().decode()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        problem = Diagnostic(
            code="out-unreadable",
            message=f"{out / one.path} cannot be read: {error}",
            why="the manifest must tell what lies there",
            help="run `longwatch build` without --family",
        )
        raise Trouble((problem,)) from error
    return Artifact(path=one.path, text=text, target=one.target, sources=one.policies)
