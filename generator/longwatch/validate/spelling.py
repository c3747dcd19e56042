"""How a value with a misspelt unit was probably meant: `40 min` → `40m`, `10gb` → `10GB`, `0.1` → `10%`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from longwatch.units import BYTES_PATTERN, DURATION_PATTERN, PERCENT_PATTERN, number

Quantity = Literal["duration", "percentage", "threshold"]

DURATION_UNITS = "ms, s, m, h, d and w"
EXAMPLES = {
    "duration": f"a duration is a number and its unit ({DURATION_UNITS}), such as 90s, 40m or 1h30m",
    "percentage": "a percentage carries its sign, such as 97%",
    "threshold": "write 97% (of the baseline), a size such as 10GiB, a duration such as 30m, or a plain number",
}

_Table = Mapping[str, tuple[str, ...]]
_DURATIONS: _Table = {
    "ms": ("ms", "msec", "msecs", "millisecond", "milliseconds"),
    "s": ("s", "sec", "secs", "second", "seconds"),
    "m": ("m", "min", "mins", "minute", "minutes"),
    "h": ("h", "hr", "hrs", "hour", "hours"),
    "d": ("d", "day", "days"),
    "w": ("w", "wk", "week", "weeks"),
}
_PERCENTS: _Table = {"%": ("%", "percent", "pct")}
_BYTES: _Table = {
    "B": ("b", "byte", "bytes"),
    "kB": ("kb", "k"), "MB": ("mb",), "GB": ("gb", "g"), "TB": ("tb", "t"),
    "KiB": ("kib", "ki"), "MiB": ("mib", "mi"), "GiB": ("gib", "gi"), "TiB": ("tib", "ti"),
}  # fmt: skip
_PARTS = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]+|%)")
_NUMBER = re.compile(r"\s*[-+]?[0-9]+(?:\.[0-9]+)?\s*")


def quantity(pattern: object) -> Quantity | None:
    """Which of the quantities a schema's pattern stands for."""
    if pattern == DURATION_PATTERN:
        return "duration"
    if pattern == PERCENT_PATTERN:
        return "percentage"
    text = str(pattern)
    return "threshold" if PERCENT_PATTERN in text and BYTES_PATTERN in text else None


def respelled(text: str, kind: Quantity) -> str | None:
    """`text` with the units that it probably means; None when that is anybody's guess."""
    every: Mapping[Quantity, tuple[_Table, ...]] = {
        "duration": (_DURATIONS,),
        "percentage": (_PERCENTS,),
        "threshold": (_PERCENTS, _DURATIONS, _BYTES),
    }
    for table in every[kind]:
        known = {word: unit for unit, words in table.items() for word in words}
        parts = _PARTS.findall(text)
        rest = _PARTS.sub("", text).strip(" ,")
        if parts and not rest and all(word.casefold() in known for _, word in parts):
            if table is not _DURATIONS and len(parts) > 1:
                continue
            return "".join(f"{count}{known[word.casefold()]}" for count, word in parts)
    return None


def is_number(text: str) -> bool:
    return bool(_NUMBER.fullmatch(text))


def as_percent(value: float) -> str:
    """What a number without a sign probably means as a percentage, e.g. `10%`, or `1000% or 10%`."""
    ratio = f"{number(round(value * 100, 8))}%"
    if abs(value) < 5:
        return ratio
    return f"{number(value)}%, or {ratio} if {number(value)} is a ratio"


def is_percent(text: str) -> bool:
    return bool(re.fullmatch(PERCENT_PATTERN, text))
