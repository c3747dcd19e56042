"""A limit that the signal can never cross, always crosses, or that stands in another unit.

What: `above` or `below` outside the signal's own range or in another unit, a percentage of nothing, a number where a
percentage of the baseline was meant (`below: 97`), a limit on the good side of the baseline, or a baseline outside
the signal's range.
Why: such an alert never fires or never stops, and both look as if the run were watched.
What to do: follow the message; percentages carry their sign (97%), plain numbers stand in the signal's base unit.
"""

from __future__ import annotations

from collections.abc import Iterator

from longwatch.catalogue.signals import SIGNALS, Signal
from longwatch.diagnostics import Diagnostic, Origin, Severity
from longwatch.plugins.front import Check
from longwatch.plugins.reading import THROUGHPUT_ROLES
from longwatch.policy.model import AlertSetting, Cluster, Family, Policy
from longwatch.units import Percent, Threshold, number


def run(policy: Policy) -> tuple[Diagnostic, ...]:
    found = (problem for s in policy.subjects for setting in s.settings for problem in _limits(s, setting))
    baselines = (problem for family in policy.families for problem in _baselines(family))
    return tuple(dict.fromkeys((*found, *baselines)))


def _limits(subject: Family | Cluster, setting: AlertSetting) -> Iterator[Diagnostic]:
    role, values = _judged(subject, setting)
    signal = SIGNALS.get(role)
    for side in ("above", "below"):
        limit = getattr(setting.parameters, side, None)
        place = setting.place(side)
        if isinstance(limit, Percent) and limit <= 1:
            shown = f"{number(limit * 100)}%"
            yield _problem(
                f"{setting.name} fires above {shown} of the usual value, which every healthy run crosses",
                f"write more than 100%; half as much again is {number(100 + 50)}%",
                place,
            )
        if not isinstance(limit, Threshold):
            continue
        if limit.relative:
            yield from _relative(setting, side, limit, place)
        elif getattr(setting.parameters, "of", None) is not None:
            if not 0 < limit < 1:
                yield _problem(
                    f"{setting.name} compares a share, and {limit.written} is none",
                    f"write {number(limit)}%" if 1 < limit < 100 else "write a percentage, such as 5%",
                    place,
                )
        elif signal is not None:
            yield from _absolute(setting, side, limit, signal, values, place)
        if signal is not None and signal.better == ("lower" if side == "below" else "higher") and setting.written(side):
            yield Diagnostic(
                code="threshold-range",
                severity=Severity.WARNING,
                message=f"{setting.name} fires when {signal.title} gets better: `{side}` is its good side",
                help=f"write `{'above' if side == 'below' else 'below'}`, unless that is meant",
                origin=place,
            )


def _judged(subject: Family | Cluster, setting: AlertSetting) -> tuple[str, tuple[float, ...]]:
    """The role that a limit is about, and its baselines."""
    role = getattr(setting.parameters, "signal", None)
    if not isinstance(subject, Family) or setting.detector != "baseline_band":
        return role or "", ()
    given = {r for v in subject.variants for r, b in v.baselines.items() if b.value is not None}
    role = role or next((r for r in THROUGHPUT_ROLES if r in given and r in subject.readings), "")
    baselines = (v.baselines[role].value for v in subject.variants if role in v.baselines)
    return role, tuple(value for value in baselines if value is not None)


def _relative(setting: AlertSetting, side: str, limit: Threshold, place: Origin) -> Iterator[Diagnostic]:
    if setting.detector == "baseline_band":
        if (side == "below" and limit >= 1) or (side == "above" and limit <= 1):
            yield _problem(
                f"{setting.name} fires {side} {limit.written} of the baseline, where every healthy run is",
                f"write {'less' if side == 'below' else 'more'} than 100%",
                place,
            )
    elif getattr(setting.parameters, "of", None) is None:
        yield _problem(
            f"{setting.name} fires {side} {limit.written}, but nothing says of what",
            "write a number in the signal's unit"
            + (", or name the whole with `of`" if setting.detector == "forecast" else ""),
            place,
        )


def _absolute(
    setting: AlertSetting, side: str, limit: Threshold, signal: Signal, baselines: tuple[float, ...], place: Origin
) -> Iterator[Diagnostic]:
    unit = f" {signal.measure}" if signal.measure else ""
    written = f"{limit.written}{unit}" if limit.written == number(limit) else limit.written
    if limit.written.endswith("B") and signal.unit != "bytes":
        yield _problem(f"{setting.name}: {signal.title} is not measured in bytes", "write a plain number", place)
    elif limit.written[-1:] in "smhdw" and signal.unit != "s":
        yield _problem(f"{setting.name}: {signal.title} is not measured in time", "write a plain number", place)
    elif (signal.maximum is not None and limit >= signal.maximum and side == "above") or (
        signal.minimum is not None and limit <= signal.minimum and side == "below"
    ):
        yield _problem(
            f"{setting.name} can never fire: {signal.title} is never {side} {written}", _meant(limit, signal), place
        )
    elif (signal.maximum is not None and limit > signal.maximum) or (
        signal.minimum is not None and limit < signal.minimum
    ):
        yield _problem(
            f"{setting.name} always fires: {signal.title} is always {side} {written}", _meant(limit, signal), place
        )
    elif baselines and not any(abs(value) / 10 <= abs(limit) <= abs(value) * 10 for value in baselines):
        percent = number(limit) if limit > 2 else number(round(limit * 100, 8))
        yield _problem(
            f"{setting.name} fires {side} {written}, far from every baseline ({', '.join(map(number, baselines))})",
            f"write {percent}% if a share of the baseline is meant",
            place,
        )


def _meant(limit: float, signal: Signal) -> str:
    if signal.maximum == 1 and 1 < limit <= 100:
        return f"write {number(limit)}% for a share of the baseline, or {number(limit / 100)} for the ratio itself"
    low, high = (number(x) if x is not None else "…" for x in (signal.minimum, signal.maximum))
    return f"its values lie between {low} and {high}"


def _baselines(family: Family) -> Iterator[Diagnostic]:
    for index, variant in enumerate(family.document.variants):
        for role, baseline in variant.baselines.items():
            signal, value = SIGNALS.get(role), baseline.value
            if signal is None or value is None:
                continue
            low = signal.minimum is not None and value <= signal.minimum
            if low or (signal.maximum is not None and value > signal.maximum):
                yield _problem(
                    f"{number(value)} cannot be a baseline of {signal.title}",
                    _meant(value, signal) if signal.maximum != 1 else f"write the ratio, such as {number(value / 100)}",
                    family.origin.at("variants", index, "baselines", role, "value"),
                )


def _problem(message: str, remedy: str, place: Origin) -> Diagnostic:
    return Diagnostic(
        code="threshold-range",
        message=message,
        why="the alert would be silent for ever, or never stop",
        help=remedy,
        origin=place,
    )


CHECK = Check(run=run)
