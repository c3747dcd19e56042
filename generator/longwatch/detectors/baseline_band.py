"""Baseline band: a mean that left the committed band around a committed number.

## What it sees
The mean of a signal over ten publications against a limit that is written down per variant, with its provenance. Never a
moving average of itself: a rolling baseline forgives a slow straggler after three hours.

## What it does not see
A run that matches no variant (BaselineMissing), the first window of an attempt, the warm-up, and a loss of speed that is
smaller than three spreads of the committed baseline.

## Absence and NaN
Silent when the series vanish (SignalMissing). A NaN in the window makes the mean NaN, which no comparison passes.

## Parameters
`signal`: by default the first throughput role that a variant gives a baseline for. `below` or `above`: 97% of the baseline or
a number in the signal's unit; `worse_than`: a percentage in the signal's bad direction; `publications` in the mean.
By default the band is the wider of 3 spreads and 3 %.

## Sources
BLOOM, 2022-04-28: one slow node, 149.1 → 141.1 TFLOP/s per GPU, and it stayed; a band of 10 % misses it.
"""

from __future__ import annotations

from typing import Annotated, cast

from msgspec import Meta
from msgspec.structs import replace

from longwatch.catalogue.replays import COLLAPSE, STRAGGLER
from longwatch.catalogue.signals import SIGNALS
from longwatch.ir import names
from longwatch.ir.model import Comparison, Join, Record, Window
from longwatch.plugins.front import Act, Detector, History, Lowered, Proof
from longwatch.plugins.reading import THROUGHPUT_ROLES, ClusterReader, FamilyReader
from longwatch.policy.document import AlertParameters, Baseline
from longwatch.policy.model import AlertSetting, ResolvedVariant
from longwatch.units import Percent, Threshold, number, promql_duration


class Parameters(AlertParameters, frozen=True, kw_only=True):
    signal: str | None = None
    below: Threshold | None = None
    above: Threshold | None = None
    worse_than: Percent | None = None
    """Distance from the baseline in the signal's bad direction; 20% is 0.8 of a throughput, 1.25 of a step time."""
    publications: Annotated[int, Meta(ge=4)] = 10


def role_of(reader: FamilyReader, setting: AlertSetting) -> str:
    """The role that is judged; empty when no variant has a baseline for one that an exporter provides."""
    written = cast(Parameters, setting.parameters).signal
    candidates = (written,) if written else THROUGHPUT_ROLES
    given = {role for variant in reader.family.variants for role, b in variant.baselines.items() if b.value is not None}
    return next((role for role in candidates if role in given and reader.has(role)), "")


def band_of(variant: ResolvedVariant, role: str) -> float:
    """The default band as a ratio: the wider of 3 spreads and 3 %."""
    baseline = variant.baselines[role]
    return max(0.03, 3 * (baseline.spread or 0.0) / abs(baseline.value or 1.0))


def limit_of(variant: ResolvedVariant, role: str, parameters: Parameters) -> float:
    """The limit in the signal's unit."""
    value = variant.baselines[role].value or 0.0
    for written in (parameters.below, parameters.above):
        if written is not None:
            return value * float(written) if written.relative else float(written)
    higher = SIGNALS[role].better == "higher"
    if parameters.worse_than is not None:
        rest = 1 - float(parameters.worse_than)
        return value * rest if higher else value / rest
    band = band_of(variant, role)
    return value * (1 - band) if higher else value * (1 + band)


def provenance(baseline: Baseline) -> str:
    """Where a committed number comes from, as people read it."""
    learned = baseline.learned
    if learned is None:
        return "written down without provenance"
    runs = "1 run" if learned.runs == 1 else f"{learned.runs} runs"
    return f"{learned.quantile} of {runs} from {learned.from_} to {learned.to}"


def falls(role: str, parameters: Parameters) -> bool:
    """The bad side lies below the limit."""
    return parameters.below is not None or (parameters.above is None and SIGNALS[role].better == "higher")


