"""Baseline missing: a run whose labels match no variant.

## What it sees
Active runs without a variant. Nobody judges their throughput; better said than left silent.

## Absence and NaN
A run without any run information counts as one that matches no variant.
"""

from __future__ import annotations

from longwatch.ir import names
from longwatch.ir.model import Comparison
from longwatch.plugins.front import Act, Detector, History, Lowered, Proof
from longwatch.plugins.reading import ClusterReader, FamilyReader
from longwatch.policy.document import AlertParameters
from longwatch.policy.model import AlertSetting


class Parameters(AlertParameters, frozen=True, kw_only=True):
    pass


def needs(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> str:
    assert isinstance(reader, FamilyReader)
    return "" if all(v.when for v in reader.family.variants) else "nothing: a variant without `when` matches every run"


def lower(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> tuple[Lowered, ...]:
    assert isinstance(reader, FamilyReader)
    known = "; ".join(f"{v.name} ({', '.join(f'{k}={w}' for k, w in v.when.items())})" for v in reader.family.variants)
    return (
        Lowered(
            conditions=(
                Comparison(
                    left=f"{reader.recorded(names.ACTIVE)} unless on ({reader.by}) {reader.recorded(names.VARIANT)}",
                    operator=">=",
                    right=0.0,
                    unit="s",
                ),
            ),
            guards=(reader.stepped(),),
            for_=600.0,
            summary="matches no variant of the policy",
            seen="the run's labels match no variant, so no baseline applies",
            expected=f"one of {known}",
            absence="fires on the absence of a variant",
            nan="labels are matched, not values",
            panel_title="Runs of no variant",
            signals=(),
        ),
    )


def prove(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> tuple[Proof, ...]:
    assert isinstance(reader, FamilyReader)
    selects = reader.family.document.runs.select
    label = next((label for label in reader.family.variants[0].when if label not in selects), "")
    if not label:
        return ()
    hour = reader.lasting(max(3600.0, 4 * reader.family.publish_every))
    return (
        Proof(
            key="run-of-no-variant",
            title="a run of a configuration that the policy does not know",
            runs=(History(acts=(Act(phase="training", seconds=hour),), labels={label: "unheard-of"}),),
            fires=((hour, {}),),
            quiet_until=540,
        ),
    )


DETECTOR = Detector(
    title="No variant, no baseline", scope="family", parameters=Parameters, needs=needs, lower=lower, prove=prove
)
