"""What a failed command leaves behind: the user's mistakes as diagnostics, our own as a report that is ready to paste."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from longwatch.cli.terminal import Terminal
from longwatch.diagnostics import Diagnostic, Severity, Trouble
from longwatch.report.diagnostics import render_text

FINDINGS, INTERNAL, DRIFT, TOOL = 1, 3, 4, 5


def code(diagnostics: Iterable[Diagnostic]) -> int:
    """The exit code that these findings deserve: a tool that gave no answer weighs more than a wrong policy."""
    errors = [d for d in diagnostics if d.severity is Severity.ERROR]
    if any(d.code.startswith("tool-") for d in errors):
        return TOOL
    return FINDINGS if errors else 0


def ending(error: Exception, arguments: Sequence[str]) -> int:
    """Reports an exception that no verb caught; the exit code."""
    if isinstance(error, Trouble):
        terminal = Terminal.of(None)
        terminal.say(render_text(error.diagnostics, colour=terminal.colour, width=terminal.width))
        return code(error.diagnostics)
    from longwatch.cli import crash  # late: its imports take as long as checking a policy

    report = crash.report(error, arguments)
    kept = crash.kept(report)
    sys.stderr.write(
        "\nLongwatch has met a situation that it was not written for. This is our mistake, not yours; no output was"
        " left half written.\nPlease open an issue and paste the following"
        + (f" (also in {kept})" if kept else "")
        + f":\n\n{report}"
    )
    return INTERNAL
