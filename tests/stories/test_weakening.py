"""A policy that someone has weakened does not pass: the recorded amplitudes do not move with it.

BLOOM's slow node cost 5.4 % of the throughput, 149.1 to 141.1 TFLOP/s per GPU. The sample policy sees that with a limit
of 97 % of its baseline; with 80 % nobody would be told.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from compiling import compiled, plan_of, proofs, rules_of
from lives import MegatronOnSlurm
from playback import HOUR, MINUTE, Firings, Player

from longwatch.compiler import Compiled

FAMILY = "llm-pretraining"
ALERT = "ThroughputDegraded"
BEFORE, AFTER = f"{ALERT}: {{below: 97%", f"{ALERT}: {{below: 80%"


@pytest.fixture(scope="module")
def weakened(sample_files: Sequence[tuple[str, bytes]]) -> Compiled:
    assert sum(raw.decode().count(BEFORE) for _, raw in sample_files) == 1
    return compiled([(name, raw.decode().replace(BEFORE, AFTER).encode()) for name, raw in sample_files])


def slow_node(player: Player, made: Compiled) -> Firings:
    run = MegatronOnSlurm("llm-176b-straggling")
    run.start(5 * MINUTE)
    run.train(2 * HOUR / run.step_time)
    run.train(HOUR / run.step_time, tflops=(149.09, 147.58, 142.32, 141.09))
    return player.firings(rules_of(made, FAMILY), run.series, every=15, until=3 * HOUR)


def test_the_slow_node_is_told_by_the_policy_as_it_is(player: Player, sample: Compiled) -> None:
    assert (ALERT, "llm-176b-straggling") in slow_node(player, sample)


def test_the_slow_node_is_not_told_any_more_when_97_percent_become_80(player: Player, weakened: Compiled) -> None:
    """What the other stories would show in red."""
    assert (ALERT, "llm-176b-straggling") not in slow_node(player, weakened)


def test_the_generated_test_of_the_slow_node_passes_with_the_policy_as_it_is(player: Player, sample: Compiled) -> None:
    chosen = proofs(plan_of(sample, FAMILY), lambda scenario: scenario.key.endswith("straggler"))
    assert player.disproved(chosen) == set()


def test_the_generated_test_of_the_slow_node_fails_when_97_percent_become_80(
    player: Player, weakened: Compiled
) -> None:
    chosen = proofs(plan_of(weakened, FAMILY), lambda scenario: scenario.key.endswith("straggler"))
    assert player.disproved(chosen) == {"throughput-degraded.degraded-straggler"}
