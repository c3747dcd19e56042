"""Finds the policy files below a directory and reads their bytes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from longwatch.diagnostics import Diagnostic, Span
from longwatch.load.yaml_source import MAX_BYTES

_SUFFIXES = frozenset({".yaml", ".yml"})


def find_policies(directory: str) -> tuple[tuple[tuple[str, bytes], ...], tuple[Diagnostic, ...]]:
    """(display path, bytes) of every `*.yaml` and `*.yml` below `directory`, sorted by path, and what went wrong.

    Display paths begin with `directory` as the user gave it and have forward slashes. Names that begin with a dot
    are ignored. A file larger than the loader accepts is cut one byte behind its limit. Raises nothing.
    """
    root = Path(directory)
    if not root.is_dir():
        return (), (_missing(root),)
    problems: list[Diagnostic] = []
    sources: list[tuple[str, bytes]] = []
    for path in _walk(root, root.resolve(), problems):
        try:
            sources.append((_display(path), _read(path)))
        except OSError as error:
            problems.append(_unreadable(path, error))
    if not sources and not problems:
        problems.append(
            Diagnostic(
                code="no-policies",
                message="there is no policy (*.yaml, *.yml) below this directory",
                help="scaffold one with `longwatch init`, or name another directory",
                span=_whole(root),
            )
        )
    sources.sort()
    return tuple(sources), tuple(sorted(problems, key=lambda problem: problem.span.file if problem.span else ""))


def _walk(directory: Path, root: Path, problems: list[Diagnostic]) -> Iterator[Path]:
    try:
        entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
    except OSError as error:
        problems.append(_unreadable(directory, error))
        return
    for entry in entries:
        path = directory / entry.name
        if entry.name.startswith("."):
            continue
        is_policy = path.suffix.lower() in _SUFFIXES
        if entry.is_symlink():
            leads_to_directory = path.is_dir()
            if not (is_policy or leads_to_directory):
                continue
            if not Path(os.path.realpath(path)).is_relative_to(root):
                problems.append(_outside(path))
                continue
            if leads_to_directory:
                continue  # its files are found where they are; following it could go round in circles
        if path.is_dir():
            yield from _walk(path, root, problems)
        elif is_policy:
            yield path


def _read(path: Path) -> bytes:
    if not path.is_file():
        # A link to nothing raises the system's own words here; a pipe would wait for ever.
        path.stat()
        raise OSError(0, "it is not a regular file")
    with path.open("rb") as file:
        return file.read(MAX_BYTES + 1)


def _display(path: Path) -> str:
    # A file name need not be text, a message must be.
    return path.as_posix().encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _whole(path: Path) -> Span:
    return Span(file=_display(path), line=1, column=1)


def _missing(root: Path) -> Diagnostic:
    message = "this is a file, not a directory of policies" if root.exists() else "there is no such directory"
    return Diagnostic(
        code="no-policies",
        message=message,
        help="scaffold one with `longwatch init`, or name the directory that holds the policies",
        span=_whole(root),
    )


def _unreadable(path: Path, error: OSError) -> Diagnostic:
    return Diagnostic(
        code="unreadable",
        message=f"cannot be read: {error.strerror or error}",
        why="an unread policy would be an unwatched model family",
        help="repair the file or its permissions, or remove it",
        span=_whole(path),
    )


def _outside(path: Path) -> Diagnostic:
    return Diagnostic(
        code="symlink-outside",
        message="the symbolic link leaves the directory of policies",
        why="the review of a pull request would not show a change of what it leads to",
        help="copy the file into the directory, or compile the other directory as well",
        span=_whole(path),
    )
