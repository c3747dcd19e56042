"""The import contracts of pyproject.toml hold, and each of them would be noticed if it broke."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONFIGURATION = ROOT / "pyproject.toml"
CONTRACTS = [c["name"] for c in tomllib.loads(CONFIGURATION.read_text())["tool"]["importlinter"]["contracts"]]
FORBIDDEN = {
    "Stages only look down": ("units.py", "import longwatch.compiler"),
    "The back end never sees the policy language": ("wire/prometheus.py", "import longwatch.policy.model"),
    "The front end never sees a target": ("lower/fleet.py", "import longwatch.wire.prometheus"),
    "The policy language does not know the IR": ("policy/model.py", "import longwatch.ir.model"),
    "Catalogue replays never read the policy (their amplitudes are absolute)": (
        "catalogue/replays.py",
        "import longwatch.policy.model",
    ),
    "Plug-ins and reports read resolved values, never raw YAML": (
        "checks/unknown_owner.py",
        "import longwatch.load.yaml_source",
    ),
    "Compiling starts no process and writes nothing": ("compiler.py", "import longwatch.writer"),
    "Plug-ins do not know each other": ("detectors/stalled.py", "import longwatch.detectors.vanished"),
    "Each third-party library has one door": ("emitters/prometheus.py", "import yaml"),
}
"""Contract → (module, import) that breaks it."""


def lint(source_root: Path, cache: Path) -> str:
    command = str(Path(sys.executable).with_name("lint-imports"))
    done = subprocess.run(
        [command, "--cache-dir", str(cache)],  # reads the configuration of the working directory
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(source_root)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    return re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the linter says about a copy in which every contract is broken once."""
    folder = tmp_path_factory.mktemp("planted")
    shutil.copytree(
        ROOT / "generator" / "longwatch",
        folder / "longwatch",
        ignore=shutil.ignore_patterns("__pycache__", "templates"),
    )
    for module, line in FORBIDDEN.values():
        path = folder / "longwatch" / module
        path.write_text(f"{path.read_text()}\n\n{line}\n")
    return lint(folder, folder / "cache")


def test_all_import_contracts_are_kept(tmp_path: Path) -> None:
    said = lint(ROOT / "generator", tmp_path)
    assert f"{len(CONTRACTS)} kept, 0 broken" in said, said


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_broken_contract_is_noticed(planted: str, contract: str) -> None:
    assert f"{contract} BROKEN" in planted, planted


def test_a_room_that_the_list_does_not_name_is_noticed(tmp_path: Path) -> None:
    package = tmp_path / "longwatch"
    shutil.copytree(
        ROOT / "generator" / "longwatch", package, ignore=shutil.ignore_patterns("__pycache__", "templates")
    )
    (package / "attic.py").write_text('"""Odds and ends."""\n')
    said = lint(tmp_path, tmp_path / "cache")
    assert "attic" in said, said
