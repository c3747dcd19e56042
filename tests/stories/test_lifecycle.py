"""The lives of runs, under each way of telling that a run should be there and that it ended well.

Three profiles: Megatron tells neither phase nor end, so Slurm does; prime-rl tells the time of its last step, and its
end by its step; our own names tell the phase. The tables are what the teams of the sample policies want, in the
minutes of their own limits; nothing here is read from a policy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from lives import CanonicalOnKubernetes, MegatronOnSlurm, PrimeRl, Run, together
from playback import FOREVER, HOUR, MINUTE, Fires, Firings, Player, unlike


@dataclass(frozen=True)
class Profile:
    family: str
    run: type[Run]
    prefix: str
    stalled: tuple[float, float]
    """Minutes from the last step to the page, where nothing tells the hang from a pause."""
    evaluation: tuple[float, float]
    """Minutes from the begin of an evaluation that never ends."""
    stuck: tuple[float, float]
    """Minutes from the start."""
    not_recovered: tuple[float, float]
    """Minutes from death."""


PROFILES = {
    profile.family: profile
    for profile in (
        # evaluations of up to 40 minutes, a start of up to 45, a restart budget of 25
        Profile("llm-pretraining", MegatronOnSlurm, "llm-176b-", (40, 55), (40, 55), (45, 55), (25, 27)),
        # evaluations of up to 30 minutes, a start of up to 30, a restart budget of 30
        Profile("llm-rl-posttraining", PrimeRl, "rl-", (30, 45), (30, 45), (30, 40), (30, 32)),
        # the phase tells training (15 minutes) from an evaluation of up to 30; a start of up to 20, a budget of 20
        Profile("recsys-ranking", CanonicalOnKubernetes, "recsys-", (15, 25), (30, 40), (20, 30), (20, 22)),
    )
}
VANISHED = (5, 8)
"""Minutes from death to the warning that a run has gone."""

BEGUN, TOLD = 5 * MINUTE, 65 * MINUTE
"""Every run starts for five minutes and is healthy for an hour; then comes what the story is about."""

UNTIL = TOLD + 3 * HOUR + 10 * MINUTE


@dataclass(frozen=True)
class Story:
    title: str
    acts: Callable[[Run], None]
    fires: Callable[[Profile, str], list[Fires]]
    begins_healthy: bool = True


def after(when: float, minutes: tuple[float, float]) -> tuple[float, float]:
    return when + minutes[0] * MINUTE, when + minutes[1] * MINUTE


def nothing(profile: Profile, run: str) -> list[Fires]:
    return []


def gone(profile: Profile, run: str, died: float = TOLD) -> list[Fires]:
    return [
        Fires("RunVanished", run, begins=after(died, VANISHED)),
        Fires("RunNotRecovered", run, begins=after(died, profile.not_recovered)),
    ]


def requeued(profile: Profile, run: str) -> list[Fires]:
    back = TOLD + 12 * MINUTE
    return [Fires("RunVanished", run, begins=after(TOLD, VANISHED), ends=(back, back + 2 * MINUTE), perhaps=True)]


def stuck_in_training(profile: Profile, run: str) -> list[Fires]:
    return [Fires("TrainingStalled", run, begins=after(TOLD, profile.stalled)), *unsaved(profile, run)]


def unsaved(profile: Profile, run: str, ends: tuple[float, float] = (FOREVER, FOREVER)) -> list[Fires]:
    """A checkpoint every 30 minutes, the last one five minutes before: two are overdue after 65 minutes."""
    if profile.run is not CanonicalOnKubernetes:
        return []
    return [Fires("CheckpointTooOld", run, begins=after(TOLD - 5 * MINUTE, (65, 72)), ends=ends)]


def stuck_in_evaluation(profile: Profile, run: str) -> list[Fires]:
    over = TOLD + 3 * HOUR, TOLD + 3 * HOUR + profile.run.step_time + 2 * MINUTE
    stalled = Fires("TrainingStalled", run, begins=after(TOLD, profile.evaluation), ends=over)
    return [stalled, *unsaved(profile, run, ends=over)]


def to_the_end(act: str) -> Callable[[Run], None]:
    return lambda run: getattr(run, act)(UNTIL + MINUTE - run.now)


def train_on(run: Run) -> None:
    run.train((UNTIL + MINUTE - run.now) / run.step_time)


def finish_early(run: Run) -> None:
    """What tells: Slurm; the last step, seen by one scrape but by no evaluation before the target goes; the Job."""
    run.hang(15)
    run.finish(UNTIL - run.now, seen=1 if isinstance(run, PrimeRl) else 0)


def requeue(run: Run) -> None:
    run.queue(12 * MINUTE)
    run.start(5 * MINUTE)
    train_on(run)


def pause(kind: str, seconds: float) -> Callable[[Run], None]:
    def act(run: Run) -> None:
        getattr(run, kind)(seconds)
        train_on(run)

    return act


STORIES = {
    story.title: story
    for story in (
        Story("healthy", train_on, nothing),
        Story("hang", to_the_end("hang"), stuck_in_training),
        Story("crash-with-the-target-gone", to_the_end("die"), gone),
        Story("normal-finish", to_the_end("finish"), nothing),
        Story("finish-before-the-next-scrape", finish_early, nothing),
        Story("requeue-after-12-minutes", requeue, requeued),
        Story("checkpoint-pause", pause("save", 2 * MINUTE), nothing),
        Story("evaluation-of-20-minutes", pause("evaluate", 20 * MINUTE), nothing),
        Story("evaluation-of-3-hours", pause("evaluate", 3 * HOUR), stuck_in_evaluation),
        Story(
            "stuck-start",
            to_the_end("start"),
            lambda profile, run: [Fires("TrainingStuckAtStart", run, begins=after(0, profile.stuck))],
            begins_healthy=False,
        ),
    )
}


def play(player: Player, rules: dict[str, str], profile: Profile) -> Firings:
    runs = []
    for story in STORIES.values():
        run = profile.run(profile.prefix + story.title)
        if story.begins_healthy:
            run.start(BEGUN)
            run.train((TOLD - BEGUN) / run.step_time)
        story.acts(run)
        runs.append(run)
    return player.firings(rules[profile.family], together(*runs), every=15, until=UNTIL)


@pytest.fixture(params=PROFILES)
def profile(request: pytest.FixtureRequest) -> Profile:
    return PROFILES[request.param]


@pytest.mark.parametrize("title", STORIES)
def test_the_life_of_a_run_raises_what_its_table_says_and_nothing_else(
    title: str, profile: Profile, player: Player, rules: dict[str, str]
) -> None:
    told = play(player, rules, profile)
    run = profile.prefix + title
    about_it = {key: value for key, value in told.items() if key[1].split()[:1] == [run]}
    assert unlike(about_it, STORIES[title].fires(profile, run)) == []


def test_the_lives_raise_nothing_about_anybody_else(profile: Profile, player: Player, rules: dict[str, str]) -> None:
    told = play(player, rules, profile)
    assert {key for key in told if key[1].split()[:1] not in [[profile.prefix + title] for title in STORIES]} == set()


def test_death_without_return_is_never_called_a_recovery(
    profile: Profile, player: Player, rules: dict[str, str]
) -> None:
    """More than eight hours: beyond the five minutes of look-back, and beyond the hour that a record is carried."""
    run = profile.run(profile.prefix + "lost")
    run.start(BEGUN)
    run.train(20 * MINUTE / run.step_time)
    died = run.now
    run.die(8.25 * HOUR)
    told = player.firings(rules[profile.family], run.series, every=15, until=died + 8.25 * HOUR)
    assert unlike(told, gone(profile, run.name, died)) == []


def test_a_finish_that_one_scrape_saw_counts_although_its_job_is_deleted_at_once(
    player: Player, rules: dict[str, str]
) -> None:
    """ttlSecondsAfterFinished: 0; the phase is seen by one scrape, and no rule is evaluated before the target goes."""
    run = CanonicalOnKubernetes("recsys-deleted")
    run.start(BEGUN)
    run.train((30 * MINUTE + 15 - BEGUN) / run.step_time)
    run.finish(HOUR, seen=1)
    run.drop("kube_job_complete")
    assert player.firings(rules["recsys-ranking"], run.series, every=15, until=90 * MINUTE) == {}


def test_a_job_that_slurm_believes_to_run_vanishes_all_the_same(player: Player, rules: dict[str, str]) -> None:
    """BLOOM: the processes were dead, and the Slurm job did not exit."""
    run = MegatronOnSlurm("llm-176b-undead")
    run.notices = False
    run.start(BEGUN)
    run.train((TOLD - BEGUN) / run.step_time)
    run.die(2 * HOUR)
    told = player.firings(rules["llm-pretraining"], run.series, every=15, until=TOLD + 2 * HOUR)
    assert unlike(told, gone(PROFILES["llm-pretraining"], run.name)) == []


def test_of_twenty_concurrent_runs_only_the_hung_and_the_dead_one_are_named(
    profile: Profile, player: Player, rules: dict[str, str]
) -> None:
    told_at, until = 40 * MINUTE, 40 * MINUTE + profile.stalled[1] * MINUTE
    runs = [profile.run(f"{profile.prefix}{index:02}") for index in range(20)]
    for index, run in enumerate(runs):
        run.start(BEGUN + index * MINUTE)  # they do not march in step
        run.train((told_at - run.now) / run.step_time)
        rest = until + MINUTE - run.now
        if index == 7:
            run.hang(rest)
        elif index == 13:
            run.die(rest)
        else:
            run.train(rest / run.step_time)
    told = player.firings(rules[profile.family], together(*runs), every=15, until=until)
    hung, dead = runs[7].name, runs[13].name
    assert (
        unlike(
            told,
            [
                Fires("TrainingStalled", hung, begins=after(told_at, profile.stalled)),
                Fires("RunVanished", dead, begins=after(told_at, VANISHED)),
                Fires(
                    "RunNotRecovered",
                    dead,
                    begins=after(told_at, profile.not_recovered),
                    perhaps=until < told_at + profile.not_recovered[1] * MINUTE,
                ),
            ],
        )
        == []
    )


def test_a_run_without_identity_is_told_and_does_not_disturb_its_neighbour(
    profile: Profile, player: Player, rules: dict[str, str]
) -> None:
    named, anonymous = (
        profile.run(profile.prefix + "named"),
        profile.run(profile.prefix + "anonymous", identified=False),
    )
    for run in (named, anonymous):
        run.start(BEGUN)
        run.train(70 * MINUTE / run.step_time)
    told = player.firings(rules[profile.family], together(named, anonymous), every=15, until=75 * MINUTE)
    shows_itself = BEGUN + profile.run.step_time if profile.run is MegatronOnSlurm else 0  # the others from the start
    expected = [Fires("RunIdentityMissing", "", begins=after(shows_itself, (5, 7)))]
    if profile.run is MegatronOnSlurm:
        # Slurm says that this run goes, and no series shows a step of it.
        expected.append(Fires("TrainingStuckAtStart", anonymous.name, begins=after(0, profile.stuck)))
    assert unlike(told, expected) == []
