"""Expression: raw PromQL, for what no detector sees.

## What it sees
Whatever `expr` says, against `above` or `below`. It has the same duties as any alert: owner, severity, remediation, and a
scenario of the policy that expects it.

## Absence and NaN
Up to the expression: say in `absence` what happens when its series vanish.

## Parameters
`expr`: PromQL that keeps the run's identity; `above` or `below`; `unit`: a Grafana unit; `absence`.
"""

from __future__ import annotations

from typing import cast

from longwatch.ir.model import Comparison
from longwatch.plugins.front import Detector, Lowered, Proof
from longwatch.plugins.reading import ClusterReader, FamilyReader
from longwatch.policy.document import AlertParameters, Text
from longwatch.policy.model import AlertSetting
from longwatch.units import Threshold


class Parameters(AlertParameters, frozen=True, kw_only=True):
    expr: Text
    above: Threshold | None = None
    below: Threshold | None = None
    unit: str = "short"
    absence: Text = "goes silent when its series vanish"


def needs(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> str:
    return ""


def lower(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> tuple[Lowered, ...]:
    parameters = cast(Parameters, setting.parameters)
    limit = parameters.below if parameters.below is not None else parameters.above
    assert limit is not None
    side = "below" if parameters.below is not None else "above"
    return (
        Lowered(
            conditions=(
                Comparison(
                    left=parameters.expr.strip(),
                    operator="<" if side == "below" else ">",
                    right=float(limit),
                    unit=parameters.unit,
                ),
            ),
            for_=300.0,
            identity=reader.identity if isinstance(reader, FamilyReader) else ("cluster",),
            summary=f"{setting.name} is {side} its limit",
            seen='the expression is at {{ printf "%.4g" $value }}',
            expected=f"not {side} {limit.written}",
            absence=parameters.absence,
            nan="NaN passes no comparison",
            panel_title=setting.name,
        ),
    )


def prove(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> tuple[Proof, ...]:
    return ()


DETECTOR = Detector(title="Raw PromQL", scope="both", parameters=Parameters, needs=needs, lower=lower, prove=prove)
