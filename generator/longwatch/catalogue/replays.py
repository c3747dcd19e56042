"""Failures as they were recorded: absolute amplitudes with their source. Nothing here reads a policy.

A replay's factors are its recorded values over its own healthy level, so that it can be laid on a signal of another scale.
"""

from __future__ import annotations

import msgspec


class Replay(msgspec.Struct, frozen=True, kw_only=True):
    role: str
    healthy: float
    """The recorded level before the failure, in the role's unit."""
    values: tuple[float, ...]
    """One per publication."""
    source: str

    @property
    def factors(self) -> tuple[float, ...]:
        return tuple(round(value / self.healthy, 4) for value in self.values)


_BLOOM = "BLOOM-176B, bigscience train/tr11-176B-ml/chronicles.md"

LOSS_SPIKE = Replay(
    role="loss",
    healthy=2.199,
    values=(2.220, 2.595, 2.242, 2.345, 5.098, 3.492, 3.213, 2.805),
    source=f"{_BLOOM}, 2022-04-12, iterations 31215–31222",
)
GRAD_NORM_EXPLOSION = Replay(
    role="grad_norm",
    healthy=0.242,
    values=(0.947, 2.390, 15.886, 145.119, 960.351, 353.201, 379.330, 650.246),
    source=f"{_BLOOM}, 2022-04-12, iterations 31215–31222",
)
STRAGGLER = Replay(
    role="tflops_per_gpu",
    healthy=149.10,
    values=(149.09, 147.58, 142.32, 141.09),
    source=f"{_BLOOM}, 2022-04-28, iterations 42781–42784; it stayed",
)
COLLAPSE = Replay(
    role="samples_per_second",
    healthy=44.5,
    values=(26.7,),
    source="GluonCV SlowFast log, epochs 66–113: 44.5 → 20–28 samples/s",
)
DIVERGENCE = Replay(
    role="loss",
    healthy=2.0,
    values=(2.6,),
    source="IDEFICS, m4-logs: a slow drift over three hours",
)
