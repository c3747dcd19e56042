"""What the tests of lowering share: small families of the three lifecycles, resolved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from longwatch.compiler import read
from longwatch.plugins.reading import ClusterReader, FamilyReader

ORGANISATION = Path(__file__).parents[1] / "diagnostics" / "_base" / "organisation.yaml"
HEAD = "apiVersion: longwatch/v1\nowner: models\n"
FAMILIES = {
    "phase": """
kind: ModelFamily
name: ranking
title: Ranking
exporters: [canonical, kube_state_metrics]
runs: {select: {job: ranking}, name_pattern: 'ranking-[a-z]+', examples: [ranking-a, ranking-b]}
lifecycle:
  expected: phase
  finished: [phase, scheduler]
  pauses: {evaluation: {limit: 30m}}
  checkpoints: {every: 30m}
variants:
  - {name: small, when: {model_size: small}, step_time: 200ms, log_every: 300, baselines: {loss: {value: 2.0}}}
  - {name: large, when: {model_size: large}, step_time: 1s, log_every: 60}
alerts: {packs: [progress]}
""",
    "run-info": """
kind: ModelFamily
name: chat
title: Chat
exporters: [prime_rl]
runs: {select: {job: chat}, name_pattern: 'chat-[a-z]+', examples: [chat-a, chat-b]}
lifecycle: {expected: run-info, finished: [{step: {at_least: 2000}}]}
variants: [{name: only, step_time: 60s}]
alerts: {packs: [progress]}
""",
    "scheduler": """
kind: ModelFamily
name: base
title: Base
exporters: [megatron, slurm_soperator]
runs: {select: {service_name: base}, name_pattern: 'base-[a-z]+', examples: [base-a, base-b]}
lifecycle: {expected: scheduler, finished: [scheduler]}
variants: [{name: only, step_time: 120s, baselines: {tflops_per_gpu: {value: 150}}}]
alerts: {packs: [progress]}
""",
}
CLUSTER = """
kind: Cluster
name: alpha
title: Alpha
exporters: [dcgm, node_exporter, slurm_soperator]
select: {cluster: alpha}
alerts: {packs: [gpu, host, storage]}
"""
FamilyOf = Callable[[str], FamilyReader]


@pytest.fixture(scope="session")
def family_of() -> FamilyOf:
    """Lifecycle, or the text of a family → its reader."""

    def resolved(which: str) -> FamilyReader:
        text = HEAD + FAMILIES.get(which, which)
        front = read((("organisation.yaml", ORGANISATION.read_bytes()), ("family.yaml", text.encode())))
        assert front.policy is not None and front.ok, [d.message for d in front.diagnostics]
        return FamilyReader(front.policy.families[0])

    return resolved


@pytest.fixture(scope="session")
def cluster() -> ClusterReader:
    front = read((("organisation.yaml", ORGANISATION.read_bytes()), ("cluster.yaml", (HEAD + CLUSTER).encode())))
    assert front.policy is not None and front.ok, [d.message for d in front.diagnostics]
    return ClusterReader(front.policy.clusters[0])
