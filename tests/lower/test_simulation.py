"""Acts of a run become what its exporters would show."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from longwatch.ir.model import Series
from longwatch.lower.simulation import RunSimulation, curve_at, device_series
from longwatch.notation import Sample, expand
from longwatch.plugins.front import Act, Device, History
from longwatch.plugins.reading import ClusterReader, FamilyReader
from longwatch.policy.document import Curve

EVERY = 60.0
HEALTHY = Act(phase="training", seconds=600)
FamilyOf = Callable[[str], FamilyReader]
Played = dict[str, tuple[Sample, ...]]


def play(
    reader: FamilyReader, *acts: Act, roles: Sequence[str], name: str = "run-1", **history: object
) -> list[Series]:
    told = History(acts=acts, **history)  # type: ignore[arg-type]
    return list(RunSimulation(reader, told, name, EVERY, roles, {"cluster": "north"}).series())


def values(series: Sequence[Series]) -> Played:
    """Metric → samples; a metric of several ranks has one entry each."""
    shown: Played = {}
    for one in series:
        metric, _, labels = one.selector.partition("{")
        shown[f"{metric} rank 1" if 'rank="1"' in labels else metric] = expand(one.values)
    return shown


# a healthy run ----------------------------------------------------------------------------------------------------


def test_a_step_counts_the_published_steps(family_of: FamilyOf) -> None:
    shown = values(play(family_of("phase"), HEALTHY, roles=("step",)))
    assert shown["train_step"] == tuple(300.0 * n for n in range(1, 11))


def test_a_step_stands_still_between_two_publications(family_of: FamilyOf) -> None:
    shown = values(play(family_of("scheduler"), HEALTHY, roles=("steps_done",)))
    counted = shown["megatron_training_step_duration_ms_milliseconds_count"]
    assert counted == (0, 1, 1, 2, 2, 3, 3, 4, 4, 5)


def test_a_healthy_level_comes_from_the_baseline(family_of: FamilyOf) -> None:
    shown = values(play(family_of("scheduler"), HEALTHY, roles=("tflops_per_gpu",)))
    assert set(shown["megatron_training_throughput_tflops"]) == {150.0}


def test_a_level_is_shown_in_the_exporters_unit(family_of: FamilyOf) -> None:
    shown = values(play(family_of("run-info"), HEALTHY, roles=("mfu",)))
    assert set(shown["trainer_mfu_percent"]) == {40.0}


def test_the_last_step_is_a_time(family_of: FamilyOf) -> None:
    shown = values(play(family_of("run-info"), HEALTHY, roles=("last_step",)))
    assert shown["trainer_last_step_timestamp_seconds"] == tuple(60.0 * n for n in range(10))


def test_a_histograms_sum_grows_by_the_step_time(family_of: FamilyOf) -> None:
    shown = values(play(family_of("scheduler"), HEALTHY, roles=("step_time",)))
    count = shown["megatron_training_step_duration_ms_milliseconds_count"]
    total = shown["megatron_training_step_duration_ms_milliseconds_sum"]
    assert total == tuple(120_000.0 * n for n in count if isinstance(n, float))


def test_checkpoints_are_saved_in_time(family_of: FamilyOf) -> None:
    shown = values(play(family_of("phase"), Act(phase="training", seconds=7200), roles=("checkpoint",)))
    saved = [time for time in shown["train_checkpoint_last_success_timestamp_seconds"] if isinstance(time, float)]
    assert sorted(set(saved)) == pytest.approx([1740, 3540, 5340, 7140])


def test_a_series_carries_the_exporters_labels(family_of: FamilyOf) -> None:
    [series] = play(family_of("scheduler"), HEALTHY, roles=("loss",), name="base-a")
    assert series.selector == 'megatron_training_loss{service_name="base", cluster="north", nemo_run_id="base-a"}'


def test_a_run_of_another_variant_has_its_labels(family_of: FamilyOf) -> None:
    [series] = play(family_of("phase"), HEALTHY, roles=("run_info",), variant=1)
    assert 'model_size="large"' in series.selector


def test_a_run_without_identity_lacks_the_label(family_of: FamilyOf) -> None:
    [series] = play(family_of("run-info"), HEALTHY, roles=("loss",), labels={"run_id": ""})
    assert "run_id" not in series.selector


def test_roles_that_no_exporter_provides_are_left_out(family_of: FamilyOf) -> None:
    assert values(play(family_of("run-info"), HEALTHY, roles=("loss", "checkpoint"))).keys() == {"trainer_loss"}


# failures -----------------------------------------------------------------------------------------------------------


def test_a_factor_lasts_for_one_publication_and_the_last_one_to_the_end(family_of: FamilyOf) -> None:
    act = Act(phase="training", seconds=600, factors={"loss": (1.0, 3.0, 2.0)})
    shown = values(play(family_of("phase"), act, roles=("loss",)))
    assert shown["train_loss"] == (2.0, 6.0, *((4.0,) * 8))


def test_a_ramp_leads_to_its_factor(family_of: FamilyOf) -> None:
    act = Act(phase="training", seconds=6000, ramps={"loss": 1.5})
    shown = values(play(family_of("phase"), act, roles=("loss",)))["train_loss"]
    assert shown[0] == 2.0
    assert shown[-1] == pytest.approx(3.0, rel=0.01)
    assert list(shown) == sorted(shown)  # type: ignore[type-var]


def test_a_level_comes_back_when_the_act_is_over(family_of: FamilyOf) -> None:
    act = Act(phase="training", seconds=120, factors={"loss": (3.0,)})
    shown = values(play(family_of("phase"), act, HEALTHY, roles=("loss",)))
    assert shown["train_loss"] == (6.0, 6.0, *((2.0,) * 10))


def test_one_rank_deviates_and_the_others_do_not(family_of: FamilyOf) -> None:
    act = Act(phase="training", seconds=120, factors={"loss": (float("nan"),)}, one_rank="loss")
    shown = values(play(family_of("phase"), HEALTHY, act, roles=("loss",)))
    assert set(shown["train_loss"]) == {2.0}
    assert str(shown["train_loss rank 1"][-1]) == "nan"


def test_a_dropped_role_is_absent_and_the_others_stay(family_of: FamilyOf) -> None:
    act = Act(phase="training", seconds=120, drops=("loss",))
    shown = values(play(family_of("phase"), HEALTHY, act, roles=("loss", "step")))
    assert shown["train_loss"][-2:] == ("stale", None)
    assert None not in shown["train_step"]


@pytest.mark.parametrize("phase", ["hung", "evaluating", "saving"])
def test_a_run_that_pauses_keeps_its_levels_and_makes_no_step(family_of: FamilyOf, phase: str) -> None:
    act = Act(phase=phase, seconds=300)  # type: ignore[arg-type]
    shown = values(play(family_of("phase"), HEALTHY, act, roles=("loss", "step")))
    assert set(shown["train_loss"]) == {2.0}
    assert len(set(shown["train_step"][9:])) == 1


@pytest.mark.parametrize(("phase", "value"), [("training", 1), ("evaluating", 4), ("saving", 3), ("hung", 1)])
def test_the_phase_is_the_exporters_own_number(family_of: FamilyOf, phase: str, value: float) -> None:
    act = Act(phase=phase, seconds=120)  # type: ignore[arg-type]
    assert values(play(family_of("phase"), act, roles=("phase",)))["train_phase"] == (value, value)


def test_before_the_first_step_most_exporters_show_nothing(family_of: FamilyOf) -> None:
    act = Act(phase="initialising", seconds=120)
    shown = values(play(family_of("phase"), act, HEALTHY, roles=("loss",)))
    assert shown["train_loss"][:3] == (None, None, 2.0)


def test_before_the_first_step_a_gauge_that_was_never_set_reads_zero(family_of: FamilyOf) -> None:
    act = Act(phase="initialising", seconds=120)
    shown = values(play(family_of("run-info"), act, roles=("last_step",)))
    assert shown["trainer_last_step_timestamp_seconds"] == (0.0, 0.0)


# ends ---------------------------------------------------------------------------------------------------------------


def test_a_scraped_series_is_marked_stale_when_its_run_is_gone(family_of: FamilyOf) -> None:
    shown = values(play(family_of("phase"), HEALTHY, Act(phase="gone", seconds=180), roles=("loss",)))
    assert shown["train_loss"][-3:] == ("stale", None, None)


def test_a_pushed_series_just_stops(family_of: FamilyOf) -> None:
    shown = values(play(family_of("scheduler"), HEALTHY, Act(phase="gone", seconds=180), roles=("loss",)))
    assert shown["megatron_training_loss"][-3:] == (None, None, None)


def test_a_finish_is_scraped_once_more(family_of: FamilyOf) -> None:
    act = Act(phase="finished", seconds=180)
    assert values(play(family_of("phase"), HEALTHY, act, roles=("phase",)))["train_phase"][-3:] == (2.0, "stale", None)


def test_a_finish_before_the_next_scrape_is_not_seen(family_of: FamilyOf) -> None:
    act = Act(phase="finished", seconds=180, finish_seen=False)
    shown = values(play(family_of("phase"), HEALTHY, act, roles=("phase",)))
    assert shown["train_phase"][-3:] == ("stale", None, None)


def test_a_finish_by_its_step_shows_the_last_step(family_of: FamilyOf) -> None:
    act = Act(phase="finished", seconds=60)
    assert values(play(family_of("run-info"), HEALTHY, act, roles=("step",)))["trainer_step"][-1] == 2000.0


def test_a_scheduler_forgets_an_ended_job_after_five_minutes(family_of: FamilyOf) -> None:
    act = Act(phase="finished", seconds=600)
    series = play(family_of("phase"), HEALTHY, act, roles=("job_finished",))
    assert values(series)["kube_job_complete"] == ((None,) * 10 + (1.0,) * 5 + ("stale",) + (None,) * 4)


@pytest.mark.parametrize(("phase", "runs"), [("hung", True), ("gone", False), ("queued", False), ("finished", False)])
def test_a_scheduler_shows_a_job_only_while_it_runs(family_of: FamilyOf, phase: str, runs: bool) -> None:
    act = Act(phase=phase, seconds=60)  # type: ignore[arg-type]
    shown = values(play(family_of("scheduler"), HEALTHY, act, roles=("job_running",)))["slurm_job_info"]
    assert (shown[-1] == 1.0) == runs


def test_after_a_restart_the_attempt_counts_from_zero_and_the_run_goes_on(family_of: FamilyOf) -> None:
    acts = (HEALTHY, Act(phase="gone", seconds=60), HEALTHY)
    shown = values(play(family_of("phase"), *acts, roles=("step", "steps_done")))
    assert shown["train_step"][11] > shown["train_step"][9]  # type: ignore[operator]
    assert shown["train_step_duration_seconds_count"][11] == shown["train_step_duration_seconds_count"][0]


def test_a_series_that_never_had_a_sample_is_left_out(family_of: FamilyOf) -> None:
    assert play(family_of("phase"), Act(phase="queued", seconds=300), roles=("loss", "phase")) == []


# devices ------------------------------------------------------------------------------------------------------------


def test_a_device_shows_each_value_for_its_time(cluster: ClusterReader) -> None:
    device = Device(role="gpu_xid", labels={"node": "n1", "gpu": "3"}, values=((120, 0.0), (180, 79.0), (60, None)))
    [series] = device_series(cluster, device, EVERY)
    assert expand(series.values) == (0.0, 0.0, 79.0, 79.0, 79.0, None)


def test_a_device_carries_the_exporters_labels(cluster: ClusterReader) -> None:
    device = Device(role="gpu_xid", labels={"node": "n1", "gpu": "3"}, values=((60, 0.0),))
    [series] = device_series(cluster, device, EVERY)
    assert series.selector.startswith("DCGM_FI_DEV_XID_ERROR{")
    assert 'cluster="alpha"' in series.selector
    assert 'gpu="3"' in series.selector


def test_a_placement_brings_the_info_series_that_knows_the_run(cluster: ClusterReader) -> None:
    device = Device(role="placement", labels={"node": "n1", "run_id": "run-1"}, values=((60, 1.0),))
    first, info = device_series(cluster, device, EVERY)
    assert "run-1" in info.selector
    assert first.selector.split("{")[0] != info.selector.split("{")[0]


# curves -------------------------------------------------------------------------------------------------------------

POINTS = {"100": 4.0, "1000": 3.0, "10000": 2.0}


@pytest.mark.parametrize(
    ("x", "interpolate", "expected"),
    [
        (100, "log", 4.0),
        (1000, "log", 3.0),
        (316.22776601683796, "log", 3.5),
        (550, "linear", 3.5),
        (1, "log", 4.0),
        (1e9, "linear", 2.0),
    ],
)
def test_a_curve_is_read_between_its_points_and_is_flat_outside(x: float, interpolate: str, expected: float) -> None:
    curve = Curve(x="samples", interpolate=interpolate, points=POINTS)  # type: ignore[arg-type]
    assert curve_at(curve, x) == pytest.approx(expected)
