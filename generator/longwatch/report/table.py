"""Rows as aligned columns of text."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """`head` over `rows`; the first `left` columns and the last one, when it is text, begin at the left."""
    widths = [max(_width(row[i]) for row in (head, *rows)) for i in range(len(head))]
    return "".join(
        "  ".join(
            _padded(cell, width, i < left) for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        + "\n"
        for row in (head, *rows)
    )


def count(number: int, noun: str, plural: str = "") -> str:
    """`1 family`, `2 families`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def _padded(cell: str, width: int, left: bool) -> str:
    blanks = " " * (width - _width(cell))
    return cell + blanks if left else blanks + cell


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
