"""Diagnostics as text for people, JSON for programs and workflow commands for GitHub.

Each function is pure: it returns what the caller prints, in the order of `in_order`, ending with a newline.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

import msgspec

from longwatch.diagnostics import Diagnostic, Path, Severity, Span

_COLOURS = {Severity.ERROR: "31", Severity.WARNING: "33", Severity.NOTE: "36"}
_GITHUB_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}
_NARROWEST_EXCERPT = 20
_TAB = 4
# Text of a policy may not steer the terminal of the one who reads its error.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_Paint: TypeAlias = Callable[[str, str], str]


class _JsonDiagnostic(msgspec.Struct, frozen=True, kw_only=True):
    code: str
    severity: Severity
    message: str
    why: str
    help: str
    span: Span | None
    path: Path | None
    """Keys and indices inside the document, when the finding knows them."""


class _JsonCounts(msgspec.Struct, frozen=True, kw_only=True):
    errors: int
    warnings: int
    notes: int
    files: int


class _JsonReport(msgspec.Struct, frozen=True, kw_only=True):
    version: int
    """Raised when a key changes its meaning or goes away."""
    diagnostics: tuple[_JsonDiagnostic, ...]
    counts: _JsonCounts


def in_order(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """By file, line, column, code; then by message, so that the same findings always print the same."""

    def place(diagnostic: Diagnostic) -> tuple[str, int, int, str, str]:
        span = diagnostic.span
        line, column = (span.line, span.column) if span else (0, 0)
        return _file(diagnostic), line, column, diagnostic.code, diagnostic.message

    return tuple(sorted(diagnostics, key=place))


def summary(diagnostics: Iterable[Diagnostic]) -> str:
    """The closing line: `2 errors, 1 warning in 3 files`; empty without diagnostics."""
    found = tuple(diagnostics)
    counts = Counter(diagnostic.severity for diagnostic in found)
    parts = [_count(counts[severity], severity.value) for severity in Severity if counts[severity]]
    files = {_file(diagnostic) for diagnostic in found} - {""}
    return ", ".join(parts) + (f" in {_count(len(files), 'file')}" if files else "")


def render_text(diagnostics: Iterable[Diagnostic], *, colour: bool = False, width: int = 120) -> str:
    """Each finding with its source line, then the closing line; empty without diagnostics.

    Lines of source are clipped around the span to `width` columns of the terminal. `colour` adds ANSI sequences.
    """
    found = in_order(diagnostics)
    if not found:
        return ""
    paint = _ansi if colour else _plain
    blocks = ["\n".join(_text_lines(diagnostic, paint, width)) for diagnostic in found]
    return "\n\n".join([*blocks, paint(summary(found), "1")]) + "\n"


def render_json(diagnostics: Iterable[Diagnostic]) -> str:
    """One document: `version`, `diagnostics` and `counts`; every key is always present."""
    found = in_order(diagnostics)
    counts = Counter(diagnostic.severity for diagnostic in found)
    report = _JsonReport(
        version=1,
        diagnostics=tuple(
            _JsonDiagnostic(
                code=diagnostic.code,
                severity=diagnostic.severity,
                message=diagnostic.message,
                why=diagnostic.why,
                help=diagnostic.help,
                span=diagnostic.span or (Span(file=_file(diagnostic), line=1, column=1) if _file(diagnostic) else None),
                path=diagnostic.origin.path if diagnostic.origin else None,
            )
            for diagnostic in found
        ),
        counts=_JsonCounts(
            errors=counts[Severity.ERROR],
            warnings=counts[Severity.WARNING],
            notes=counts[Severity.NOTE],
            files=len({_file(diagnostic) for diagnostic in found} - {""}),
        ),
    )
    return msgspec.json.format(msgspec.json.encode(report), indent=2).decode() + "\n"


def render_github(diagnostics: Iterable[Diagnostic]) -> str:
    """One workflow command a finding, which GitHub shows beside the line in the pull request."""
    return "".join(f"{_github_command(diagnostic)}\n" for diagnostic in in_order(diagnostics))


def _text_lines(diagnostic: Diagnostic, paint: _Paint, width: int) -> Iterator[str]:
    colour = f"1;{_COLOURS[diagnostic.severity]}"
    severity = paint(f"{diagnostic.severity.value}[{diagnostic.code}]", colour)
    location = _location(diagnostic)
    message = _printable(diagnostic.message)
    yield f"{paint(location, '1')}: {severity}: {message}" if location else f"{severity}: {message}"
    help, beside = _printable(diagnostic.help), ""
    gutter = 1
    if diagnostic.span and not _is_whole_file(diagnostic.span):
        gutter = len(str(diagnostic.span.line))
        line, before, marked = _excerpt(diagnostic.span, max(width - gutter - 3, _NARROWEST_EXCERPT))
        if help.startswith("did you mean"):  # a short answer stands where the eye already is
            help, beside = "", f" {help}"
        yield f"{diagnostic.span.line} | {line}".rstrip()
        yield f"{' ' * gutter} | {' ' * before}{paint('^' * marked + beside, colour)}"
    indent = " " * (gutter + 1)
    for word, text in (("why", _printable(diagnostic.why)), ("help", help)):
        if text:
            yield f"{indent}{word}: " + text.replace("\n", f"\n{indent}{' ' * (len(word) + 2)}")


def _location(diagnostic: Diagnostic) -> str:
    span = diagnostic.span
    if span is None or _is_whole_file(span):
        return _printable(_file(diagnostic))
    return f"{_printable(span.file)}:{span.line}:{span.column}"


def _is_whole_file(span: Span) -> bool:
    return span.length == 0 and not span.text


def _file(diagnostic: Diagnostic) -> str:
    if diagnostic.span:
        return diagnostic.span.file
    return diagnostic.origin.file if diagnostic.origin else ""


def _excerpt(span: Span, width: int) -> tuple[str, int, int]:
    """The source line as it is shown, the columns before the carets, and the number of carets."""
    cells = _cells(span.text)
    start = min(span.column - 1, len(cells))
    end = min(start + max(span.length, 1), len(cells))
    first, last = _window(cells, start, end, width)
    clipped_left, clipped_right = "…" if first else "", "…" if last < len(cells) else ""
    shown = clipped_left + "".join(text for text, _ in cells[first:last]) + clipped_right
    before = len(clipped_left) + sum(wide for _, wide in cells[first:start])
    marked = sum(wide for _, wide in cells[start : min(end, last)])
    return shown, before, max(marked, 1)


def _cells(text: str) -> list[tuple[str, int]]:
    """Each character as it is shown, and the columns it takes: tabs are expanded, East Asian characters take two."""
    cells: list[tuple[str, int]] = []
    column = 0
    for character in text:
        if character == "\t":
            wide = _TAB - column % _TAB
            shown = " " * wide
        else:
            shown, wide = _printable(character), 1
            if unicodedata.category(character) in ("Mn", "Me", "Cf") and shown == character:
                wide = 0
            elif unicodedata.east_asian_width(character) in "WF":
                wide = 2
        cells.append((shown, wide))
        column += wide
    return cells


def _window(cells: list[tuple[str, int]], start: int, end: int, width: int) -> tuple[int, int]:
    """The characters [first, last) that fit `width` columns: the span, and what surrounds it while there is room."""
    if sum(wide for _, wide in cells) <= width:
        return 0, len(cells)
    room = width - 2  # an ellipsis on either side
    last = start
    while last < end and sum(wide for _, wide in cells[start : last + 1]) <= room:
        last += 1
    first = start
    room -= sum(wide for _, wide in cells[start:last])
    while room > 0:
        grown = False
        if first > 0 and cells[first - 1][1] <= room:
            first -= 1
            room -= cells[first][1]
            grown = True
        if last < len(cells) and cells[last][1] <= room:
            room -= cells[last][1]
            last += 1
            grown = True
        if not grown:
            break
    return first, last


def _github_command(diagnostic: Diagnostic) -> str:
    span = diagnostic.span
    properties: dict[str, str | int] = {}
    if _file(diagnostic):
        properties["file"] = _file(diagnostic)
    if span and not _is_whole_file(span):
        properties |= {"line": span.line, "col": span.column, "endColumn": span.column + max(span.length, 1)}
    properties["title"] = diagnostic.code
    written = ",".join(f"{name}={_escape_property(str(value))}" for name, value in properties.items())
    parts = [diagnostic.message]
    parts += [f"{word}: {text}" for word, text in (("why", diagnostic.why), ("help", diagnostic.help)) if text]
    return f"::{_GITHUB_COMMANDS[diagnostic.severity]} {written}::{_escape_data(chr(10).join(parts))}"


def _escape_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape_data(text).replace(":", "%3A").replace(",", "%2C")


def _printable(text: str) -> str:
    return _UNPRINTABLE.sub("\ufffd", text)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _plain(text: str, _colour: str) -> str:
    return text


def _ansi(text: str, colour: str) -> str:
    return f"\x1b[{colour}m{text}\x1b[0m"
