"""Policies that are valid but unlike the samples: other paces, odd names, no pauses. Their generated proofs hold as well."""

from __future__ import annotations

import pytest
from compiling import POLICIES, compiled

from longwatch.tools.process import cores
from longwatch.tools.toolbox import Toolbox
from longwatch.verify.judge import judge

FAMILY = """\
apiVersion: longwatch/v1
kind: ModelFamily
name: odd
title: TITLE
owner: ranking
exporters: [EXPORTERS]
runs: {select: {job: odd}}
lifecycle: {LIFECYCLE}
variants: [{name: base, PACE}]
alerts: {packs: [progress, loss, throughput]}
"""
CLUSTER = """\
apiVersion: longwatch/v1
kind: Cluster
name: bare
title: A cluster without a scheduler's exporter
owner: training-platform
exporters: [dcgm]
alerts: {packs: [gpu]}
"""
PHASES = "expected: phase, finished: [phase]"
STEPS = "expected: run-info, finished: [{step: {at_least: 1000000}}]"
MEAN = "baselines: {step_time: {value: VALUE}}"
ODD = {
    "a publication every 20 s": ("canonical", PHASES, "step_time: 1s, log_every: 20, " + MEAN.replace("VALUE", "1")),
    "a publication every 100 s": ("canonical", PHASES, "step_time: 10s, log_every: 10, " + MEAN.replace("VALUE", "10")),
    "a publication every 400 s": ("prime_rl", STEPS, "step_time: 400s, baselines: {mfu: {value: 0.4}}"),
}


def organisation(change: tuple[str, str] = ("", "")) -> tuple[str, bytes]:
    return "organisation.yaml", (POLICIES / "organisation.yaml").read_text().replace(*change).encode()


def failures(files: list[tuple[str, bytes]], tools: Toolbox) -> list[str]:
    made = compiled(files)
    verdict = judge([a for a in made.artifacts if a.target in ("prometheus", "promtool")], tools, jobs=cores())
    assert verdict.proved
    return [d.message for d in verdict.diagnostics]


@pytest.mark.parametrize("pace", ODD)
def test_every_proof_holds_at_another_pace_without_declared_pauses(pace: str, tools: Toolbox) -> None:
    exporters, lifecycle, variant = ODD[pace]
    text = FAMILY.replace("EXPORTERS", exporters).replace("LIFECYCLE", lifecycle).replace("PACE", variant)
    assert failures([organisation(), ("odd.yaml", text.encode())], tools) == []


def test_rules_may_be_evaluated_every_15_s_and_a_title_may_hold_braces(tools: Toolbox) -> None:
    exporters, lifecycle, variant = ODD["a publication every 20 s"]
    text = FAMILY.replace("EXPORTERS", exporters).replace("LIFECYCLE", lifecycle).replace("PACE", variant)
    files = [organisation(("rules: 1m", "rules: 15s")), ("odd.yaml", text.replace("TITLE", "'{{ odd'").encode())]
    rules = [a for a in compiled(files).artifacts if a.target == "prometheus"]
    assert judge(rules, tools, jobs=1).diagnostics == ()


def test_a_cluster_without_placement_still_proves_its_codes(tools: Toolbox) -> None:
    assert failures([organisation(), ("bare.yaml", CLUSTER.encode())], tools) == []


MILLISECONDS = """\
apiVersion: longwatch/v1
kind: Exporter
profile:
  name: in_milliseconds
  title: A trainer that tells its times in milliseconds
  metrics:
    last_step: [{name: own_last_step_ms, type: gauge, unit: ms, scale: 0.001, source: a trainer of a test}]
    loss: [{name: own_loss, type: gauge, source: a trainer of a test}]
    step: [{name: own_step, type: gauge, source: a trainer of a test}]
    step_time: [{name: own_step_ms, type: gauge, unit: ms, scale: 0.001, source: a trainer of a test}]
  survives_restart: [step]
"""


def test_times_in_milliseconds_are_watched_in_seconds(tools: Toolbox) -> None:
    variant = "step_time: 60s, " + MEAN.replace("VALUE", "60")
    text = FAMILY.replace("EXPORTERS", "in_milliseconds").replace("LIFECYCLE", STEPS).replace("PACE", variant)
    files = [organisation(), ("own.yaml", MILLISECONDS.encode()), ("odd.yaml", text.encode())]
    [rules] = [a.text for a in compiled(files).artifacts if a.target == "prometheus"]
    assert 'own_last_step_ms{job="odd", cluster!="", run_id!=""} * 0.001), time())' in rules
    assert failures(files, tools) == []


def test_two_exporters_of_one_role_each_keep_their_unit() -> None:
    variant = "step_time: 60s, baselines: {mfu: {value: 0.4}}"
    text = FAMILY.replace("EXPORTERS", "canonical, prime_rl").replace("LIFECYCLE", PHASES).replace("PACE", variant)
    [rules] = [
        a.text for a in compiled([organisation(), ("odd.yaml", text.encode())]).artifacts if a.target == "prometheus"
    ]
    labels = '{job="odd", cluster!="", run_id!=""}'
    assert f"avg by (cluster, run_id) (train_mfu_ratio{labels} or trainer_mfu_percent{labels} * 0.01)" in rules
