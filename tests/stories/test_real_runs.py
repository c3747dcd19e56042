"""Real runs, as their public logs tell them, under the rules of a policy.

Rows stand at their own time, else at the cumulative time of their steps, and a published gauge is held while its target
is up. The quiet runs go under a policy of a matching shape, whose baseline is fitted from the run itself
(policies/families/). That proves quietness only, so each of them also carries a planted failure, which must be told.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from compiling import compiled, policy_files, rules_of
from playback import HOUR, MINUTE, Fires, Firings, Player, unlike
from recorded import Canonical, Row, column, held, rows

from longwatch.compiler import Compiled
from longwatch.notation import Sample

PHASES = {"initialising": 0.0, "training": 1.0, "finished": 2.0, "evaluating": 4.0}
START = 5 * MINUTE
"""Filled in: every run initialises for five minutes before its first row."""


@pytest.fixture(scope="module")
def replayed() -> Compiled:
    return compiled(policy_files(Path(__file__).parent / "policies"))


def canonical(
    job: str, run: str, model: str, given: Sequence[Row], every: float, phases: Sequence[tuple[float, str]], gone: float
) -> Canonical:
    """The canonical series of rows that have `at`, `step` and `loss`; `phases` are (from, phase), the first from 0 on."""
    one = Canonical(job, run, model, every, gone)
    one.put("train_phase", held([at for at, _ in phases], [PHASES[name] for _, name in phases], every, gone))
    published = [{**row, "last_step": row["at"], "samples": row["step"] + 1} for row in given if "loss" in row]
    one.show("train_last_step_timestamp_seconds", published, "last_step")
    one.show("train_step", published, "step")
    one.show("train_samples_total", published, "samples")
    one.show("train_loss", published, "loss")
    if "grad_norm" in published[0]:
        one.show("train_grad_norm", published, "grad_norm")
    if "busy" in published[0]:
        one.show("train_step_duration_seconds_count", published, "count")
        one.show("train_step_duration_seconds_sum", published, "busy")
    one.goes(gone)
    return one


def timed(given: Sequence[Row], seconds: Sequence[float]) -> list[Row]:
    """The rows with the time at which they stand, and with the histogram of step times, from each row's own seconds."""
    made: list[Row] = []
    busy = 0.0
    for row, own in zip(given, seconds, strict=True):
        busy += own
        count = row["step"] - given[0]["step"] + 1
        made.append({**row, "at": START + busy, "busy": round(busy, 3), "count": count})
    return made


def differences(values: Sequence[float], first: float) -> list[float]:
    return [first, *(after - before for before, after in pairwise(values))]


def healthy_to_the_end(last: float, every: float) -> tuple[list[tuple[float, str]], float]:
    """Filled in: the phases of a run that only trains, and its end, which two scrapes at least can see."""
    return [(0, "initialising"), (START, "training"), (last + 15, "finished")], last + 15 + 3 * every


# BERT -----------------------------------------------------------------------------------------------------------------
# A row for every 250 steps, 97 to 320 s apart, of 145 hours; eleven isolated outliers of the loss. Played in four parts,
# each with three hours of the part before it, so that every row is judged by windows that are full. Filled in: the
# phase (the log only trains).

BERT_PARTS = 4


def bert(part: int) -> list[Row]:
    every_row = rows("gluon_bert_base_pretrain")
    size = math.ceil(len(every_row) / BERT_PARTS)
    begin = every_row[part * size]["time_s"] - 3 * HOUR
    chosen = [row for row in every_row[: (part + 1) * size] if row["time_s"] >= begin]
    return timed(chosen, differences([row["time_s"] for row in chosen], 130))


def play_bert(player: Player, replayed: Compiled, given: Sequence[Row]) -> Firings:
    phases, gone = healthy_to_the_end(given[-1]["at"], 60)
    run = canonical("bert", "bert-base", "base", given, 60, phases, gone)
    return player.firings(rules_of(replayed, "bert"), run.series, every=60, until=gone + 30 * MINUTE)


@pytest.mark.parametrize("part", range(BERT_PARTS))
def test_145_hours_of_bert_are_quiet_outliers_and_all(part: int, player: Player, replayed: Compiled) -> None:
    assert play_bert(player, replayed, bert(part)) == {}