def judged(reader: FamilyReader, role: str) -> tuple[ResolvedVariant, ...]:
    return tuple(v for v in reader.family.variants if role in v.baselines and v.baselines[role].value is not None)


def needs(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> str:
    assert isinstance(reader, FamilyReader)
    if role_of(reader, setting):
        return ""
    written = cast(Parameters, setting.parameters).signal
    return f"a baseline for {written or 'one of ' + ', '.join(THROUGHPUT_ROLES)} that an exporter also provides"


def lower(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> tuple[Lowered, ...]:
    assert isinstance(reader, FamilyReader)
    parameters = cast(Parameters, setting.parameters)
    role = role_of(reader, setting)
    signal = SIGNALS[role]
    window = reader.publications(parameters.publications)
    below = falls(role, parameters)
    hold = reader.holds(max(3.0, 600 / reader.family.publish_every))
    limit_name = names.level(role, "limit")
    records = tuple(
        Record(
            name=limit_name,
            expr=f"{names.selector(names.VARIANT, {names.FAMILY: reader.family.name, 'variant': v.name})} * 0"
            f" + {number(limit_of(v, role, parameters))}",
            labels={"alert": setting.name, "variant": v.name},
            reason=f"the limit of {setting.name} for variant {v.name}",
        )
        for v in judged(reader, role)
    )
    unit = f" {signal.measure}" if signal.measure else ""
    per_variant = "; ".join(
        f"{v.name}: {number(v.baselines[role].value or 0.0)}{unit}, limit {number(round(limit_of(v, role, parameters), 4))}{unit}"
        for v in judged(reader, role)
    )
    # A run that changes its variant shows both for a while; one series per run keeps the match from failing.
    of_alert = names.selector(limit_name, {names.FAMILY: reader.family.name, "alert": setting.name})
    this_limit = f"{'min' if below else 'max'} by ({reader.by}) ({of_alert})"
    return (
        Lowered(
            conditions=(
                Comparison(
                    left=reader.mean(role, window),
                    operator="<" if below else ">",
                    right=this_limit,
                    unit=signal.unit,
                    on=reader.identity,
                ),
            ),
            guards=(*reader.settled(window), reader.active()),
            joins=(
                Join(
                    expr=f"topk by ({reader.by}) (1, {reader.recorded(names.VARIANT)})",
                    on=reader.identity,
                    take=("variant",),
                    reason="the message names the variant whose baseline was read",
                ),
            ),
            records=records,
            for_=hold,
            summary=f"{signal.title} is {'below' if below else 'above'} its baseline",
            seen=f'{signal.title} at {{{{ printf "%.4g" $value }}}}{unit}, mean of {promql_duration(window)}, variant {{{{ $labels.variant }}}}',
            expected=per_variant,
            absence="goes silent when the series vanish; SignalMissing covers that, BaselineMissing a run of no variant",
            nan="a NaN in the window silences it; the not-finite alert covers the signals that can be NaN",
            pauses="the gauge is held while training pauses"
            if reader.operation(role) != "mean"
            else "without observations there is no mean, so a pause is quiet",
            windows=(
                Window(
                    name="mean",
                    value=promql_duration(window),
                    reason=f"{parameters.publications} publications, 10 steps and 4 samples at least",
                ),
                Window(name="for", value=promql_duration(hold), reason="10 minutes and 3 publications at least"),
                *(
                    Window(
                        name=f"baseline of {v.name}",
                        value=f"{number(v.baselines[role].value or 0.0)}{unit}",
                        reason=provenance(v.baselines[role]),
                    )
                    for v in judged(reader, role)
                ),
                *(
                    Window(
                        name=f"band of {v.name}",
                        value=f"{band_of(v, role) * 100:.3g} %",
                        reason="the wider of 3 spreads and 3 %; an override or worse_than goes before it",
                    )
                    for v in judged(reader, role)
                ),
                reader.pace(),
            ),
            panel_title=f"{signal.title} against its baseline ({setting.name})",
            signals=(role,),
        ),
    )


def prove(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> tuple[Proof, ...]:
    assert isinstance(reader, FamilyReader)
    parameters = cast(Parameters, setting.parameters)
    role = role_of(reader, setting)
    higher = SIGNALS[role].better == "higher"
    window, publish = (
        reader.publications(parameters.publications),
        max(reader.family.publish_every, reader.family.rules),
    )
    warm = reader.family.document.lifecycle.warm_up.steps * reader.family.step_time
    healthy = Act(phase="training", seconds=reader.lasting(warm + 2 * window + 900))
    start = healthy.seconds
    later = Act(phase="training", seconds=reader.lasting(40 * publish + 2 * window + 1200))
    ramp = reader.lasting(40 * publish)
    warming = reader.lasting(warm)

    def worse(factor: float) -> float:
        return factor if higher else round(1 / factor, 6)

    both = ("ThroughputDegraded", "ThroughputCollapsed")
    noise = max(
        3 * (v.baselines[role].spread or 0.0) / abs(v.baselines[role].value or 1.0) for v in judged(reader, role)
    )
    slow, collapse = STRAGGLER.factors[-1], COLLAPSE.factors[-1]
    # A collapse alert is not asked to see a straggler, nor a band to see less than its own committed noise.
    sees_straggler = parameters.worse_than is None and 1 - slow > noise
    key = setting.name.removeprefix("Throughput").lower()
    proofs = [
        Proof(
            key=f"{key}-collapse",
            title=f"{role} 40 % worse at once",
            runs=(History(acts=(healthy, replace(later, factors={role: (worse(collapse),)}))),),
            fires=((start + later.seconds, {}),),
            quiet_until=start,
            companions=both,
            source=COLLAPSE.source,
        ),
        Proof(
            key=f"{key}-ramp",
            title=f"{role} 40 % worse, little by little over 40 publications",
            runs=(
                History(
                    acts=(
                        healthy,
                        Act(phase="training", seconds=ramp, ramps={role: worse(collapse)}),
                        replace(later, factors={role: (worse(collapse),)}),
                    )
                ),
            ),
            fires=((start + ramp + later.seconds, {}),),
            quiet_until=start,
            companions=both,
            source=COLLAPSE.source,
        ),
        Proof(
            key=f"{key}-from-the-start",
            title=f"{role} 40 % worse from the first step",
            runs=(
                History(
                    acts=(
                        replace(healthy, factors={role: (worse(collapse),)}),
                        replace(later, factors={role: (worse(collapse),)}),
                    )
                ),
            ),
            fires=((start + later.seconds, {}),),
            companions=both,
            source=COLLAPSE.source,
        ),
    ]
    if sees_straggler:
        proofs.append(
            Proof(
                key=f"{key}-straggler",
                title=f"{role} 5.4 % worse at once, and it stays",
                runs=(
                    History(acts=(healthy, replace(later, factors={role: tuple(worse(f) for f in STRAGGLER.factors)}))),
                ),
                fires=((start + 15 * publish + window, {}), (start + later.seconds, {})),
                quiet_until=start,
                companions=both,
                source=STRAGGLER.source,
            )
        )
    if warm:
        proofs.append(
            Proof(
                key=f"{key}-warm-up",
                title="half the speed during the batch warm-up",
                runs=(History(acts=(Act(phase="training", seconds=warming, factors={role: (worse(0.5),)}), healthy)),),
                quiet_until=warming + start,
            )
        )
    proofs += [
        Proof(
            key=f"{key}-healthy-{variant.name}",
            title=f"a healthy run of variant {variant.name}",
            runs=(History(acts=(healthy, later), variant=index),),
            quiet_until=start + later.seconds,
        )
        for index, variant in enumerate(reader.family.variants)
    ]
    return tuple(proofs)


DETECTOR = Detector(
    title="Outside the committed band", scope="family", parameters=Parameters, needs=needs, lower=lower, prove=prove
)
