"""promtool's notation of a series' values: `1 2 3`, `1x4`, `0+10x5`, `_`, `stale`. A leaf."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from longwatch.units import number

Sample: TypeAlias = "float | None | Literal['stale']"
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
            samples += [first + step * i for i in range(min(times, _LONGEST) + 1)]
        else:
            raise ValueError(f"{token!r} is not in promtool's notation")
        if len(samples) > _LONGEST:
            raise ValueError(f"more than {_LONGEST} samples")
    return tuple(samples)


def compress(samples: Sequence[Sample]) -> str:
    """The shortest runs of equal values, gaps and whole-number steps; exact, so no fraction is accumulated."""
    return " ".join(_runs(samples))


def _runs(samples: Sequence[Sample]) -> Iterable[str]:
    at, end = 0, len(samples)
    while at < end:
        value = samples[at]
        same = at + 1
        while same < end and _equal(samples[same], value):
            same += 1
        length = same - at
        if value == "stale":
            yield from ["stale"] * length
            at = same
        elif value is None:
            yield "_" if length == 1 else f"_x{length}"
            at = same
        elif not math.isfinite(value):
            yield from [_written(value)] * length  # promtool repeats numbers only
            at = same
        elif length > 1:
            yield f"{_written(value)}x{length - 1}"
            at = same
        else:
            steps = _arithmetic(samples, at)
            if steps > 2:
                step = samples[at + 1] - value  # type: ignore[operator]
                yield f"{_written(value)}{'+' if step >= 0 else '-'}{_written(abs(step))}x{steps - 1}"
                at += steps
            else:
                yield _written(value)
                at += 1


def _arithmetic(samples: Sequence[Sample], at: int) -> int:
    """How many samples from `at` on form a sequence of whole numbers with one step."""
    if at + 1 >= len(samples) or not (_whole(samples[at]) and _whole(samples[at + 1])):
        return 1
    step = samples[at + 1] - samples[at]  # type: ignore[operator]
    upto = at + 2
    while upto < len(samples) and _whole(samples[upto]) and samples[upto] - samples[upto - 1] == step:  # type: ignore[operator]
        upto += 1
    return upto - at


def _whole(sample: Sample) -> bool:
    return isinstance(sample, (int, float)) and math.isfinite(sample) and sample == int(sample)


def _equal(a: Sample, b: Sample) -> bool:
    return a == b or (isinstance(a, float) and isinstance(b, float) and math.isnan(a) and math.isnan(b))


def _written(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Inf" if value > 0 else "-Inf"
    return number(value)
