"""Where words go: stdout for what was asked for, stderr for people; colour and progress only where a terminal is."""

from __future__ import annotations

import os
import shutil
import sys
import time
from typing import TextIO

_PATIENCE = 1.0
"""Seconds of work before progress is shown."""
_PACE = 0.1


class Terminal:
    """`colour` is for stderr, `colour_out` for stdout."""

    def __init__(self, *, colour: bool, colour_out: bool, interactive: bool, width: int) -> None:
        self.colour, self.colour_out = colour, colour_out
        self.interactive = interactive
        self.width = width

    @staticmethod
    def of(wanted: bool | None) -> Terminal:
        """`wanted`: --color or --no-color; None: neither. NO_COLOR counts when it is not empty."""
        if wanted is None and (os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"):
            wanted = False
        return Terminal(
            colour=_is_terminal(sys.stderr) if wanted is None else wanted,
            colour_out=_is_terminal(sys.stdout) if wanted is None else wanted,
            interactive=_is_terminal(sys.stderr) and os.environ.get("TERM") != "dumb",
            width=shutil.get_terminal_size((120, 24)).columns,
        )

    def say(self, text: str) -> None:
        """For people."""
        sys.stderr.write(_closed(text))
        sys.stderr.flush()

    def put(self, text: str) -> None:
        """What was asked for."""
        sys.stdout.write(_closed(text))
        sys.stdout.flush()


class Progress:
    """One line on stderr that says how far the work is, after the first second, on a terminal only."""

    def __init__(self, terminal: Terminal, what: str) -> None:
        self._shown, self._what, self._width = terminal.interactive, what, terminal.width
        self._begun = self._last = time.monotonic()
        self._written = False

    def __call__(self, done: int, total: int, label: str) -> None:
        now = time.monotonic()
        if not self._shown or now - self._begun < _PATIENCE or (now - self._last < _PACE and done < total):
            return
        self._last, self._written = now, True
        line = f"{self._what} {done}/{total} {label}"
        sys.stderr.write(f"\r\x1b[K{line[: self._width - 1]}")
        sys.stderr.flush()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._written:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _is_terminal(stream: TextIO) -> bool:
    return stream is not None and stream.isatty()


def _closed(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"
