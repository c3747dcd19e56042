"""What must not silence a page: a hole in the data, another job of the same name, an ended pod on an idle node."""

from __future__ import annotations

from lives import CanonicalOnKubernetes, MegatronOnSlurm, PrimeRl, Run, series, together
from playback import HOUR, MINUTE, Firings, Player

from longwatch.notation import Sample

RUN = "llm-176b-main"


def hung(run: Run, from_: float, until: float) -> Run:
    """Healthy until `from_`, then nothing advances."""
    run.start(5 * MINUTE)
    run.train((from_ - run.now) / run.step_time)
    run.hang(until - run.now)
    return run


def firing_at(told: Firings, alert: str, at: float) -> bool:
    return any(begin <= at <= end for (name, _), ends in told.items() if name == alert for begin, end in ends)


def test_a_failed_scrape_does_not_end_the_page_of_a_hung_run(player: Player, rules: dict[str, str]) -> None:
    run = hung(PrimeRl("rl-math-7b", every=15), HOUR, 4 * HOUR)
    data = together(run)
    hole = round(2.5 * HOUR / 15)
    for samples in data.values():
        samples[hole : hole + 8] = ["stale", *[None] * 7]  # two minutes of failed scrapes
    told = player.firings(rules["llm-rl-posttraining"], data, every=15, until=4 * HOUR)
    for at in (2.4 * HOUR, 3 * HOUR, 3.9 * HOUR):
        assert firing_at(told, "TrainingStalled", at), told


def test_a_short_absence_of_the_schedulers_exporter_does_not_either(player: Player, rules: dict[str, str]) -> None:
    data = together(hung(MegatronOnSlurm(RUN, every=15), HOUR, 5 * HOUR))
    hole = round(3 * HOUR / 15)
    for name, samples in data.items():
        if name.startswith("slurm_"):
            samples[hole : hole + 8] = ["stale", *[None] * 7]
    told = player.firings(rules["llm-pretraining"], data, every=15, until=5 * HOUR)
    for at in (2.9 * HOUR, 3.2 * HOUR, 4.9 * HOUR):
        assert firing_at(told, "TrainingStalled", at), told


def test_an_ended_job_of_the_same_name_does_not_mute_the_running_one(player: Player, rules: dict[str, str]) -> None:
    data = together(hung(MegatronOnSlurm(RUN, every=15), HOUR, 4 * HOUR))
    ended: list[Sample] = [1.0] * round(4 * HOUR / 15)
    cluster = next(name for name in data if name.startswith("slurm_job_info")).split('cluster="')[1].split('"')[0]
    data[series("slurm_job_info", cluster=cluster, job_id="1", job_name=RUN, job_state="COMPLETED")] = ended
    told = player.firings(rules["llm-pretraining"], data, every=15, until=4 * HOUR)
    assert firing_at(told, "TrainingStalled", 3.9 * HOUR), told


def test_an_ended_pod_does_not_stand_on_its_node(player: Player, rules: dict[str, str]) -> None:
    run = CanonicalOnKubernetes("recsys-daily", cluster="h100-pod", every=30, nodes=("node-1",))
    run.start(5 * MINUTE)
    run.train((HOUR - run.now) / run.step_time)
    run.finish(2 * HOUR)
    data = together(run)
    for name, samples in data.items():
        if name.startswith("kube_pod_info"):
            samples[:] = [1.0] * round(3 * HOUR / 30)  # the pod object outlives its job
    throttled = series("DCGM_FI_DEV_CLOCKS_EVENT_REASONS", cluster="h100-pod", Hostname="node-1", gpu="0")
    data[throttled] = [0.0] * round(1.5 * HOUR / 30) + [32.0] * round(1.5 * HOUR / 30)
    told = player.firings([rules["recsys-ranking"], rules["h100-pod"]], data, every=30, until=3 * HOUR)
    assert told == {}
