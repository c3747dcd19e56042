"""Deterministic JSON: sorted keys, two spaces, one final newline, UTF-8 as it is."""

from __future__ import annotations

import msgspec


def dump(value: object) -> str:
    """The same value always gives the same text. Floats must be finite: JSON has no NaN, msgspec would write null.

    Raises TypeError on a value that JSON cannot hold.
    """
    # the standard library's indented writer is pure Python; both calls here are C
    return msgspec.json.format(msgspec.json.encode(value, order="sorted"), indent=2).decode() + "\n"
