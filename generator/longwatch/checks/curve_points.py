"""A reference curve that cannot be read.

What: fewer than eight points, x that is no number, does not increase, or is not above zero where the interpolation is
logarithmic; or x is a signal that no exporter gives or that starts again with every attempt.
Why: with three points a healthy run has 100 % of slack; a counter that starts again reads the beginning of the curve
after every restart.
What to do: let `longwatch baseline RUN` write the points; twenty are usual. Take x from a step, samples or tokens
that survive restarts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from longwatch.diagnostics import Diagnostic, Origin
from longwatch.plugins.front import Check
from longwatch.policy.document import Curve
from longwatch.policy.model import Family, Policy

_LEAST = 8


def run(policy: Policy) -> tuple[Diagnostic, ...]:
    return tuple(
        problem
        for family in policy.families
        for index, variant in enumerate(family.document.variants)
        for role, baseline in variant.baselines.items()
        if baseline.curve is not None
        for problem in _problems(
            family, baseline.curve, family.origin.at("variants", index, "baselines", role, "curve")
        )
    )


def _problems(family: Family, curve: Curve, place: Origin) -> Iterator[Diagnostic]:
    if curve.x not in family.readings:
        yield _problem(
            f"no exporter of this family gives {curve.x}",
            "read the curve at a step, samples or tokens that an exporter gives",
            place.at("x"),
        )
    elif curve.x not in family.survives_restart:
        yield _problem(
            f"{curve.x} starts again with every attempt, so the curve would be read from its beginning",
            f"use one of {', '.join(family.survives_restart) or 'step, samples, tokens of another exporter'}",
            place.at("x"),
        )
    if len(curve.points) < _LEAST:
        yield _problem(
            f"{len(curve.points)} points are too few for a curve",
            f"let `longwatch baseline RUN` write them: {_LEAST} at least, 20 are usual",
            place.at("points", key=True),
        )
    yield from _axis(curve, place.at("points"))


def _axis(curve: Curve, place: Origin) -> Iterator[Diagnostic]:
    before = -math.inf
    for text, y in curve.points.items():
        x = _number(text)
        if x is None or not math.isfinite(x) or not math.isfinite(y):
            yield _problem(
                f'"{text}" is not a number', "write numbers, such as 300000 or 3.0e+5", place.at(text, key=True)
            )
            continue
        if curve.interpolate == "log" and x <= 0:
            yield _problem(
                f"x is {text}, which has no logarithm",
                "begin above zero, or interpolate linearly",
                place.at(text, key=True),
            )
        if x <= before:
            yield _problem(
                f"x does not increase at {text}", "sort the points by x, each once", place.at(text, key=True)
            )
        before = max(before, x)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _problem(message: str, remedy: str, place: Origin) -> Diagnostic:
    return Diagnostic(
        code="curve-points",
        message=message,
        why="the alert on divergence compares with this curve",
        help=remedy,
        origin=place,
    )


CHECK = Check(run=run)
