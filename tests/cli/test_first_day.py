"""What a newcomer types: init, check, build, test, explain; with the real promtool and amtool."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from tests.cli.conftest import Longwatch, contents

from longwatch.tools.toolbox import Toolbox


@pytest.fixture
def equipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tools: Toolbox) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("promtool", "amtool"):
        monkeypatch.setenv(name.upper(), tools[name].path)
    return tmp_path


def test_a_scaffold_passes_everything(equipped: Path, longwatch: Longwatch, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = longwatch("init my-policies")
    assert ended.code == 0
    assert "cd my-policies" in ended.err
    monkeypatch.chdir(equipped / "my-policies")
    assert longwatch("check").code == 0
    assert longwatch("build").code == 0
    assert longwatch("build --check").code == 0
    tested = longwatch("test")
    assert tested.code == 0, tested.err
    for words in (
        "1 family",
        "1 cluster",
        "alerts",
        "0 failed",
        "2 dashboards",
        "What is unprotected",
        "Where to look next",
    ):
        assert words in tested.err
    for command in ("explain my-model", "explain my-model/TrainingStalled", "explain my-cluster"):
        assert longwatch(command).code == 0


def test_everything_begins_in_shadow(equipped: Path, longwatch: Longwatch) -> None:
    longwatch("init")
    for path in Path("policies").glob("*/*.yaml"):
        assert yaml.safe_load(path.read_text())["stage"] == "shadow"


def test_the_workflow_runs_the_three_verbs(equipped: Path, longwatch: Longwatch) -> None:
    longwatch("init")
    workflow = yaml.safe_load(Path(".github/workflows/longwatch.yml").read_text())
    steps = [step.get("run", "") for step in workflow["jobs"]["policies"]["steps"]]
    for verb in ("check", "build --check", "test"):
        assert f"longwatch {verb} --format github" in steps


def test_nothing_is_overwritten(equipped: Path, longwatch: Longwatch) -> None:
    Path("README.md").write_text("mine")
    assert "kept as it is  README.md" in longwatch("init").err
    assert Path("README.md").read_text() == "mine"
    Path("policies/organisation.yaml").write_text("mine")
    before = contents(Path("policies"))
    ended = longwatch("init")
    assert ended.code == 0
    assert "written" not in ended.err
    assert contents(Path("policies")) == before


def test_a_scenario_that_fails_is_told_at_its_line(equipped: Path, longwatch: Longwatch) -> None:
    longwatch("init")
    family = Path("policies/families/my-model.yaml")
    scenario = """
scenarios:
  - name: a loss that does nothing
    every: 60s
    healthy_before: 30m
    series: {loss: '2 2 2 2'}
    expect: [{alert: LossNotFinite, within: 3m}]
"""
    family.write_text(family.read_text() + scenario)
    ended = longwatch("test --family my-model --alert LossNotFinite")
    assert ended.code == 1
    assert "error[scenario-failed]" in ended.err
    assert "policies/families/my-model.yaml:36:5" in ended.err
    assert "LossNotFinite" in ended.err
    assert "TrainingStalled" not in ended.err
