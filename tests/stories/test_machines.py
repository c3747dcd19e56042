"""GPUs, with the runs that stand on their nodes: the cluster's rules beside those of two families, as one Prometheus."""

from __future__ import annotations

import pytest
from lives import CanonicalOnKubernetes, MegatronOnSlurm, series, together
from playback import HOUR, MINUTE, Fires, Firings, Player, unlike

from longwatch.notation import Sample

UNTIL = 2 * HOUR + 50 * MINUTE
BRIEFLY = 30 * MINUTE
FATAL = BRIEFLY + HOUR


def lasting(*stretches: tuple[float, Sample]) -> list[Sample]:
    """(until, value) one after the other, one sample every 30 s as dcgm-exporter collects them."""
    made: list[Sample] = []
    for until, value in stretches:
        made += [value] * (round(until / 30) - len(made))
    return made


def xid(node: str, gpu: str, *codes: tuple[float, int]) -> dict[str, list[Sample]]:
    """The gauge is sticky and carries its code as a label too: (from, code) one after the other, the first from 0 on."""
    made: dict[str, list[Sample]] = {}
    for index, (begin, code) in enumerate(codes):
        end = codes[index + 1][0] if index + 1 < len(codes) else UNTIL
        name = series(
            "DCGM_FI_DEV_XID_ERRORS", cluster="h100-pod", Hostname=node, gpu=gpu, err_code=str(code), err_msg="as told"
        )
        made[name] = [None] * round(begin / 30) + [float(code)] * round((end - begin) / 30) + ["stale"]
    return made


def reasons(node: str, gpu: str, *stretches: tuple[float, Sample]) -> dict[str, list[Sample]]:
    name = series("DCGM_FI_DEV_CLOCKS_EVENT_REASONS", cluster="h100-pod", Hostname=node, gpu=gpu)
    return {name: lasting(*stretches)}


SLURM_RUN, KUBERNETES_RUN = "llm-176b-main", "recsys-daily"


@pytest.fixture
def told(player: Player, rules: dict[str, str]) -> Firings:
    slurm = MegatronOnSlurm(SLURM_RUN, cluster="h100-pod", every=30, nodes=("node-1", "node-2"))
    kubernetes = CanonicalOnKubernetes(KUBERNETES_RUN, cluster="h100-pod", every=30, nodes=("node-5",))
    for run in (slurm, kubernetes):
        run.start(5 * MINUTE)
        run.train((UNTIL + MINUTE - run.now) / run.step_time)
    machines = {
        # 31 is the application's own fault; 79: the GPU fell off the bus
        **xid("node-1", "5", (0, 0), (BRIEFLY, 31), (FATAL, 79)),
        **xid("node-2", "0", (0, 0), (BRIEFLY, 31)),
        **xid("node-9", "3", (0, 0), (FATAL, 79)),
        **reasons("node-2", "3", (BRIEFLY, 0x4), (BRIEFLY + HOUR, 0x4 + 0x20), (UNTIL, 0x4)),  # software thermal
        **reasons("node-5", "1", (BRIEFLY, 0x1), (UNTIL, 0x40)),  # hardware thermal
        **reasons("node-5", "2", (UNTIL, 0x4)),  # the power cap is normal under load
        **reasons("node-9", "1", (UNTIL, 0x20)),  # idle
    }
    return player.firings(
        [rules["llm-pretraining"], rules["recsys-ranking"], rules["h100-pod"]],
        {**together(slurm, kubernetes), **machines},
        every=30,
        until=UNTIL,
        about=("node", "gpu", "code", "run_id", "run_owner"),
    )


def about(told: Firings, *nodes: str) -> Firings:
    return {key: value for key, value in told.items() if key[1].split(" ")[0] in nodes}


def test_xid_79_after_a_benign_31_on_the_same_gpu_is_told_once_with_the_run_and_its_owner(told: Firings) -> None:
    fatal = f"node-1 5 79 {SLURM_RUN} foundation-models"
    for_an_hour = (FATAL + HOUR, FATAL + HOUR + 15 * MINUTE)
    expected = [Fires("GpuXidCritical", fatal, begins=(FATAL, FATAL + MINUTE), ends=for_an_hour)]
    assert unlike(about(told, "node-1"), expected) == []


def test_xid_79_on_an_idle_node_is_told_too(told: Firings) -> None:
    for_an_hour = (FATAL + HOUR, FATAL + HOUR + 15 * MINUTE)
    expected = [Fires("GpuXidCritical", "node-9 3 79", begins=(FATAL, FATAL + MINUTE), ends=for_an_hour)]
    assert unlike(about(told, "node-9"), expected) == []


def test_a_throttled_gpu_is_told_with_the_run_that_slurm_placed_on_its_node(told: Firings) -> None:
    throttled = f"node-2 3 {SLURM_RUN} foundation-models"
    begins, ends = (BRIEFLY + 5 * MINUTE, BRIEFLY + 7 * MINUTE), (FATAL, FATAL + 2 * MINUTE)
    assert unlike(about(told, "node-2"), [Fires("GpuThrottled", throttled, begins, ends)]) == []


def test_a_throttled_gpu_is_told_with_the_run_that_kubernetes_placed_on_its_node(told: Firings) -> None:
    throttled = f"node-5 1 {KUBERNETES_RUN} ranking"
    expected = [Fires("GpuThrottled", throttled, begins=(BRIEFLY + 5 * MINUTE, BRIEFLY + 7 * MINUTE))]
    assert unlike(about(told, "node-5"), expected) == []


def test_no_other_gpu_and_no_run_is_told(told: Firings) -> None:
    assert {key[1].split(" ")[0] for key in told} == {"node-1", "node-2", "node-5", "node-9"}
