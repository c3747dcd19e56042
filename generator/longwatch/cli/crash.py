"""A report of our own mistake, ready to paste."""

from __future__ import annotations

import platform
import shlex
import sys
import tempfile
import traceback
from collections.abc import Sequence

from longwatch import __version__


def report(error: Exception, arguments: Sequence[str]) -> str:
    facts = {
        "longwatch": __version__,
        "python": sys.version.split()[0],
        "platform": platform.platform(),
        "command": shlex.join(["longwatch", *arguments]),
    }
    lines = [f"{name + ':':<11}{value}" for name, value in facts.items()]
    return "\n".join([*lines, "", "".join(traceback.format_exception(error)).rstrip(), ""])


def kept(report: str) -> str:
    """The file that holds the report; empty where none can be written."""
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="longwatch-report-", suffix=".txt", delete=False, encoding="utf-8", errors="backslashreplace"
        ) as file:
            file.write(report)
    except OSError:
        return ""
    return file.name
