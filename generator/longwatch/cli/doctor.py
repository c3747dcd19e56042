"""`longwatch doctor`."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import click

from longwatch import __version__
from longwatch.cli import options
from longwatch.cli.ending import code
from longwatch.cli.terminal import Terminal
from longwatch.report.diagnostics import render_github
from longwatch.report.diagnostics import render_text as render_diagnostics
from longwatch.report.tools import problems, render_text, to_json
from longwatch.tools.toolbox import survey


@click.command(epilog="Example: longwatch doctor")
@options.form
@options.colour
def command(form: str, colour: bool | None) -> int:
    """List the tools that longwatch can use, and how to get on this system what is missing.

    Looks at PROMTOOL, AMTOOL, PROMETHEUS and ALERTMANAGER, then on PATH, then in .tools/bin. Exits 5 unless promtool and
    amtool are there and new enough.
    """
    terminal = Terminal.of(colour)
    found = survey(environment=os.environ, tools_dir=Path(".tools").absolute())
    wrong = problems(found)
    if form == "json":
        terminal.put(to_json(found))
    elif form == "github":
        terminal.put(render_github(wrong))
    else:
        terminal.put(f"longwatch {__version__}, Python {platform.python_version()}, {platform.platform()}\n\n")
        terminal.put(render_text(found))
        text = render_diagnostics(wrong, colour=terminal.colour, width=terminal.width)
        terminal.say(f"\n{text}" if text else "")
    return code(wrong)
