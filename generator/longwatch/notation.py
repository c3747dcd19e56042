"""promtool's notation of a series' values: `1 2 3`, `1x4`, `0+10x5`, `_`, `stale`. A leaf."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import groupby
from typing import Literal, TypeAlias

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
            samples += [None] * min(int(gap["times"] or 1), _LONGEST)
        elif match:
            first, step, times = float(match["first"]), float(match["step"] or 0), int(match["times"] or 0)
            samples += [float(first + step * i) for i in range(min(times, _LONGEST) + 1)]
        else:
            raise ValueError(f"{token!r} is not in promtool's notation")
        if len(samples) > _LONGEST:
            raise ValueError(f"more than {_LONGEST} samples")
    return tuple(samples)


def compress(samples: Sequence[Sample]) -> str:
    """The shortest runs of equal values, gaps and whole-number steps; exact, so no fraction is accumulated."""
    runs = [(value, sum(1 for _ in same)) for value, same in groupby(samples)]
    out: list[str] = []
    at, end = 0, len(runs)
    while at < end:
        value, length = runs[at]
        at += 1
        if value is None:
            out.append("_" if length == 1 else f"_x{length}")
        elif isinstance(value, str) or not math.isfinite(value):
            out += [value if isinstance(value, str) else _written(value)] * length  # promtool repeats numbers only
        elif length > 1:
            out.append(f"{_written(value)}x{length - 1}")
        else:
            more, step = _arithmetic(runs, at - 1, value)
            if more > 1:
                out.append(f"{_written(value)}{'+' if step >= 0 else '-'}{_written(abs(step))}x{more}")
                at += more
            else:
                out.append(_written(value))
    return " ".join(out)


def _arithmetic(runs: Sequence[tuple[Sample, int]], at: int, value: float) -> tuple[int, float]:
    """How many single whole numbers follow `value` with one step, and the step."""
    more, step, last = 0, 0.0, value
    if value % 1:
        return 0, 0.0
    for following, length in runs[at + 1 :]:
        if length > 1 or following is None or isinstance(following, str) or following % 1 != 0:
            break
        if more and following - last != step:
            break
        step, last, more = following - last, following, more + 1
    return more, step


def _written(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Inf" if value > 0 else "-Inf"
    return number(value)
