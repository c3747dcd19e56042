"""Units of the policy language, and how they are written in PromQL. A leaf.

Each type decodes what people write (`40m`, `97%`, `10GiB`) to base units: seconds, ratios, bytes.
"""

from __future__ import annotations

import re
from typing import Any

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_BYTES = {
    "B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
    "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "TiB": 2.0**40,
}  # fmt: skip
DURATION_PATTERN = r"^([0-9]+(\.[0-9]+)?(ms|s|m|h|d|w))+$"
PERCENT_PATTERN = r"^-?[0-9]+(\.[0-9]+)?%$"
BYTES_PATTERN = r"^[0-9]+(\.[0-9]+)?(B|kB|MB|GB|TB|KiB|MiB|GiB|TiB)$"
_LONGEST = 1000 * 365 * 86400.0
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d|w)")


class Duration(float):
    """Seconds; written `90s`, `1h30m`, `7d`."""


class Percent(float):
    """A ratio; always written with the sign: `97%` is 0.97."""


class Threshold(float):
    """A limit: `97%` (relative to a baseline or to a trailing value), `10GiB`, `30m`, or a plain number in the signal's unit."""

    relative: bool = False
    written: str = ""

    @staticmethod
    def of(value: float, *, relative: bool = False, written: str = "") -> Threshold:
        made = Threshold(value)
        made.relative, made.written = relative, written or number(value)
        return made


def parse_duration(text: str) -> Duration:
    """Seconds in `text`. Raises ValueError on anything that is not a duration."""
    if not re.match(DURATION_PATTERN, text):
        raise ValueError(f"{text!r} is not a duration")
    seconds = sum(float(n) * _SECONDS[u] for n, u in _PART.findall(text))
    if seconds > _LONGEST:
        raise ValueError(f"{text!r} is longer than a thousand years")
    return Duration(seconds)


def parse_threshold(raw: str | float) -> Threshold:
    """Raises ValueError on a text that carries no known unit."""
    if isinstance(raw, (int, float)):
        return Threshold.of(float(raw))
    if re.match(PERCENT_PATTERN, raw):
        return Threshold.of(round(float(raw[:-1]) / 100, 10), relative=True, written=raw)
    if re.match(BYTES_PATTERN, raw):
        unit = raw.lstrip("0123456789.")
        return Threshold.of(float(raw[: -len(unit)]) * _BYTES[unit], written=raw)
    return Threshold.of(float(parse_duration(raw)), written=raw)


def decode(kind: type, raw: Any) -> Any:
    """msgspec's dec_hook for the types above. Raises ValueError, which msgspec turns into its own error."""
    if kind is Duration and isinstance(raw, str):
        return parse_duration(raw)
    if kind is Percent and isinstance(raw, str) and re.match(PERCENT_PATTERN, raw):
        return Percent(round(float(raw[:-1]) / 100, 10))
    if kind is Threshold and isinstance(raw, (str, int, float)) and not isinstance(raw, bool):
        return parse_threshold(raw)
    raise ValueError(f"{raw!r} is not a {kind.__name__.lower()}")


def json_schema(kind: type) -> dict[str, Any]:
    """msgspec's schema_hook for the types above."""
    if kind is Duration:
        return {"type": "string", "pattern": DURATION_PATTERN, "description": "A duration such as 90s, 40m, 1h30m, 7d."}
    if kind is Percent:
        return {"type": "string", "pattern": PERCENT_PATTERN, "description": "A percentage with its sign, such as 97%."}
    if kind is Threshold:
        pattern = f"({PERCENT_PATTERN})|({BYTES_PATTERN})|({DURATION_PATTERN})"
        text = "97% (relative), 10GiB, 30m, or a number in the signal's unit."
        return {"type": ["number", "string"], "pattern": pattern, "description": text}
    raise NotImplementedError(kind)


def promql_duration(seconds: float) -> str:
    """The shortest PromQL duration: 5400 → `1h30m`. Fractions of a second are rounded up to milliseconds."""
    ms = round(seconds * 1000)
    out = ""
    for unit, size in (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)):
        count, ms = divmod(ms, size)
        out += f"{count}{unit}" if count else ""
    return out or "0s"


def number(value: float) -> str:
    """A float as PromQL and people read it: 12 significant digits, no trailing zeros, no exponent for whole numbers below 1e15."""
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.12g}"
