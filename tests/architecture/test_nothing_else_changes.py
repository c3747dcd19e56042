"""The measure of the design: a new detector, exporter profile, check, fleet check or emitter edits no existing file.

One new module of each kind (dropped/longwatch/) is copied into a copy of the package, beside a policy that uses them
(dropped/policies/). Nothing else is touched, and everything else comes from the repository.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from longwatch.tools.toolbox import Toolbox

ROOT = Path(__file__).parents[2]
DROPPED = Path(__file__).parent / "dropped"
NEW_MODULES = sorted(path.relative_to(DROPPED).as_posix() for path in (DROPPED / "longwatch").rglob("*.py"))


class World(NamedTuple):
    """A copy of the package with the new modules in place, and what came of it."""

    folder: Path
    before: dict[str, str]
    after: dict[str, str]
    check: dict[str, Any]
    build: dict[str, Any]

    def out(self, path: str) -> str:
        return (self.folder / "out" / path).read_text()

    def codes(self, answer: dict[str, Any]) -> set[str]:
        return {diagnostic["code"] for diagnostic in answer["diagnostics"]}


def digests(package: Path) -> dict[str, str]:
    return {
        path.relative_to(package.parent).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(package.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def longwatch(folder: Path, *arguments: str) -> dict[str, Any]:
    """Runs the copy's own command; its findings, as JSON."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "longwatch", *arguments, "--format", "json"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode in (0, 1), done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    folder = tmp_path_factory.mktemp("dropped")
    package = folder / "longwatch"
    shutil.copytree(ROOT / "generator" / "longwatch", package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(DROPPED / "policies", folder / "policies")
    shutil.copy(ROOT / "policies" / "organisation.yaml", folder / "policies")
    before = digests(package)
    shutil.copytree(DROPPED / "longwatch", package, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    check, build = longwatch(folder, "check"), longwatch(folder, "build")
    return World(folder=folder, before=before, after=digests(package), check=check, build=build)


def test_the_new_modules_are_new(world: World) -> None:
    assert not set(NEW_MODULES) & set(world.before)


def test_no_existing_file_of_the_package_had_to_change(world: World) -> None:
    assert {path: digest for path, digest in world.after.items() if path not in NEW_MODULES} == world.before


def test_the_new_modules_are_all_that_was_added(world: World) -> None:
    assert sorted(set(world.after) - set(world.before)) == NEW_MODULES


def test_the_policy_that_uses_them_has_no_error(world: World) -> None:
    assert [d for d in world.build["diagnostics"] if d["severity"] == "error"] == []


def test_the_new_detector_compiles_to_a_rule(world: World) -> None:
    rules = world.out("prometheus/families/tiny.rules.yml")
    assert "alert: LearningRateGone" in rules
    assert "lw_run:learning_rate:max" in rules or "lw_run:learning_rate:avg" in rules
    assert "< 1e-07" in rules


def test_the_new_detectors_parameters_are_validated(world: World) -> None:
    broken = world.folder / "broken"
    shutil.copytree(world.folder / "policies", broken)
    tiny = broken / "families" / "tiny.yaml"
    tiny.write_text(tiny.read_text().replace("floor: 1.0e-7", "flor: 1.0e-7"))
    found = longwatch(world.folder, "check", "--policies", "broken")["diagnostics"]
    assert {d["code"] for d in found if d["severity"] == "error"} <= {"unknown-key", "missing-key"}
    assert any("flor" in d["message"] and "floor" in d["help"] for d in found)


def test_the_new_detectors_proofs_become_tests(world: World) -> None:
    assert "learning-rate-gone.falls-to-zero" in world.out("prometheus/families/tiny.test.yml")


def test_promtool_passes_the_new_detectors_proofs(world: World, tools: Toolbox) -> None:
    tests = world.folder / "out" / "prometheus" / "families" / "tiny.test.yml"
    command = [tools["promtool"].path, "test", "rules", str(tests)]
    done = subprocess.run(command, env=dict(tools.environment), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_new_detectors_alert_has_a_panel(world: World) -> None:
    assert "Learning rate and its floor" in world.out("grafana/families/tiny.json")


def test_the_new_exporters_metrics_are_read(world: World) -> None:
    assert "tiny_learning_rate" in world.out("prometheus/families/tiny.rules.yml")


def test_the_new_exporters_label_becomes_the_run(world: World) -> None:
    assert '"run_id", "$1", "experiment"' in world.out("prometheus/families/tiny.rules.yml")


def test_the_new_check_judges_the_policy_at_its_line(world: World) -> None:
    [found] = [d for d in world.check["diagnostics"] if d["code"] == "shouted-title"]
    assert (found["span"]["file"], found["span"]["line"]) == ("policies/families/tiny.yaml", 4)


def test_the_new_fleet_check_judges_the_fleet(world: World) -> None:
    assert "lonely-family" in world.codes(world.check)


def test_the_new_emitter_writes_one_file_for_the_family(world: World) -> None:
    assert "LearningRateGone\n" in world.out("roll-call/tiny.txt")


def test_the_new_emitter_writes_one_file_for_the_fleet(world: World) -> None:
    assert world.out("roll-call/fleet.txt") == "tiny\n"


def test_the_new_emitters_files_stand_in_the_manifest(world: World) -> None:
    paths = {entry["path"] for entry in json.loads(world.out("manifest.json"))["files"]}
    assert {"roll-call/tiny.txt", "roll-call/fleet.txt"} <= paths
