"""Bit mask: certain bits of a device's state word are set while a run stands on the device's node.

## What it sees
`word % (2 × bit) >= bit` for each bit, joined to the run that is placed on the node. An idle node is quiet.

## What it does not see
Bits that are normal under load: 0x4 (power cap) is set on every busy GPU and is not in the mask of GpuThrottled.

## Absence and NaN
Silent when the exporter does not export the field, which is off by default in dcgm-exporter; SignalMissing does not watch
devices, so `longwatch check` says so.

## Parameters
`signal`; `bits`: values of single bits, e.g. 8, 32, 64, 128.

## Sources
Azure cyclecloud-healthagent uses the mask 0xE8; NVIDIA's clocks-event-reasons.
"""

from __future__ import annotations

from typing import Annotated, cast

from msgspec import Meta

from longwatch.ir.model import Comparison, Window
from longwatch.plugins.front import Detector, Device, Lowered, Proof
from longwatch.plugins.reading import ClusterReader, FamilyReader
from longwatch.policy.document import AlertParameters
from longwatch.policy.model import AlertSetting


class Parameters(AlertParameters, frozen=True, kw_only=True):
    signal: str
    bits: Annotated[tuple[int, ...], Meta(min_length=1)]


def needs(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> str:
    role = cast(Parameters, setting.parameters).signal
    if not reader.has(role):
        return role
    return "" if reader.has("placement") else "the placement of runs on nodes (a scheduler's exporter)"


def lower(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> tuple[Lowered, ...]:
    assert isinstance(reader, ClusterReader)
    parameters = cast(Parameters, setting.parameters)
    word = reader.per_subject(parameters.signal)
    title = reader.signal(parameters.signal).title
    bits = ", ".join(f"0x{bit:X}" for bit in parameters.bits)
    return (
        Lowered(
            conditions=tuple(
                Comparison(left=f"{word} % {2 * bit}", operator=">=", right=float(bit), unit="short")
                for bit in parameters.bits
            ),
            joins=(reader.placed(optional=False),),
            for_=300.0,
            identity=reader.subject(parameters.signal),
            summary=f"{title} under a training run",
            seen=f"{title}: at least one of the bits {bits} is set",
            expected="none of these bits while a run stands on the node",
            absence="goes silent when the exporter drops the field (it is off by default); nothing else covers that",
            nan="NaN passes no comparison",
            pauses="a node without a run is quiet",
            windows=(Window(name="for", value="5m", reason="short throttling is normal at the start of a job"),),
            panel_title=f"{title}: bits {bits}",
            signals=(parameters.signal, "placement"),
        ),
    )


def prove(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> tuple[Proof, ...]:
    parameters = cast(Parameters, setting.parameters)
    role, bit = parameters.signal, parameters.bits[-1]
    busy = {"node": "node-a", "gpu": "3"}
    idle = {"node": "node-b", "gpu": "0"}
    run = Device(role="placement", labels={"node": "node-a", "run_id": "run-1"}, values=((7200, 1),))
    return (
        Proof(
            key="throttled-gpu-under-a-run",
            title="one throttled GPU on a node with a run, one on an idle node",
            devices=(
                run,
                Device(role=role, labels=busy, values=((1800, 4), (5400, 4 + bit))),
                Device(role=role, labels=idle, values=((7200, bit),)),
            ),
            fires=((7200, {**busy, "run_id": "run-1"}),),
            quiet_until=1800,
            source="mask 0xE8 of Azure cyclecloud-healthagent",
        ),
        Proof(
            key="power-cap-is-normal",
            title="a GPU at its power cap",
            devices=(run, Device(role=role, labels=busy, values=((7200, 4),))),
            quiet_until=7200,
            source="0x4 is set on every GPU under full load",
        ),
    )


DETECTOR = Detector(
    title="Bits of a device's state", scope="cluster", parameters=Parameters, needs=needs, lower=lower, prove=prove
)
