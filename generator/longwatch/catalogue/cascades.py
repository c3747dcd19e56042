"""Which alert follows from which. A follower is silenced while its cause fires, and a test of the cause allows it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class Cascade(msgspec.Struct, frozen=True, kw_only=True):
    cause: str
    followers: tuple[str, ...]
    reason: str


FAMILY_CASCADES = (
    Cascade(
        cause="RunNotRecovered",
        followers=("RunVanished",),
        reason="the same absence, past its restart budget",
    ),
    Cascade(
        cause="TrainingStalled",
        followers=("CheckpointTooOld", "ThroughputDegraded"),
        reason="without steps there is nothing to save or to measure",
    ),
    Cascade(
        cause="LossNotFinite",
        followers=("GradNormNotFinite", "LossSpike", "GradNormExploding"),
        reason="the loss says the same, and more",
    ),
    Cascade(
        cause="LossDiverging",
        followers=("LossSpike", "GradNormExploding"),
        reason="a divergence often begins as a spike",
    ),
    Cascade(
        cause="ThroughputCollapsed",
        followers=("ThroughputDegraded",),
        reason="the same signal, further down",
    ),
)

COMPANIONS: Mapping[str, tuple[str, ...]] = {c.cause: c.followers for c in FAMILY_CASCADES}
