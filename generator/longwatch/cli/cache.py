"""What the last build made of each policy, so that one changed family does not rebuild five hundred.

An entry holds what fleet checks, routes and reports need of a family's or cluster's plan, and the digests of its artifacts;
these are taken from out/, if they still lie there unharmed. It counts only for the same code, the same libraries, and the same bytes of the
policy and of every file that is neither family nor cluster. All policies are read, resolved and checked in each build, and the
fleet checks see all plans: only compiling is skipped. A damaged, stale or foreign entry is no entry.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

import msgspec

import longwatch
from longwatch.artifact import Artifact
from longwatch.cli.sources import Sources
from longwatch.compiler import emit_plan, plan_subject
from longwatch.ir.model import Plan, Shared
from longwatch.policy.model import Cluster, Family, Organisation

_CHECKSUM = 4


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """An artifact without its text."""

    path: str
    digest: bytes
    target: str
    sources: tuple[str, ...]
    subject: str


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    key: bytes
    artifacts: tuple[Kept, ...]
    plan: msgspec.Raw


class Cache:
    """Stands in for the compiler's `plan_subject` and `emit_plan` during one build into `out`."""

    def __init__(self, read: Sources, out: Path) -> None:
        self._out = out
        self._folder = out.resolve().parent / ".longwatch" / "cache"
        self._keys = dict(_keys(read))
        self._held: dict[str, tuple[Artifact, ...]] = {}
        self._fresh: dict[str, tuple[Plan, tuple[Artifact, ...]]] = {}

    @property
    def reused(self) -> int:
        return len(self._held)

    def plan(self, organisation: Organisation, subject: Family | Cluster) -> Plan:
        name = _name("family" if isinstance(subject, Family) else "cluster", subject.name)
        entry = self._entry(name)
        artifacts = _lying(entry.artifacts, self._out) if entry else None
        if entry is not None and artifacts is not None:
            with suppress(msgspec.DecodeError):
                plan = msgspec.msgpack.decode(entry.plan, type=Plan)
                self._held[name] = artifacts
                return plan
        return plan_subject(organisation, subject)

    def emit(self, plan: Plan, shared: Shared) -> tuple[Artifact, ...]:
        name = _name(plan.kind, plan.name)
        if name not in self._held:
            self._fresh[name] = (plan, emit_plan(plan, shared))
            return self._fresh[name][1]
        return self._held[name]

    def keep(self) -> None:
        """Remembers what was compiled, and forgets policies that are gone. Without a place to write, nothing is kept."""
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            ignore = self._folder.parent / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n", encoding="utf-8")
            for name, (plan, artifacts) in self._fresh.items():
                if name in self._keys:
                    self._write(name, plan, artifacts)
            for path in self._folder.iterdir():
                if path.name not in self._keys and not path.name.startswith("."):
                    path.unlink(missing_ok=True)

    def _write(self, name: str, plan: Plan, artifacts: Sequence[Artifact]) -> None:
        kept = tuple(
            Kept(path=a.path, digest=_digest(a.text.encode()), target=a.target, sources=a.sources, subject=a.subject)
            for a in artifacts
        )
        raw = msgspec.Raw(msgspec.msgpack.encode(outline(plan)))
        content = msgspec.msgpack.encode(Entry(key=self._keys[name], artifacts=kept, plan=raw))
        handle, draft = tempfile.mkstemp(dir=self._folder, prefix=".")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(zlib.crc32(content).to_bytes(_CHECKSUM, "big") + content)
            Path(draft).replace(self._folder / name)
        except BaseException:
            Path(draft).unlink(missing_ok=True)
            raise

    def _entry(self, name: str) -> Entry | None:
        key = self._keys.get(name)
        with suppress(OSError, msgspec.DecodeError):
            raw = (self._folder / name).read_bytes()
            content = raw[_CHECKSUM:]
            if key and int.from_bytes(raw[:_CHECKSUM], "big") == zlib.crc32(content):
                entry = msgspec.msgpack.decode(content, type=Entry)
                return entry if entry.key == key else None
        return None


def outline(plan: Plan) -> Plan:
    """Without what only emitters read, nine tenths of it: the panels, the manuals, and what the scenarios play and expect."""
    replace = msgspec.structs.replace
    return replace(
        plan,
        dashboard=replace(plan.dashboard, panels=()),
        scenarios=tuple(replace(scenario, series=(), firing=(), silences=()) for scenario in plan.scenarios),
        manuals=(),
    )


def _name(kind: str, subject: str) -> str:
    return f"{kind}-{subject}"


def _lying(kept: Sequence[Kept], out: Path) -> tuple[Artifact, ...] | None:
    """The artifacts as they lie in out/; None when one of them is not what it was."""
    artifacts = []
    for one in kept:
        try:
            content = (out / one.path).read_bytes()
        except OSError:
            return None
        if _digest(content) != one.digest:
            return None
        text = content.decode()
        artifacts.append(
            Artifact(path=one.path, text=text, target=one.target, sources=one.sources, subject=one.subject)
        )
    return tuple(artifacts)


def _keys(read: Sources) -> Iterator[tuple[str, bytes]]:
    """Entry → what it must have been made from. None where the code cannot be told: then nothing is reused."""
    policy, raws = read.front.policy, dict(read.files)
    code = _code()
    if policy is None or not code:
        return
    own = {subject.file for subject in policy.subjects}
    common = hashlib.sha256(code)
    for file, raw in sorted(raws.items()):
        if file not in own:
            _add(common, file.encode(), raw)
    for subject in policy.subjects:
        key = common.copy()
        _add(key, subject.file.encode(), raws[subject.file])
        yield _name("family" if isinstance(subject, Family) else "cluster", subject.name), key.digest()


def _add(digest: hashlib._Hash, *parts: bytes) -> None:
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


@cache
def _code() -> bytes:
    """Longwatch's own files, the interpreter and the installed distributions; empty when there are no files to read."""
    root = Path(longwatch.__file__).parent
    digest = hashlib.sha256()
    found = False
    for folder, folders, files in os.walk(root, followlinks=True):
        folders[:] = sorted(f for f in folders if f != "__pycache__")
        for file in sorted(files):
            path = Path(folder, file)
            _add(digest, path.relative_to(root).as_posix().encode(), path.read_bytes())
            found = True
    _add(digest, sys.version.encode(), *(name.encode() for name in _distributions()))
    return digest.digest() if found else b""


def _distributions() -> list[str]:
    """`name-version.dist-info` of everything importable; importlib.metadata would take 35 ms."""
    names: set[str] = set()
    for folder in sys.path:
        with suppress(OSError):
            names.update(p.name for p in Path(folder or ".").iterdir() if p.suffix in (".dist-info", ".egg-info"))
    return sorted(names)