def test_a_loss_of_three_times_its_value_for_two_publications_of_bert_is_a_spike(
    player: Player, replayed: Compiled
) -> None:
    given = [row for row in bert(1) if row["at"] < 6 * HOUR]
    planted = next(index for index, row in enumerate(given) if row["at"] > 5 * HOUR)
    for row in given[planted : planted + 2]:
        row["loss"] *= 3
    when, back = given[planted]["at"], given[planted + 2]["at"]
    expected = [Fires("LossSpike", "bert-base", begins=(when, back), ends=(back, back + 20 * MINUTE))]
    assert unlike(play_bert(player, replayed, given), expected) == []


# Criteo, healthy ------------------------------------------------------------------------------------------------------
# 500 steps of 0.2 s between two publications, and evaluations of up to 1,034 s among them: a publication comes every
# 4,100 s. Filled in: the phase. A row with a validation loss ends an evaluation, which began when the steps since the
# row before it were done, 0.2 s each.

CRITEO_STEP = 0.2


def criteo_phases(given: Sequence[Row]) -> list[tuple[float, str]]:
    phases = [(0.0, "initialising"), (given[0]["at"], "training")]
    for before, row in pairwise(given):
        if "val_loss" in row:
            trained = (row["step"] - before["step"]) * CRITEO_STEP
            phases += [(before["at"] + trained, "evaluating"), (row["at"], "training")]
    return phases


def criteo(name: str) -> list[Row]:
    return [{**row, "at": row["time_s"] + START} for row in rows(name)]


def silent_for_three_hours(given: Sequence[Row]) -> list[Row]:
    """The 4,500th step is published, the evaluation after it takes three hours more, and then all goes on."""
    return [{**row, "at": row["at"] + (3 * HOUR if row["step"] > 4500 else 0)} for row in given]


@pytest.fixture
def criteo_told(player: Player, replayed: Compiled) -> Firings:
    runs: dict[str, list[Sample]] = {}
    for name, given in (("ok", criteo("ap_criteo_ok")), ("silent", silent_for_three_hours(criteo("ap_criteo_ok")))):
        end = given[-1]["at"]
        phases, gone = [*criteo_phases(given), (end + 15, "finished")], end + 5 * MINUTE
        runs |= canonical("criteo", f"criteo-{name}", "dlrm", given, 60, phases, gone).series
    return player.firings(rules_of(replayed, "criteo"), runs, every=60, until=gone + 30 * MINUTE)


def test_evaluations_of_1000_seconds_inside_the_log_interval_are_quiet(criteo_told: Firings) -> None:
    assert {alert for alert, run in criteo_told if run == "criteo-ok"} == set()


def test_three_hours_of_silence_inside_the_log_interval_are_a_stall(criteo_told: Firings) -> None:
    given = silent_for_three_hours(criteo("ap_criteo_ok"))
    stops = next(row["at"] for row in given if row["step"] == 4500)
    back = next(row["at"] for row in given if row["step"] == 5000)
    told = {key: value for key, value in criteo_told.items() if key[1] != "criteo-ok"}
    # told within the three hours, to the next publication at the latest
    stalled = Fires(
        "TrainingStalled",
        "criteo-silent",
        (stops + 30 * MINUTE, stops + 3 * HOUR),
        (stops + 3 * HOUR, back + 2 * MINUTE),
    )
    assert unlike(told, [stalled]) == []


# Criteo, diverging ----------------------------------------------------------------------------------------------------
# NaN from step 63 on; 43 seconds later the process raises an error and exits. Filled in: the phase, as above.

SHIFTS = {"criteo-a": 0, "criteo-b": 15, "criteo-c": 30, "criteo-d": 45}
"""The same run four times, so that the evaluations of the rules fall differently."""


def diverging(run: str) -> list[Row]:
    return [{**row, "at": row["at"] + SHIFTS[run]} for row in criteo("ap_criteo_nan")]


