"""Finds promtool, amtool, prometheus and alertmanager, and tells whether they are new enough.

Looked at in this order: the environment variable (PROMTOOL, AMTOOL, PROMETHEUS, ALERTMANAGER), PATH, and
`<tools directory>/bin`, which .ci/fetch-tools fills. A variable is taken at its word; of the others the first
that is new enough wins.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from longwatch.diagnostics import Diagnostic, Trouble
from longwatch.tools.process import Command, Ending, Finished, run

Version = tuple[int, int, int]
_VERSION = re.compile(r"version v?(\d+)\.(\d+)(?:\.(\d+))?")


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """A program that longwatch runs."""

    name: str
    variable: str
    programs: tuple[str, ...]
    """File names, in the order in which they are looked for."""
    oldest: Version
    reason: str
    """Why nothing older will do."""
    package: str
    """Debian's and Ubuntu's package, as people type it."""


_KEEP_FIRING = "keep_firing_for came with 2.42"
_ACTIVE_TIMES = "the oldest release that the emitted configuration is tested with"
KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(
            name="promtool",
            variable="PROMTOOL",
            programs=("promtool",),
            oldest=(2, 42, 0),
            reason=_KEEP_FIRING,
            package="promtool (on Debian 12: prometheus)",
        ),
        Kind(
            name="prometheus",
            variable="PROMETHEUS",
            programs=("prometheus",),
            oldest=(2, 42, 0),
            reason=_KEEP_FIRING,
            package="prometheus",
        ),
        Kind(
            name="amtool",
            variable="AMTOOL",
            programs=("amtool",),
            oldest=(0, 25, 0),
            reason=_ACTIVE_TIMES,
            package="prometheus-alertmanager",
        ),
        Kind(
            name="alertmanager",
            variable="ALERTMANAGER",
            programs=("alertmanager", "prometheus-alertmanager"),  # Debian renames it
            oldest=(0, 25, 0),
            reason=_ACTIVE_TIMES,
            package="prometheus-alertmanager",
        ),
    )
}


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    path: str
    version: Version

    @property
    def release(self) -> str:
        """The version as people write it, without a distribution's suffix."""
        return ".".join(str(part) for part in self.version)


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """One line of `longwatch doctor`."""

    name: str
    path: str = ""
    """Empty when the program was not found."""
    version: str = ""
    problem: Diagnostic | None = None
    """Why it cannot be used and how to get it; None when all is well."""

    @property
    def ok(self) -> bool:
        return self.problem is None


class Toolbox(msgspec.Struct, frozen=True, kw_only=True):
    """Tools that were found and are new enough, and the environment in which they run."""

    tools: Mapping[str, Tool]
    environment: Mapping[str, str]

    def __getitem__(self, name: str) -> Tool:
        return self.tools[name]


def require(
    names: Iterable[str], *, environment: Mapping[str, str], tools_dir: Path, patience: float = 20.0
) -> Toolbox:
    """The named tools, ready for use. `patience` is how many seconds `--version` may take.

    Raises Trouble with one diagnostic for each tool that is missing, too old, or does not answer.
    """
    found: dict[str, Tool] = {}
    problems: list[Diagnostic] = []
    for name in names:
        answer = _find(KINDS[name], environment, tools_dir, patience)
        if isinstance(answer, Tool):
            found[name] = answer
        else:
            assert answer.problem is not None
            problems.append(answer.problem)
    if problems:
        raise Trouble(tuple(problems))
    return Toolbox(tools=found, environment=environment)


def survey(*, environment: Mapping[str, str], tools_dir: Path, patience: float = 20.0) -> tuple[Status, ...]:
    """Every tool that longwatch can use, found or not; raises nothing."""
    answers = (_find(kind, environment, tools_dir, patience) for kind in KINDS.values())
    return tuple(
        Status(name=answer.name, path=answer.path, version=answer.release) if isinstance(answer, Tool) else answer
        for answer in answers
    )


def broken(tool: Tool, finished: Finished) -> Diagnostic | None:
    """The diagnostic for a run that ended without an answer; None when the tool did answer, well or badly."""
    program = f"{tool.name} {tool.release} ({tool.path})"
    if finished.ending is Ending.EXITED and not _panicked(finished):
        return None
    return _breakdown(program, finished, KINDS[tool.name])


