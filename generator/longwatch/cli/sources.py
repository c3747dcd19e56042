"""Reads the policies below a directory, and keeps the output independent of how that directory was spelt."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click
import msgspec

from longwatch.cli.terminal import Terminal
from longwatch.compiler import Front, read
from longwatch.diagnostics import Diagnostic
from longwatch.load.source_tree import find_policies
from longwatch.policy.model import Cluster, Family, Policy
from longwatch.report.diagnostics import render_github, render_json, render_text
from longwatch.suggest import closest


class Sources(msgspec.Struct, frozen=True, kw_only=True):
    """Inside the compiler a policy is called `<directory's own name>/<path>`, since that stands in the output; people
    see it below the directory as they gave it."""

    files: tuple[tuple[str, bytes], ...]
    front: Front
    directory: str
    name: str

    def shown(self, diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        """The diagnostics with the files as the user calls them."""
        return tuple(self._shown(d) for d in diagnostics)

    def _shown(self, diagnostic: Diagnostic) -> Diagnostic:
        replace = msgspec.structs.replace
        if diagnostic.span is not None:
            diagnostic = replace(diagnostic, span=replace(diagnostic.span, file=self.path(diagnostic.span.file)))
        if diagnostic.origin is not None:
            diagnostic = replace(diagnostic, origin=replace(diagnostic.origin, file=self.path(diagnostic.origin.file)))
        return diagnostic

    def path(self, file: str) -> str:
        inside = file.removeprefix(f"{self.name}/")
        return file if inside == file else (Path(self.directory) / inside).as_posix()

    def subject(self, name: str, option: str) -> Family | Cluster:
        """The family or cluster of this name. Raises a usage error that suggests one."""
        assert self.front.policy is not None
        return chosen(self.front.policy, name, option)

    def narrowed(self, subject: Family | Cluster) -> Sources:
        """As if it were the only one."""
        policy = self.front.policy
        assert policy is not None
        only = msgspec.structs.replace(
            policy,
            families=tuple(f for f in policy.families if f is subject),
            clusters=tuple(c for c in policy.clusters if c is subject),
        )
        return msgspec.structs.replace(self, front=msgspec.structs.replace(self.front, policy=only))


def sources(directory: str) -> Sources:
    """Everything below `directory`, read and checked; what the file system refuses is among the diagnostics."""
    files, problems = find_policies(directory)
    name = Path(directory).resolve().name or "policies"
    prefix = Path(directory).as_posix()
    named = tuple((_name(file, prefix, name), raw) for file, raw in files)
    front = read(named) if named else Front(documents={}, policy=None, diagnostics=())
    front = msgspec.structs.replace(front, diagnostics=(*problems, *front.diagnostics))
    return Sources(files=named, front=front, directory=directory, name=name)


def _name(file: str, prefix: str, name: str) -> str:
    inside = file if prefix == "." else file.removeprefix(prefix).lstrip("/")
    return f"{name}/{inside}"


def chosen(policy: Policy, name: str, option: str) -> Family | Cluster:
    by_name = {subject.name: subject for subject in policy.subjects}
    if name in by_name:
        return by_name[name]
    near = closest(name, by_name)
    hint = f'did you mean "{near}"?' if near else f"there are: {', '.join(by_name) or 'none'}"
    raise click.BadParameter(f'no family or cluster is called "{name}"; {hint}', param_hint=option)


def tell(diagnostics: Iterable[Diagnostic], form: str, terminal: Terminal) -> None:
    """Diagnostics alone, in the format that was asked for."""
    if form == "json":
        terminal.put(render_json(diagnostics))
    elif form == "github":
        terminal.put(render_github(diagnostics))
    else:
        terminal.say(render_text(diagnostics, colour=terminal.colour, width=terminal.width))
