"""The sample of the policy language, completed, compiles and is proved by the real promtool."""

from __future__ import annotations

from pathlib import Path

import pytest

from longwatch.compiler import Compiled, compile_policies
from longwatch.diagnostics import Severity
from longwatch.load.source_tree import find_policies
from longwatch.tools.process import cores
from longwatch.verify.judge import judge

HERE = Path(__file__).parent / "policies"


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    files, problems = find_policies(str(HERE))
    assert problems == ()
    return compile_policies(files)


def test_it_compiles_without_an_error(compiled: Compiled) -> None:
    assert [d.message for d in compiled.diagnostics if d.severity is Severity.ERROR] == []
    assert compiled.artifacts


def test_what_megatron_cannot_show_is_listed_as_unprotected(compiled: Compiled) -> None:
    assert compiled.fleet is not None
    assert {item.alert for item in compiled.fleet.plans[0].unprotected} == {"LossDiverging", "CheckpointTooOld"}


def test_a_disabled_alert_says_when_it_arms_itself_again(compiled: Compiled) -> None:
    rules = next(a.text for a in compiled.artifacts if a.path.endswith("llm-pretraining.rules.yml"))
    assert "and on () (vector(time()) >= 1797724800)" in rules  # 2026-12-20T00:00:00Z


def test_promtool_proves_every_scenario(compiled: Compiled, tools) -> None:  # type: ignore[no-untyped-def]
    chosen = [a for a in compiled.artifacts if a.target in ("prometheus", "promtool")]
    verdict = judge(chosen, tools, jobs=cores())
    assert [(f.scenario, f.message) for f in verdict.failures] == []
    assert [d.message for d in verdict.diagnostics] == []
    assert {"policy.gradient-explosion-of-12-april", "policy.logits-grow"} <= {
        k for f in verdict.files for k in f.proved
    }