@pytest.mark.parametrize("run", SHIFTS)
def test_a_nan_in_the_last_seconds_of_a_process_is_told_and_held(run: str, player: Player, replayed: Compiled) -> None:
    series: dict[str, list[Sample]] = {}
    for one in SHIFTS:
        given = diverging(one)
        series |= canonical("criteo", one, "dlrm", given, 15, criteo_phases(given), given[-1]["at"]).series
    told = player.firings(rules_of(replayed, "criteo"), series, every=15, until=4 * HOUR)
    nan = next(row["at"] for row in diverging(run) if math.isnan(row.get("loss", 0)))
    gone = diverging(run)[-1]["at"]
    expected = [
        Fires("LossNotFinite", run, (nan, nan + 2 * MINUTE), (nan + 30 * MINUTE, nan + 150 * MINUTE)),
        Fires("GradNormNotFinite", run, (nan, nan + 2 * MINUTE), (nan + 30 * MINUTE, nan + 150 * MINUTE)),
        Fires("RunVanished", run, (gone + 5 * MINUTE, gone + 8 * MINUTE)),
        Fires("RunNotRecovered", run, (gone + 20 * MINUTE - 15, gone + 22 * MINUTE)),
    ]
    assert unlike({key: value for key, value in told.items() if key[1] == run}, expected) == []


# BLOOM ----------------------------------------------------------------------------------------------------------------
# Under the real policy. Filled in: a healthy history with the values quoted for step 31214; the unquoted steps with the
# healthy values quoted beside them, gaps of more than 90 steps shortened to 90; throughput where blank: 15,680 / step
# time, the factor of the rows that have both; after 42784 the row of 45000, since the diary says that it stayed; three
# hours of evaluation after 45000, as the diary tells.

GAP = 90


def bloom() -> list[Row]:
    quoted = {row["step"]: {"tflops": 15_680 / row["step_time_s"], **row} for row in rows("bs_tr11_176b_excerpt")}
    slow = {**quoted[42784], "tflops": quoted[45000]["tflops"]}
    made = [quoted[12695]]
    for values, steps in (
        (quoted[31214], range(31214 - GAP, 31214)),
        (quoted[31250], range(31223, 31250)),
        (quoted[42780], range(42780 - GAP, 42780)),
        (slow, range(45000 - GAP, 45000)),
    ):
        filled = [{**values, "step": float(step)} for step in steps]
        following = [row for step, row in quoted.items() if steps[-1] < step < steps[-1] + 20]
        made += [*filled, *following]
    return [{**row, "at": 105.0 * (index + 3), "count": float(index + 1)} for index, row in enumerate(made)]


def play_bloom(player: Player, rules: dict[str, str], given: Sequence[Row], every: float, evaluate: float) -> Firings:
    until = given[-1]["at"] + 3 * HOUR
    label = (
        'service_name="llm-pretraining", cluster="jean-zay", nemo_run_id="llm-176b-bloom", '
        'model_size="176b", sequence="2048"'
    )
    names = {
        "megatron_training_loss": "loss",
        "megatron_training_grad_norm": "grad_norm",
        "megatron_training_throughput_tflops": "tflops",
        "megatron_training_step_duration_ms_milliseconds_count": "count",
    }
    series: dict[str, list[Sample]] = {
        f"{name}{{{label}}}": column(given, of, every, until) for name, of in names.items()
    }
    job = 'slurm_job_info{cluster="jean-zay", job_id="1", job_name="llm-176b-bloom", job_state="RUNNING"}'
    series[job] = [1.0] * (math.floor(until / every) + 1)
    return player.firings(rules["llm-pretraining"], series, every=every, until=until, evaluate=evaluate)


@pytest.mark.parametrize("every, evaluate", [(105, 105), (15, 60)], ids=["one-scrape-a-step", "seven-scrapes-a-step"])
def test_bloom_is_told_its_spike_its_slow_node_and_its_hang_and_nothing_else(
    every: float, evaluate: float, player: Player, rules: dict[str, str]
) -> None:
    given = bloom()
    at = {row["step"]: row["at"] for row in given}
    run, hung = "llm-176b-bloom", at[45000]
    expected = [
        # before the loss peaks at 31219; it does not outlive the quoted rows by more than two steps
        Fires("GradNormExploding", run, (at[31216], at[31217] + 60), (at[31222], at[31224])),
        Fires("LossSpike", run, (at[31219], at[31221] + 60), (at[31222], at[31222] + 20 * MINUTE)),
        Fires("ThroughputDegraded", run, (at[42782], at[42782] + 15 * 105)),
        Fires("TrainingStalled", run, (hung + 40 * MINUTE, hung + 55 * MINUTE)),
    ]
    assert unlike(play_bloom(player, rules, given, every, evaluate), expected) == []


