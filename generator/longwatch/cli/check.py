"""`longwatch check`."""

from __future__ import annotations

import click

from longwatch.cli import options
from longwatch.cli.ending import code
from longwatch.cli.sources import sources, tell
from longwatch.cli.terminal import Terminal
from longwatch.compiler import examine, outline_subject
from longwatch.report.table import count


@click.command(
    epilog="Example: longwatch check --format github",
)
@options.policies
@options.form
@options.colour
def command(directory: str, form: str, colour: bool | None) -> int:
    """Check the policies: syntax, types, names, and what their alerts can and cannot see.

    Runs all checks on all policies, writes nothing and needs no other tool. Alerts of a pack that no exporter can feed
    are listed as notes: what they would watch is unprotected.
    """
    terminal = Terminal.of(colour)
    read = sources(directory)
    found = read.shown(examine(read.front, outline_subject)[1])
    tell(found, form, terminal)
    policy = read.front.policy
    if form == "text" and policy is not None and not code(found):
        families, clusters = count(len(policy.families), "family", "families"), count(len(policy.clusters), "cluster")
        terminal.say(f"{families} and {clusters} are fit to build.")
    return code(found)