def _find(kind: Kind, environment: Mapping[str, str], tools_dir: Path, patience: float) -> Tool | Status:
    named = environment.get(kind.variable, "")
    if named:
        path = shutil.which(named, path=environment.get("PATH", ""))
        if path is None:
            message = f"{kind.variable} is set to {named}, which is not a program"
            return Status(name=kind.name, problem=_missing(kind, message, environment))
        return _try(kind, path, environment, patience)
    places = (environment.get("PATH", ""), str(tools_dir / "bin"))
    candidates = [shutil.which(program, path=place) for place in places if place for program in kind.programs]
    first: Status | None = None
    for path in dict.fromkeys(candidate for candidate in candidates if candidate):
        answer = _try(kind, path, environment, patience)
        if isinstance(answer, Tool):
            return answer
        first = first or answer
    return first or Status(
        name=kind.name, problem=_missing(kind, f"{kind.name} is not on PATH nor in {tools_dir}/bin", environment)
    )


def _try(kind: Kind, path: str, environment: Mapping[str, str], patience: float) -> Tool | Status:
    finished = run(Command(argv=(path, "--version"), environment=environment, timeout=patience, merged=True))
    match = _VERSION.search(finished.stdout)
    if finished.ending is not Ending.EXITED or _panicked(finished):
        return Status(name=kind.name, path=path, problem=_breakdown(path, finished, kind))
    if match is None or not finished.stdout.startswith(f"{kind.name},"):
        message = f"{path} does not say that it is {kind.name} when asked for --version"
        return Status(name=kind.name, path=path, problem=_missing(kind, message, environment))
    tool = Tool(name=kind.name, path=path, version=(int(match[1]), int(match[2]), int(match[3] or 0)))
    if tool.version < kind.oldest:
        wanted = ".".join(str(part) for part in kind.oldest[:2])
        problem = Diagnostic(
            code="tool-too-old",
            message=f"{path} is {kind.name} {tool.release}; longwatch needs {wanted} or newer",
            why=kind.reason,
            help=_how_to_get(kind, environment, newer=True),
        )
        return Status(name=kind.name, path=path, version=tool.release, problem=problem)
    return tool


def _missing(kind: Kind, message: str, environment: Mapping[str, str]) -> Diagnostic:
    return Diagnostic(code="tool-missing", message=message, help=_how_to_get(kind, environment))


def _how_to_get(kind: Kind, environment: Mapping[str, str], *, newer: bool = False) -> str:
    variable = f"set {kind.variable} to the path of one that you have"
    download = "download a release from https://prometheus.io/download/"
    if newer or shutil.which("apt-get", path=environment.get("PATH", "")) is None:
        return f"{download}, then put it on PATH or {variable}"
    return (
        f"in a checkout, `make demo` fetches it into .tools/ without root; "
        f"or apt-get install {kind.package}; or {download}; or {variable}"
    )


def _panicked(finished: Finished) -> bool:
    """A Go program that panics exits with 2 and prints its goroutines."""
    return finished.returncode == 2 and "\ngoroutine " in finished.stdout + finished.stderr


def _breakdown(program: str, finished: Finished, kind: Kind) -> Diagnostic:
    arguments = " ".join(finished.command.argv[1:3])
    last = next((line for line in reversed((finished.stderr or finished.stdout).splitlines()) if line.strip()), "")
    match finished.ending:
        case Ending.TIMED_OUT:
            return Diagnostic(
                code="tool-timeout",
                message=f"{program} did not finish `{arguments}` within {finished.command.timeout:g} s and was stopped",
                help="run it again; if it stays slow, look for a busy disk or try another release",
            )
        case Ending.NOT_STARTED:
            return Diagnostic(
                code="tool-missing",
                message=f"{program} could not be started: {last}",
                help=f"is it built for this machine? {kind.variable} can name another one",
            )
        case Ending.CRASHED | Ending.EXITED:
            how = f"signal {-finished.returncode}" if finished.returncode < 0 else "a panic"
            return Diagnostic(
                code="tool-crashed",
                message=f"{program} crashed during `{arguments}` ({how})" + (f": {last.strip()}" if last else ""),
                help=f"this is not your policy's fault; try another release and name it in {kind.variable}",
            )
