"""`longwatch init`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from longwatch import __version__
from longwatch.cli import options
from longwatch.cli.terminal import Terminal
from longwatch.diagnostics import Diagnostic, Trouble
from longwatch.plugins.front import detectors
from longwatch.render.json import dump
from longwatch.render.text import render
from longwatch.validate.documents import schema

FILES: Mapping[str, str] = {
    "policies/organisation.yaml": "policies/organisation.yaml",
    "policies/families/my-model.yaml": "policies/families/my-model.yaml",
    "policies/clusters/my-cluster.yaml": "policies/clusters/my-cluster.yaml",
    ".github/workflows/longwatch.yml": "github/workflow.yml",
    ".gitignore": "gitignore",
    "README.md": "README.md",
}
"""File → its template below templates/init; none of those begins with a dot, which packaging tools like to leave out."""

_SCHEMA = "policies/longwatch.schema.json"


@click.command(epilog="Example: longwatch init my-policies")
@click.argument("directory", default=".", metavar="[DIR]")
@options.colour
def command(directory: str, colour: bool | None) -> int:
    """Scaffold a repository of policies: an organisation, a family in stage shadow, a cluster, CI and a README.

    A file that is there already is left as it is.
    """
    terminal = Terminal.of(colour)
    root = Path(directory)
    try:
        lines = [f"  {'kept as it is' if kept else 'written':<14} {path}" for path, kept in _scaffold(root)]
    except OSError as error:
        problem = Diagnostic(
            code="init-unwritable",
            message=f"cannot write to {root}: {error.filename}: {error.strerror}",
            help="check the folder's owner, or name another one: longwatch init DIR",
        )
        raise Trouble((problem,)) from error
    terminal.say("\n".join(lines))
    go = f"cd {directory} && " if root.resolve() != Path.cwd() else ""
    terminal.say(
        f"\nNext: {go}longwatch check, longwatch build, longwatch test; then put your names and numbers into policies/."
    )
    return 0


def _scaffold(root: Path) -> Iterator[tuple[str, bool]]:
    """(path, whether it was there already); nothing is ever overwritten."""
    for path, template in FILES.items():
        yield path, _kept(root / path, render(f"init/{template}", version=__version__))
    parameters = {name: detector.parameters for name, detector in detectors().items()}
    yield _SCHEMA, _kept(root / _SCHEMA, dump(schema(parameters)))


def _kept(path: Path, text: str) -> bool:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        return True
    return False
