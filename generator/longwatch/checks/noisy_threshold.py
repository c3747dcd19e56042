"""A limit that lies inside the noise of its own baseline.

What: a written `below`, `above` or `worse_than` that is closer to a committed baseline than two spreads (an error) or
three (a warning).
Why: a healthy run would page. With 97 % on noisy public runs (SlowFast, BERT) a healthy run fires 25 to 150 times.
What to do: widen the limit to what the message names, leave it out (three spreads and 3 % at least are the default),
or learn a baseline with less spread.
"""

from __future__ import annotations

from collections.abc import Iterator

from longwatch.catalogue.signals import SIGNALS
from longwatch.diagnostics import Diagnostic, Severity
from longwatch.plugins.front import Check
from longwatch.plugins.reading import THROUGHPUT_ROLES
from longwatch.policy.model import AlertSetting, Family, Policy, ResolvedVariant
from longwatch.units import number


def run(policy: Policy) -> tuple[Diagnostic, ...]:
    found = (problem for family in policy.families for s in family.settings for problem in _problems(family, s))
    return tuple(dict.fromkeys(found))


def _problems(family: Family, setting: AlertSetting) -> Iterator[Diagnostic]:
    key = next((k for k in ("below", "above", "worse_than") if setting.written(k)), None)
    role = _role(family, setting)
    if setting.detector != "baseline_band" or setting.parameters.disable or key is None or role not in SIGNALS:
        return
    written = float(getattr(setting.parameters, key))
    relative = key == "worse_than" or getattr(setting.parameters, key).relative
    falls = key == "below" or (key == "worse_than" and SIGNALS[role].better == "higher")
    for variant in family.variants:
        value, spread = _baseline(variant, role)
        if not value or not spread:
            continue
        limit = _limit(value, written, relative, key, falls)
        spreads = (value - limit if falls else limit - value) / spread
        if not 0 < spreads < 3:  # on the wrong side: threshold-range has said so
            continue
        least = 3 * spread / value * 100
        suggested = number(float(f"{least if key == 'worse_than' else (100 - least if falls else 100 + least):.3g}"))
        yield Diagnostic(
            code="noisy-threshold",
            severity=Severity.ERROR if spreads < 2 else Severity.WARNING,
            message=f"{setting.name} lies {spreads:.1f} spreads from the baseline of variant {variant.name}",
            why=f"the baseline is {number(value)} ± {number(spread)}, so a healthy run would "
            + ("fire again and again" if spreads < 2 else "fire now and then"),
            help=f"write {key}: {suggested}% or wider, or leave it out: three spreads are the default",
            origin=setting.place(key),
        )


def _role(family: Family, setting: AlertSetting) -> str:
    written = getattr(setting.parameters, "signal", None)
    given = {role for variant in family.variants for role in variant.baselines}
    return written or next((r for r in THROUGHPUT_ROLES if r in given and r in family.readings), "")


def _baseline(variant: ResolvedVariant, role: str) -> tuple[float, float]:
    baseline = variant.baselines.get(role)
    return (baseline.value or 0.0, baseline.spread or 0.0) if baseline is not None else (0.0, 0.0)


def _limit(value: float, written: float, relative: bool, key: str, falls: bool) -> float:
    if key == "worse_than":
        return value * (1 - written) if falls else value / (1 - written)
    return value * written if relative else written


CHECK = Check(run=run)
