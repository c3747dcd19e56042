"""Wrong numbers, with the amplitudes at which they were really seen, whatever the policies say.

Sources of the amplitudes:
- BLOOM: bigscience-workshop/bigscience, train/tr11-176B-ml/chronicles.md. 2022-04-12, iterations 31214 to 31222 (loss
  2.199 to 5.098, gradient norm 0.242 to 960.351), 2022-04-28, iterations 42780 to 42784 (149.10 to 141.09 TFLOP/s,
  105.16 to 111.14 s a step: one slow node, and it stayed).
- Criteo: mlcommons/submissions_algorithms, AlgoPerf v0.6, shampoo, study 0, criteo1tb_pytorch: loss 0.16 at step 47,
  0.98 at 49, 8.2 at 52, 21.3 at 58, NaN from 63 on.
- SlowFast: dmlc/web-data, gluoncv/logs/action_recognition/kinetics400: 44.5 samples/s, 26.7 from epoch 66 on: 40 % less.
- IDEFICS: its training log tells of a loss that drifted upwards for three hours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest
from lives import CanonicalOnKubernetes, MegatronOnSlurm, PrimeRl, Run, ramp, together
from playback import HOUR, MINUTE, Fires, Firings, Player, unlike

from longwatch.compiler import Compiled

BEGUN = 5 * MINUTE
WRONG = BEGUN + 2 * HOUR
"""From here on the numbers are wrong."""
UNTIL = WRONG + 100 * MINUTE

BLOOM_LOSS = (2.220, 2.595, 2.242, 2.345, 5.098, 3.492, 3.213, 2.805, 2.216)
BLOOM_GRAD_NORM = (0.947, 2.390, 15.886, 145.119, 960.351, 353.201, 379.330, 650.246, 0.267)
BLOOM_TFLOPS = (149.09, 147.58, 142.32, 141.09)
CRITEO_LOSS = (0.98, 0.98, 8.2, 8.2, 8.2, 21.3, 21.3, 21.3, 0.1374)


@dataclass(frozen=True)
class Family:
    name: str
    run: type[Run]
    prefix: str
    speed: str
    """The level that carries the speed."""
    slower: Sequence[float]
    """5.4 % less throughput at once."""
    collapsed: float
    """40 % less throughput."""
    half: float
    """The speed of the batch warm-up."""
    warm_up: int
    """Steps."""
    spike: dict[str, Sequence[float]]
    spikes: Callable[[float, str], list[Fires]]
    second: dict[str, str]
    second_speed: float
    second_step_time: float
    unknown: dict[str, str]


def after(when: float, first: float, last: float) -> tuple[float, float]:
    return when + first * MINUTE, when + last * MINUTE


def bloom_spike(when: float, run: str) -> list[Fires]:
    """In steps of 105 s: the third gradient norm is beyond ten times the usual, the fifth loss is more than the double."""
    return [
        *gradient_spike(when, run, step=105.0),
        Fires("LossSpike", run, begins=(when + 4 * 105, when + 7 * 105), ends=after(when + 7 * 105, 10, 25)),
    ]


def gradient_spike(when: float, run: str, step: float = 60.0) -> list[Fires]:
    begins, ends = (when + 2 * step, when + 3 * step + MINUTE), (when + 8 * step, when + 9 * step + 2 * MINUTE)
    return [Fires("GradNormExploding", run, begins=begins, ends=ends)]


def criteo_spike(when: float, run: str) -> list[Fires]:
    return [Fires("LossSpike", run, begins=after(when, 0, 3), ends=after(when, 3, 25))]


FAMILIES = {
    family.name: family
    for family in (
        Family(
            name="llm-pretraining", run=MegatronOnSlurm, prefix="llm-176b-", speed="tflops", slower=BLOOM_TFLOPS,
            collapsed=89.46, half=74.5, warm_up=20, spike={"loss": BLOOM_LOSS, "grad_norm": BLOOM_GRAD_NORM},
            spikes=bloom_spike, second={"sequence": "8192"}, second_speed=131.0, second_step_time=105.0,
            unknown={"sequence": "4096"},
        ),
        Family(
            name="llm-rl-posttraining", run=PrimeRl, prefix="rl-", speed="tokens", slower=(81_380.0,),
            collapsed=51_600.0, half=43_000.0, warm_up=30, spike={"grad_norm": BLOOM_GRAD_NORM},
            spikes=gradient_spike, second={"model": "32b"}, second_speed=41_000.0, second_step_time=90.0,
            unknown={"model": "70b"},
        ),
        Family(
            name="recsys-ranking", run=CanonicalOnKubernetes, prefix="recsys-", speed="step_seconds",
            slower=(0.2 * 111.14 / 105.16,), collapsed=1 / 3, half=0.4, warm_up=500, spike={"loss": CRITEO_LOSS},
            spikes=criteo_spike, second={"model": "large"}, second_speed=0.5, second_step_time=0.5,
            unknown={"model": "medium"},
        ),
    )
}  # fmt: skip


@dataclass(frozen=True)
class Story:
    title: str
    live: Callable[[Family, Run], None]
    fires: Callable[[Family, str], list[Fires]]
    looks: Callable[[Family], dict[str, str]] = lambda family: {}


def publication(family: Family) -> float:
    return family.run.step_time * family.run.log_every


def healthy(run: Run, upto: float = WRONG) -> None:
    run.start(BEGUN)
    run.train((upto - BEGUN) / run.step_time)


def train_on(run: Run, **levels: float | Sequence[float]) -> None:
    run.train((UNTIL + MINUTE - run.now) / run.step_time, **levels)


def with_speed(speed: Callable[[Family], float | Sequence[float]]) -> Callable[[Family, Run], None]:
    def live(family: Family, run: Run) -> None:
        healthy(run)
        train_on(run, **{family.speed: speed(family)})

    return live


def from_the_start(family: Family, run: Run) -> None:
    run.start(BEGUN)
    train_on(run, **{family.speed: family.collapsed})


def spike(family: Family, run: Run) -> None:
    healthy(run)
    train_on(run, **family.spike)


def early_spike(family: Family, run: Run) -> None:
    """Five publications after the start, when every run is wild."""
    run.start(BEGUN)
    run.train(5 * run.log_every)
    run.train(9 * run.log_every, **family.spike)
    train_on(run)


def warm_up(family: Family, run: Run) -> None:
    run.start(BEGUN)
    run.train(family.warm_up, **{family.speed: family.half})
    train_on(run)


def second_variant(family: Family, run: Run) -> None:
    run.step_time = family.second_step_time
    run.start(BEGUN)
    train_on(run, **{family.speed: family.second_speed})


def plain(family: Family, run: Run) -> None:
    run.start(BEGUN)
    train_on(run)


def nothing(family: Family, run: str) -> list[Fires]:
    return []


def degraded(family: Family, run: str) -> list[Fires]:
    return [Fires("ThroughputDegraded", run, begins=after(WRONG, 10, 30))]


def collapsed(family: Family, run: str) -> list[Fires]:
    return [
        Fires("ThroughputDegraded", run, begins=after(WRONG, 10, 25)),
        Fires("ThroughputCollapsed", run, begins=after(WRONG, 5, 30)),
    ]


def slid(family: Family, run: str) -> list[Fires]:
    """40 publications long: half of it is through when 20 % are lost."""
    minutes = 40 * publication(family) / MINUTE
    return [
        Fires("ThroughputDegraded", run, begins=after(WRONG, 10, minutes / 2 + 25)),
        Fires("ThroughputCollapsed", run, begins=after(WRONG, minutes / 2, minutes + 25)),
    ]


def collapsed_after_warm_up(family: Family, run: str) -> list[Fires]:
    warm = BEGUN + family.warm_up * family.run.step_time
    return [
        Fires("ThroughputDegraded", run, begins=after(warm, 10, 45)),
        Fires("ThroughputCollapsed", run, begins=after(warm, 5, 45)),
    ]


STORIES = {
    story.title: story
    for story in (
        Story("spike", spike, lambda family, run: family.spikes(WRONG, run)),
        Story("the-same-spike-in-the-first-minutes", early_spike, nothing),
        Story("slower-by-5.4-percent-at-once", with_speed(lambda family: family.slower), degraded),
        Story("slower-by-40-percent-at-once", with_speed(lambda family: family.collapsed), collapsed),
        Story(
            "slower-by-40-percent-little-by-little",
            with_speed(lambda family: ramp(family.run.healthy[family.speed], family.collapsed, 40)),
            slid,
        ),
        Story("slower-by-40-percent-from-the-start", from_the_start, collapsed_after_warm_up),
        Story("healthy-run-of-the-second-variant", second_variant, nothing, lambda family: family.second),
        Story("batch-warm-up-at-half-the-speed", warm_up, nothing),
        Story(
            "run-of-no-variant",
            plain,
            lambda family, run: [Fires("BaselineMissing", run, begins=after(BEGUN, 5, 30))],
            lambda family: family.unknown,
        ),
    )
}


def play(player: Player, rules: dict[str, str], family: Family) -> Firings:
    runs = []
    for story in STORIES.values():
        run = family.run(named(family, story.title))
        for attribute, value in story.looks(family).items():
            setattr(run, attribute, value)
        story.live(family, run)
        runs.append(run)
    return player.firings(rules[family.name], together(*runs), every=15, until=UNTIL)


def named(family: Family, title: str) -> str:
    return family.prefix + title.replace(".", "-")


@pytest.fixture(params=FAMILIES)
def family(request: pytest.FixtureRequest) -> Family:
    return FAMILIES[request.param]


@pytest.mark.parametrize("title", STORIES)
def test_a_wrong_number_raises_what_its_table_says_and_nothing_else(
    title: str, family: Family, player: Player, rules: dict[str, str]
) -> None:
    run = named(family, title)
    told = {key: value for key, value in play(player, rules, family).items() if key[1].split()[:1] == [run]}
    assert unlike(told, STORIES[title].fires(family, run)) == []


def test_wrong_numbers_raise_nothing_about_anybody_else(family: Family, player: Player, rules: dict[str, str]) -> None:
    known = {named(family, title) for title in STORIES}
    assert {key for key in play(player, rules, family) if key[1].split(" ")[0] not in known} == set()


# not a number ---------------------------------------------------------------------------------------------------------


LOSS = {
    "llm-pretraining": "megatron_training_loss",
    "llm-rl-posttraining": "trainer_loss",
    "recsys-ranking": "train_loss",
}
GRAD_NORM = {family: name.replace("loss", "grad_norm") for family, name in LOSS.items()}
WRONG_RANKS = {
    "loss-nan": (LOSS, "LossNotFinite", float("nan")),
    "loss-infinite": (LOSS, "LossNotFinite", float("inf")),
    "grad-norm-nan": (GRAD_NORM, "GradNormNotFinite", float("nan")),
    "grad-norm-infinite": (GRAD_NORM, "GradNormNotFinite", float("inf")),
}


def eight_ranks(run: Run, metric: str, wrong: float, first: float, seconds: float) -> None:
    """Eight ranks in place of one; the sixth shows `wrong` for a while."""
    [name] = [name for name in run.series if name.startswith(f"{metric}{{")]
    usual = run.series.pop(name)
    for rank in range(8):
        values = list(usual)
        if rank == 5:
            begin, end = round(first / run.every), round((first + seconds) / run.every)
            values[begin:end] = [wrong] * (end - begin)
        run.series[name.replace("}", f', rank="{rank}"}}')] = values


@pytest.mark.parametrize("what", WRONG_RANKS)
def test_one_rank_of_eight_that_shows_no_number_for_two_minutes_is_told_and_held_for_half_an_hour(
    what: str, family: Family, player: Player, rules: dict[str, str]
) -> None:
    first, runs = BEGUN + 40 * MINUTE, []
    for title, (metrics, _, wrong) in WRONG_RANKS.items():
        run = family.run(family.prefix + title)
        run.start(BEGUN)
        run.train((first + HOUR - BEGUN) / run.step_time)
        eight_ranks(run, metrics[family.name], wrong, first, 2 * MINUTE)
        runs.append(run)
    told = player.firings(rules[family.name], together(*runs), every=15, until=first + 55 * MINUTE)
    about_it = {key: value for key, value in told.items() if key[1] == family.prefix + what}
    expected = Fires(WRONG_RANKS[what][1], family.prefix + what, begins=after(first, 0, 2), ends=after(first, 30, 45))
    assert unlike(about_it, [expected]) == []
    assert {run for _, run in told} == {run.name for run in runs}


# a slow divergence ----------------------------------------------------------------------------------------------------


def test_a_loss_that_drifts_for_three_hours_leaves_its_curve(player: Player, rules: dict[str, str]) -> None:
    """30 % in three hours; a tenth, the width of the band, is lost after the first."""
    run = CanonicalOnKubernetes("recsys-drifting")
    healthy(run)
    run.train(3 * HOUR / run.step_time, loss=ramp(0.1374, 0.1786, 540))
    run.train(30 * MINUTE / run.step_time, loss=0.1786)
    told = player.firings(rules["recsys-ranking"], run.series, every=15, until=WRONG + 3.5 * HOUR)
    assert unlike(told, [Fires("LossDiverging", run.name, begins=after(WRONG, 60, 90))]) == []


def test_a_family_whose_signals_allow_no_curve_is_told_that_nobody_watches_its_divergence(sample: Compiled) -> None:
    assert sample.fleet is not None
    [plan] = [plan for plan in sample.fleet.plans if plan.name == "llm-pretraining"]
    assert "LossDiverging" in {left_out.alert for left_out in plan.unprotected}
    assert "LossDiverging" not in {alert.name for alert in plan.alerts}
