"""promtool's notation of a series' values: `1 2 3`, `1x4`, `0+10x5`, `_`, `stale`. A leaf."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import groupby
from operator import sub
from types import NoneType
from typing import Literal, TypeAlias, cast

from longwatch.units import number

Sample: TypeAlias = "float | Literal['stale'] | None"
"""A value, no sample, or a staleness marker."""

_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?|[Nn]a[Nn]|[Ii]nf)"
_TOKEN = re.compile(rf"^(?P<first>{_NUMBER})(?:(?P<step>[+-]{_NUMBER.removeprefix('[+-]?')})?x(?P<times>[0-9]+))?$")
_GAP = re.compile(r"^_(?:x(?P<times>[0-9]+))?$")
_LONGEST = 100_000


def expand(text: str) -> tuple[Sample, ...]:
    """One entry per interval. Raises ValueError on what promtool would refuse, and on more than 100,000 samples."""
    samples: list[Sample] = []
    for token in text.split():
        gap, match = _GAP.match(token), _TOKEN.match(token)
        if token == "stale":
            samples.append("stale")
        elif gap:
            samples += [None] * min(int(gap["times"] or 1), _LONGEST + 1)
        elif match:
            first, step, times = float(match["first"]), float(match["step"] or 0), int(match["times"] or 0)
            samples += [float(first + step * i) for i in range(min(times, _LONGEST) + 1)]
        else:
            raise ValueError(f"{token!r} is not in promtool's notation")
        if len(samples) > _LONGEST:
            raise ValueError(f"more than {_LONGEST} samples")
    return tuple(samples)


def compress(samples: Sequence[Sample], *, ended: bool = False) -> str:
    """The shortest runs of equal values, gaps and whole-number steps; exact, so no fraction is accumulated.

    `ended`: the first gap after a sample becomes a staleness marker, as a scraped series gets one when it ends.
    """
    if _is_level(samples):
        return f"{number(cast('float', samples[0]))}x{len(samples) - 1}"
    out: list[str] = []
    for kind, same in groupby(samples, key=type):
        part = list(same)
        if kind is NoneType:
            gap = len(part)
            if ended and out:
                out.append("stale")
                gap -= 1
            out += [] if not gap else ["_" if gap == 1 else f"_x{gap}"]
        elif kind is str:
            out += cast("list[str]", part)
        elif all(map(math.isfinite, numbers := cast("list[float]", part))):
            out += _runs(numbers)
        else:
            for finite, some in groupby(numbers, key=math.isfinite):
                rest = list(some)
                out += _runs(rest) if finite else map(_not_finite, rest)  # promtool repeats numbers only
    return " ".join(out)


def _is_level(samples: Sequence[Sample]) -> bool:
    """Most series of a test are one value throughout."""
    first = samples[0] if len(samples) > 1 else None
    return type(first) is float and samples.count(first) == len(samples) and math.isfinite(first)


def _runs(values: list[float]) -> list[str]:
    """Finite values. Works on their differences, most of which are equal, without a loop over each."""
    steps = [(step, len(list(same))) for step, same in groupby(map(sub, values[1:], values))]
    out: list[str] = []
    at = end = 0
    """The next value to write; the last one that the steps so far lead to."""
    for index, (step, count) in enumerate(steps):
        end += count
        if not step:
            out.append(f"{number(values[at])}x{count}")
            at = end + 1
            continue
        level_follows = index + 1 < len(steps) and not steps[index + 1][0]
        more = end - level_follows - at  # the last value belongs to the level
        if more > 1 and not step % 1 and not values[at] % 1:
            out.append(f"{number(values[at])}{'+' if step >= 0 else '-'}{number(abs(step))}x{more}")
            at += more + 1
        else:
            out += map(number, values[at:end])
            at = max(at, end)
    return [*out, *map(number, values[at:])]


def _not_finite(value: float) -> str:
    return "NaN" if math.isnan(value) else "Inf" if value > 0 else "-Inf"