def test_the_throughput_that_bloom_leaves_blank_follows_from_its_step_time() -> None:
    """The factor of the rows that have both, to half a percent."""
    both = [row for row in rows("bs_tr11_176b_excerpt") if "tflops" in row]
    assert all(row["tflops"] * row["step_time_s"] == pytest.approx(15_680, rel=0.005) for row in both)


# NanoGPT with SOAP ----------------------------------------------------------------------------------------------------
# Every tenth step takes five times as long, by design. Filled in: the phase.


def nanogpt(slower_from: float = math.inf) -> list[Row]:
    given = [row for row in rows("nanogpt_soap") if "step_time_s" in row]
    return timed(given, [row["step_time_s"] / (0.6 if row["step"] >= slower_from else 1) for row in given])


def play_nanogpt(player: Player, replayed: Compiled, given: Sequence[Row]) -> Firings:
    phases, gone = healthy_to_the_end(given[-1]["at"], 15)
    run = canonical("nanogpt", "nanogpt-soap", "124m", given, 15, phases, gone)
    return player.firings(rules_of(replayed, "nanogpt"), run.series, every=15, until=gone + 30 * MINUTE)


def test_periodic_slow_steps_are_quiet(player: Player, replayed: Compiled) -> None:
    assert play_nanogpt(player, replayed, nanogpt()) == {}


def test_forty_percent_less_throughput_among_periodic_slow_steps_is_told(player: Player, replayed: Compiled) -> None:
    given = nanogpt(slower_from=2000)
    when, end = next(row["at"] for row in given if row["step"] == 2000), given[-1]["at"]
    expected = [
        Fires("ThroughputDegraded", "nanogpt-soap", (when + 5 * MINUTE, when + 25 * MINUTE), (end, end + 4 * MINUTE)),
        Fires("ThroughputCollapsed", "nanogpt-soap", (when + 5 * MINUTE, when + 25 * MINUTE), (end, end + 4 * MINUTE)),
    ]
    assert unlike(play_nanogpt(player, replayed, given), expected) == []


# SlowFast -------------------------------------------------------------------------------------------------------------
# Throughput falls from 44.5 to 20–28 samples/s at step 38,775 and is back at 69,075; a few epochs between are normal.
# Left out: steps 41,400 to 66,000, which are slow like their neighbours. Filled in: the phase, and the size of a step,
# 397 samples: 240,436 clips of Kinetics-400 in 605 steps an epoch.


def test_a_long_real_loss_of_throughput_is_told_while_it_lasts(player: Player, replayed: Compiled) -> None:
    given = rows("gluon_slowfast_slowdown")
    given = timed(given, [50 * 397 / row["samples_per_s"] for row in given])
    for index, row in enumerate(given):
        row["count"] = 50.0 * (index + 1)
    phases, gone = healthy_to_the_end(given[-1]["at"], 120)
    run = canonical("slowfast", "slowfast-8x8", "r50", given, 120, phases, gone)
    told = player.firings(rules_of(replayed, "slowfast"), run.series, every=120, until=gone + 30 * MINUTE, evaluate=120)
    at = {row["step"]: row["at"] for row in given}
    slow, normal = min(t for s, t in at.items() if s > 38_775), min(t for s, t in at.items() if s > 69_100)
    assert {alert for alert, _ in told} == {"ThroughputDegraded", "ThroughputCollapsed"}
    degraded = told["ThroughputDegraded", "slowfast-8x8"]
    assert slow < degraded[0][0] < slow + 3 * HOUR
    assert normal < degraded[-1][1] < normal + 3 * HOUR
    assert sum(end - begin for begin, end in degraded) > 0.8 * (normal - slow)
