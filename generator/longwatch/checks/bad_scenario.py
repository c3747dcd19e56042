"""A scenario that cannot be played, or that proves nothing.

What: a series that is neither a role of the family's exporters nor a selector, values that promtool cannot read, an
alert that is not compiled, a deadline behind the end of the series, or neither `expect` nor `quiet`.
Why: promtool stays silent about a test of an alert that does not exist, and it passes.
What to do: follow the message. Values are written as in promtool: `1 2 3`, `0.5x20` (21 times), `1+2x5`, `_` for no
sample.
"""

from __future__ import annotations

from collections.abc import Iterator

from longwatch.diagnostics import Diagnostic, Origin
from longwatch.notation import expand
from longwatch.plugins.front import Check, detectors
from longwatch.plugins.reading import FamilyReader
from longwatch.policy.document import PolicyScenario
from longwatch.policy.model import Family, Policy
from longwatch.promql.parse import Expression, parse
from longwatch.suggest import closest
from longwatch.units import promql_duration


def run(policy: Policy) -> tuple[Diagnostic, ...]:
    return tuple(
        problem
        for family in policy.families
        for index, scenario in enumerate(family.scenarios)
        for problem in _problems(family, scenario, family.origin.at("scenarios", index))
    )


def _problems(family: Family, scenario: PolicyScenario, place: Origin) -> Iterator[Diagnostic]:
    if scenario.every <= 0:
        yield _problem("`every` cannot be 0", "write the time between two values", place.at("every"))
        return
    if not scenario.series:
        yield _problem("the scenario has no series", "write a role and its values", place.at("series"))
    if not scenario.expect and not scenario.quiet:
        yield _problem(
            f'the scenario "{scenario.name}" expects nothing', "add `expect` or `quiet`, else it proves nothing", place
        )
    longest = 0
    for key, values in scenario.series.items():
        here = place.at("series", key)
        yield from _key_problem(family, key, place.at("series", key, key=True))
        try:
            longest = max(longest, len(expand(values)))
        except ValueError as error:
            yield _problem(str(error), "write values such as `1 2 3`, `0.5x20`, `1+2x5`, `_` or `stale`", here)
            longest = max(longest, 10**6)
    compiled = _compiled(family)
    for index, expectation in enumerate(scenario.expect):
        if expectation.alert not in compiled:
            yield _unknown_alert(expectation.alert, compiled, place.at("expect", index, "alert"))
        if expectation.within > longest * scenario.every:
            yield _problem(
                f"the series end after {promql_duration(longest * scenario.every)},"
                f" before the {promql_duration(expectation.within)} in which {expectation.alert} is expected",
                "write more values (`12x20` repeats one), or a shorter `within`",
                place.at("expect", index, "within"),
            )
    for index, name in enumerate(scenario.quiet):
        if name not in compiled:
            yield _unknown_alert(name, compiled, place.at("quiet", index))


def _key_problem(family: Family, key: str, place: Origin) -> Iterator[Diagnostic]:
    if "{" in key:
        parsed = parse(key)
        if not isinstance(parsed, Expression) or not parsed.is_selector:
            yield _problem(f'"{key}" is not a selector', 'write a series, such as my_metric{run_id="a"}', place)
    elif key not in family.readings:
        near = closest(key, family.readings)
        yield _problem(
            f'no exporter of this family gives the role "{key}"',
            f'did you mean "{near}"?' if near else "write a role, or a metric with its labels in braces",
            place,
        )


def _compiled(family: Family) -> tuple[str, ...]:
    reader = FamilyReader(family)
    kinds = detectors()
    usable = (s for s in family.settings if kinds[s.detector].scope != "cluster")
    return tuple(s.name for s in usable if not kinds[s.detector].needs(reader, s))


def _unknown_alert(name: str, compiled: tuple[str, ...], place: Origin) -> Diagnostic:
    near = closest(name, compiled)
    return _problem(
        f"{name} is not an alert that this family compiles",
        f'did you mean "{near}"?' if near else f"alerts here: {', '.join(compiled) or 'none'}",
        place,
    )


def _problem(message: str, remedy: str, place: Origin) -> Diagnostic:
    return Diagnostic(
        code="bad-scenario",
        message=message,
        why="promtool would refuse the test, or pass it without having proved anything",
        help=remedy,
        origin=place,
    )


CHECK = Check(run=run)
