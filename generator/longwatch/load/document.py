"""A policy file as it was read: plain values, and the place of each of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import msgspec

from longwatch.diagnostics import Path, Span

Scalar: TypeAlias = str | int | float | bool | None
Value: TypeAlias = "Scalar | list[Value] | dict[str, Value]"


class Place(msgspec.Struct, frozen=True, gc=False):
    """Where one value stands; lines and columns count from 0, as the parser counts; the end is exclusive.

    Positional, and without cyclic garbage collection: a policy makes hundreds of them and the budget is 1 ms.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    key: Place | None = None
    """The key that the value stands under; None in a list and at the top."""
    children: Mapping[str | int, Place] = {}
    block: bool = False
    """A mapping or list written by indentation, whose end the parser reports at the next token."""


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """One YAML document. `file` is the path as the user gave it; keys in `value` are always text."""

    file: str
    value: Value
    lines: tuple[str, ...]
    root: Place

    def span(self, path: Path = (), key: bool = False) -> Span:
        """The place of the value at `path`, or of its key. Never fails.

        A path that does not exist leads to the nearest existing parent, shown by its key when it has one.
        A mapping is shown by its first key, a value of several lines by its first line.
        """
        place = self.root
        for step in path:
            child = place.children.get(step)
            if child is None:
                return self._at(place.key or place)
            place = child
        # An empty value (`ranks:`) has no text to point at.
        empty = (place.line, place.column) == (place.end_line, place.end_column)
        return self._at(place.key if place.key and (key or empty) else place)

    def _at(self, place: Place) -> Span:
        if place.block and place.children:
            first = next(iter(place.children.values()))
            place = first.key or place
        return span_between(self.file, self.lines, place.line, place.column, place.end_line, place.end_column)


def span_between(file: str, lines: tuple[str, ...], line: int, column: int, end_line: int, end_column: int) -> Span:
    """A span from marks that count from 0; it ends on its first line and is at least one character long."""
    if line >= len(lines):  # the parser reports the end of a file one line behind the last
        line, column = max(len(lines) - 1, 0), len(lines[-1]) if lines else 0
        end_line = line + 1
    text = lines[line] if lines else ""
    end = end_column if end_line == line else len(text.rstrip())
    return Span(file=file, line=line + 1, column=column + 1, length=max(end - column, 1), text=text)
