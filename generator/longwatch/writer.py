"""Artifacts → out/: wholly new, or after a death half way wholly old or, at the next run, wholly new.

Changed files are first written to a sibling of out/, together with a journal that says what goes where. Only a
complete journal makes anything happen in out/: files are deleted and replaced one by one, the manifest last, and the
sibling goes. A run that finds a journal finishes it; one that finds a sibling without a journal throws it away. This
guards against the death of the process; after a loss of power the next run heals out/, since it compares contents.

Only files that the previous manifest lists are ever deleted.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path, PurePosixPath

import msgspec

from longwatch.artifact import Artifact
from longwatch.diagnostics import Diagnostic, Trouble

MANIFEST = "manifest.json"
"""An artifact like any other (the compiler's), with `files`: an object keyed by path, a list of paths, or a list of
objects with `path`."""

_JOURNAL = "journal.json"


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """What a run did to out/; paths relative to it, sorted."""

    changed: tuple[str, ...] = ()
    """New or with new contents."""
    deleted: tuple[str, ...] = ()
    unchanged: int = 0
    """Files left alone, modification time included."""
    finished: bool = False
    """Whether an interrupted earlier run was finished first."""


class Difference(StrEnum):
    MISSING = "missing"
    DIFFERENT = "different"
    ORPHAN = "orphan"


class _Journal(msgspec.Struct, frozen=True, kw_only=True):
    replace: tuple[str, ...]
    """In order; staged under the same path."""
    delete: tuple[str, ...]


def write(artifacts: Sequence[Artifact], out: Path) -> Written:
    """Makes out/ hold these artifacts, and no longer what the previous manifest lists beyond them.

    Raises Trouble (`out-unwritable`) when the file system refuses, or when something that is not ours is in the way.
    """
    fresh = _contents(artifacts)
    with _out_unwritable(out):
        out.mkdir(parents=True, exist_ok=True)
        with _alone(out):
            finished = _recover(out)
            _refuse_obstacles(out, fresh)
            delete = _orphans(out, fresh)
            changed = sorted((path for path in fresh if _read(out / path) != fresh[path]), key=_manifest_last)
            if changed or delete:
                _commit(out, fresh, _Journal(replace=tuple(changed), delete=delete))
    return Written(
        changed=tuple(sorted(changed)), deleted=delete, unchanged=len(fresh) - len(changed), finished=finished
    )


def drift(artifacts: Sequence[Artifact], out: Path) -> tuple[tuple[str, Difference], ...]:
    """Where out/ differs from the artifacts, by path; writes nothing. Raises Trouble when out/ cannot be read."""
    fresh = _contents(artifacts)
    found: list[tuple[str, Difference]] = []
    with _out_unwritable(out):
        for path, content in fresh.items():
            present = _read(out / path)
            if present != content:
                found.append((path, Difference.MISSING if present is None else Difference.DIFFERENT))
        found += [(path, Difference.ORPHAN) for path in _orphans(out, fresh)]
    return tuple(sorted(found))


def _contents(artifacts: Sequence[Artifact]) -> dict[str, bytes]:
    """Path → bytes. Raises ValueError on our own mistakes: a path twice, or one that leads out of out/."""
    out: dict[str, bytes] = {}
    for artifact in artifacts:
        if not _inside(artifact.path):
            raise ValueError(f"artifact path {artifact.path!r} leads out of the output folder")
        if artifact.path in out:
            raise ValueError(f"two artifacts are called {artifact.path!r}")
        out[artifact.path] = artifact.text.encode()
    return out


def _inside(path: str) -> bool:
    parts = PurePosixPath(path).parts
    plain = path == "/".join(parts) and "\\" not in path and "\0" not in path and ":" not in path[:2]
    return bool(parts) and plain and ".." not in parts and not path.startswith("/")


def _manifest_last(path: str) -> tuple[bool, str]:
    return path == MANIFEST, path


def _read(path: Path) -> bytes | None:
    """None when there is no such file; a symlink is not ours, and counts as none."""
    if path.is_symlink() or not path.is_file():
        return None
    return path.read_bytes()


def _listed(out: Path) -> tuple[str, ...]:
    """Paths that the manifest in out/ lists; none when it is absent, or not a manifest."""
    try:
        files = msgspec.json.decode((out / MANIFEST).read_bytes())["files"]
        paths = [entry if isinstance(entry, str) else entry["path"] for entry in files]
    except (OSError, msgspec.DecodeError, KeyError, TypeError):
        return ()
    return tuple(path for path in paths if isinstance(path, str) and _inside(path))


def _orphans(out: Path, fresh: dict[str, bytes]) -> tuple[str, ...]:
    listed = {path for path in _listed(out) if path not in fresh}
    return tuple(sorted(path for path in listed if _below(out, path) and _read(out / path) is not None))


def _below(out: Path, path: str) -> bool:
    """Whether the path stays below out/ on this disk: no folder on the way is a symlink."""
    return not any((out / parent).is_symlink() for parent in PurePosixPath(path).parents)


def _refuse_obstacles(out: Path, fresh: dict[str, bytes]) -> None:
    """Refuses to write through a symlink or over a folder or file that the manifest does not list."""
    ours = set(_listed(out))
    for path in fresh:
        place = out / path
        if not _below(out, path) or place.is_symlink():
            raise FileExistsError(f"{place} is a symbolic link, or lies behind one")
        if place.is_dir() and any(not (entry.is_dir() or _relative(entry, out) in ours) for entry in place.rglob("*")):
            raise FileExistsError(f"{place} is a folder with files that longwatch did not write")
        for parent in PurePosixPath(path).parents:
            if (out / parent).is_file() and str(parent) not in ours:
                raise FileExistsError(f"{out / parent} is a file, and longwatch needs a folder of that name")


def _relative(path: Path, out: Path) -> str:
    return path.relative_to(out).as_posix()


def _stagings(out: Path) -> tuple[Path, Path]:
    """Beside out/, or inside when out/ is a file system of its own or its parent is closed to us."""
    return out.parent / f".{out.name}.longwatch", out / ".longwatch"


def _staging(out: Path) -> Path:
    beside, within = _stagings(out)
    usable = out.name and os.access(out.parent, os.W_OK) and out.stat().st_dev == out.parent.stat().st_dev
    return beside if usable else within


def _commit(out: Path, fresh: dict[str, bytes], journal: _Journal) -> None:
    staging = _staging(out)
    try:
        for path in journal.replace:
            place = staging / "files" / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(fresh[path])
        draft = staging / "journal.draft"
        draft.write_bytes(msgspec.json.format(msgspec.json.encode(journal)))
        draft.replace(staging / _JOURNAL)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    _apply(out, staging, journal)


def _apply(out: Path, staging: Path, journal: _Journal) -> None:
    """Carries a journal out, or carries it on: what is done already leaves nothing to do."""
    for path in journal.delete:
        (out / path).unlink(missing_ok=True)
        _prune(out, path)
    for path in journal.replace:
        staged = staging / "files" / path
        if staged.exists():
            place = out / path
            if place.is_dir():
                _remove_empty_folders(place)
            place.parent.mkdir(parents=True, exist_ok=True)
            staged.replace(place)
    (staging / _JOURNAL).unlink()
    shutil.rmtree(staging)


def _recover(out: Path) -> bool:
    """Finishes or throws away what an interrupted run left; True when it was finished."""
    finished = False
    for staging in _stagings(out):
        try:
            journal = msgspec.json.decode((staging / _JOURNAL).read_bytes(), type=_Journal)
        except FileNotFoundError:
            shutil.rmtree(staging, ignore_errors=True)
            continue
        except msgspec.DecodeError as error:
            raise OSError(f"{staging / _JOURNAL} is not a journal of longwatch; remove {staging} ({error})") from error
        if not all(_inside(path) and _below(out, path) for path in (*journal.replace, *journal.delete)):
            raise OSError(f"{staging / _JOURNAL} leads out of {out}; remove {staging}")
        _apply(out, staging, journal)
        finished = True
    return finished


def _prune(out: Path, path: str) -> None:
    """Removes the folders that a deletion left empty."""
    for parent in PurePosixPath(path).parents:
        if str(parent) == ".":
            return
        with contextlib.suppress(OSError):  # not empty, or gone already
            (out / parent).rmdir()


def _remove_empty_folders(place: Path) -> None:
    for folder in sorted((entry for entry in place.rglob("*") if entry.is_dir()), reverse=True):
        folder.rmdir()
    place.rmdir()


@contextlib.contextmanager
def _alone(out: Path) -> Iterator[None]:
    """Two builds into one folder take turns. The lock dies with its process, so there is none to clean up."""
    handle = os.open(out, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # some network file systems have no locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def _out_unwritable(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        place = f"{error.filename}: " if error.strerror and error.filename else ""
        raise Trouble(
            (
                Diagnostic(
                    code="out-unwritable",
                    message=f"cannot write to {out}: {place}{reason}",
                    why="out/ is left as it was, or the next build finishes it",
                    help="check the folder's owner and the free space, or name another one with --out",
                ),
            )
        ) from error
