"""Coded edge: a sticky gauge takes a new code.

## What it sees
A code that the device did not show ten minutes ago. The edge is keyed by its code, so a benign 31 does not hide the 79 that
follows it. Devices on idle nodes count too; where a run stands on the node, the alert names it.

## What it does not see
A repeat of the same code: the gauge does not move. The kernel log or the count metric shows that.

## Absence and NaN
The gauge is 0 until the first code. When a device falls off the bus its series vanish as well; the alert is held for an hour.

## Parameters
`signal`; `codes`: by default those that need a reset, a reboot or a replacement.

## Sources
NVIDIA's and gpud's tables of XID actions; sources disagree on 43, 45, 63 and 94, which are left out.
"""

from __future__ import annotations

from typing import cast

from longwatch.catalogue.xid import CRITICAL
from longwatch.ir.model import Comparison, Record, Window
from longwatch.plugins.front import Detector, Device, Lowered, Proof
from longwatch.plugins.reading import ClusterReader, FamilyReader
from longwatch.policy.document import AlertParameters
from longwatch.policy.model import AlertSetting


class Parameters(AlertParameters, frozen=True, kw_only=True):
    signal: str
    codes: tuple[int, ...] = CRITICAL


def needs(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> str:
    role = cast(Parameters, setting.parameters).signal
    return "" if reader.has(role) else role


def lower(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> tuple[Lowered, ...]:
    assert isinstance(reader, ClusterReader)
    parameters = cast(Parameters, setting.parameters)
    subject = reader.subject(parameters.signal)
    by = ", ".join(subject)
    code_name = f"lw_gpu:{parameters.signal}:code"
    codes = "|".join(str(code) for code in parameters.codes)
    here = f'{code_name}{{code=~"{codes}"}}'
    return (
        Lowered(
            conditions=(
                Comparison(
                    left=f"{here} unless on ({by}, code) ({code_name} offset 10m)",
                    operator=">",
                    right=0.0,
                    unit="short",
                ),
            ),
            joins=(reader.placed(optional=True),) if reader.has("placement") else (),
            records=(
                Record(
                    name=code_name,
                    expr=f'count_values by ({by}) ("code", {reader.per_subject(parameters.signal)} > 0)',
                    reason="the code as a label, so that an edge can be keyed by it",
                ),
            ),
            keep_firing_for=3600.0,
            identity=(*subject, "code"),
            summary="code {{ $labels.code }}",
            seen="a new code {{ $labels.code }} on GPU {{ $labels.gpu }} of {{ $labels.node }}",
            expected="no code that needs a reset, a reboot or a replacement",
            absence="a GPU that falls off the bus loses its series; the alert is held for an hour",
            nan="the gauge is never NaN",
            pauses="a repeat of the same code does not move the gauge and is not seen",
            windows=(
                Window(name="edge", value="10m", reason="a code that was not there ten minutes ago"),
                Window(name="keep firing", value="1h", reason="the edge itself is over after ten minutes"),
            ),
            panel_title="Codes of the GPUs",
            signals=(parameters.signal,),
        ),
    )


def prove(reader: FamilyReader | ClusterReader, setting: AlertSetting) -> tuple[Proof, ...]:
    role = cast(Parameters, setting.parameters).signal
    gpu = {"node": "node-a", "gpu": "5"}
    run = Device(role="placement", labels={"node": "node-a", "run_id": "run-1"}, values=((10800, 1),))
    return (
        Proof(
            key="xid-31-then-79",
            title="a benign 31, an hour later 79 on the same GPU",
            devices=(run, Device(role=role, labels=gpu, values=((1800, 0), (3600, 31), (5400, 79)))),
            fires=((5460, {**gpu, "code": "79", "run_id": "run-1"}), (7200, {**gpu, "code": "79", "run_id": "run-1"})),
            quiet_until=5340,
            source="43 % of PCIe errors on RSC-1 came with XID 79",
        ),
        Proof(
            key="xid-79-on-an-idle-node",
            title="79 on a node without a run",
            devices=(Device(role=role, labels=gpu, values=((1800, 0), (1800, 79))),),
            fires=((2400, {**gpu, "code": "79"}),),
            quiet_until=1740,
        ),
        Proof(
            key="xid-31-alone",
            title="an application's own fault",
            devices=(run, Device(role=role, labels=gpu, values=((1800, 0), (9000, 31)))),
            quiet_until=10800,
            source="NVIDIA k8s-device-plugin ignores 13, 31, 43, 45, 68, 109",
        ),
    )


DETECTOR = Detector(
    title="A new code on a sticky gauge", scope="cluster", parameters=Parameters, needs=needs, lower=lower, prove=prove
)
