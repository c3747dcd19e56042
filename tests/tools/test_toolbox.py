"""Finding the tools. Small scripts stand in for old, hanging and crashing releases; the rest is real."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from longwatch.diagnostics import Diagnostic, Trouble
from longwatch.tools.process import Command, run
from longwatch.tools.toolbox import KINDS, Toolbox, broken, require, survey

NOTHING = Path("/nowhere")


def fake(folder: Path, name: str, script: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def says(name: str, version: str) -> str:
    return f'echo "{name}, version {version} (branch: debian/sid, revision: 1)"'


def problem(name: str, environment: dict[str, str], tools_dir: Path = NOTHING, patience: float = 20.0) -> Diagnostic:
    with pytest.raises(Trouble) as caught:
        require([name], environment=environment, tools_dir=tools_dir, patience=patience)
    (diagnostic,) = caught.value.diagnostics
    return diagnostic


def test_the_real_tools_are_found_and_new_enough(tools: Toolbox) -> None:
    assert set(tools.tools) == set(KINDS)
    for name, tool in tools.tools.items():
        assert tool.version >= KINDS[name].oldest
        assert Path(tool.path).exists()


def test_a_distribution_suffix_is_not_part_of_the_version(tmp_path: Path) -> None:
    fake(tmp_path, "promtool", says("promtool", "2.53.3+ds1"))

    tool = require(["promtool"], environment={"PATH": str(tmp_path)}, tools_dir=NOTHING)["promtool"]

    assert (tool.version, tool.release) == ((2, 53, 3), "2.53.3")


def test_the_variable_wins_over_path_and_path_over_the_tools_folder(tmp_path: Path) -> None:
    named = fake(tmp_path / "named", "my-promtool", says("promtool", "3.0.0"))
    fake(tmp_path / "path", "promtool", says("promtool", "2.50.0"))
    fake(tmp_path / "tools/bin", "promtool", says("promtool", "2.49.0"))
    path = {"PATH": str(tmp_path / "path")}

    def version(environment: dict[str, str]) -> str:
        return require(["promtool"], environment=environment, tools_dir=tmp_path / "tools")["promtool"].release

    assert version({**path, "PROMTOOL": str(named)}) == "3.0.0"
    assert version(path) == "2.50.0"
    assert version({"PATH": ""}) == "2.49.0"
    assert version({}) == "2.49.0"


def test_an_old_one_on_path_gives_way_to_a_newer_one_in_the_tools_folder(tmp_path: Path) -> None:
    fake(tmp_path / "path", "promtool", says("promtool", "2.31.2+ds1"))
    fake(tmp_path / "tools/bin", "promtool", says("promtool", "2.45.0"))

    box = require(["promtool"], environment={"PATH": str(tmp_path / "path")}, tools_dir=tmp_path / "tools")

    assert box["promtool"].release == "2.45.0"


def test_debians_name_for_alertmanager_is_known(tmp_path: Path) -> None:
    path = fake(tmp_path, "prometheus-alertmanager", says("alertmanager", "0.25.0"))

    box = require(["alertmanager"], environment={"PATH": str(tmp_path)}, tools_dir=NOTHING)

    assert box["alertmanager"].path == str(path)


@pytest.mark.parametrize(
    ("name", "version", "oldest"),
    [
        ("promtool", "2.31.2+ds1", "2.42"),
        ("prometheus", "2.41.0", "2.42"),
        ("amtool", "0.24.0", "0.25"),
        ("alertmanager", "0.23.0", "0.25"),
    ],
)
def test_an_old_release_is_refused_with_the_version_that_is_needed(
    name: str, version: str, oldest: str, tmp_path: Path
) -> None:
    fake(tmp_path, name, says(name, version))

    found = problem(name, {"PATH": str(tmp_path)})

    assert found.code == "tool-too-old"
    assert version.partition("+")[0] in found.message
    assert f"{oldest} or newer" in found.message
    assert KINDS[name].variable in found.help


@pytest.mark.parametrize("name", list(KINDS))
def test_an_absent_tool_says_how_to_get_it(name: str, tmp_path: Path) -> None:
    found = problem(name, {"PATH": str(tmp_path)})
    assert found.code == "tool-missing"
    assert "prometheus.io/download" in found.help
    assert "apt-get" not in found.help
    assert KINDS[name].variable in found.help

    fake(tmp_path, "apt-get", "")
    assert f"apt-get install {KINDS[name].package}" in problem(name, {"PATH": str(tmp_path)}).help


def test_a_variable_that_names_no_program_is_not_passed_over_in_silence(tmp_path: Path) -> None:
    fake(tmp_path, "promtool", says("promtool", "3.0.0"))

    found = problem("promtool", {"PATH": str(tmp_path), "PROMTOOL": "/nowhere/promtool"})

    assert found.code == "tool-missing"
    assert "PROMTOOL is set to /nowhere/promtool" in found.message


def test_another_program_is_not_taken_for_the_tool(tmp_path: Path) -> None:
    path = fake(tmp_path, "other", says("amtool", "0.28.0"))

    assert "does not say that it is promtool" in problem("promtool", {"PROMTOOL": str(path)}).message


def test_a_hanging_tool_is_a_timeout(tmp_path: Path) -> None:
    fake(tmp_path, "promtool", "exec /bin/sleep 30")

    found = problem("promtool", {"PATH": str(tmp_path)}, patience=0.3)

    assert found.code == "tool-timeout"
    assert "0.3 s" in found.message


@pytest.mark.parametrize(
    "script", ["kill -SEGV $$", "echo panic: nil map >&2; echo >&2; echo 'goroutine 1 [running]:' >&2; exit 2"]
)
def test_a_crashing_tool_is_a_crash(script: str, tmp_path: Path) -> None:
    fake(tmp_path, "promtool", script)

    assert problem("promtool", {"PATH": str(tmp_path)}).code == "tool-crashed"


def test_a_program_for_another_machine_says_so(tmp_path: Path) -> None:
    path = tmp_path / "promtool"
    path.write_bytes(b"\x7fELF not for here")
    path.chmod(0o755)

    assert "could not be started" in problem("promtool", {"PROMTOOL": str(path)}).message


def test_all_problems_are_told_in_one_go() -> None:
    with pytest.raises(Trouble) as caught:
        require(["promtool", "amtool"], environment={}, tools_dir=NOTHING)

    assert [d.code for d in caught.value.diagnostics] == ["tool-missing", "tool-missing"]


def test_doctor_sees_every_tool_found_or_not(tmp_path: Path) -> None:
    path = fake(tmp_path, "promtool", says("promtool", "2.42.0+ds"))
    fake(tmp_path, "amtool", says("amtool", "0.20.0"))

    promtool, prometheus, amtool, alertmanager = survey(environment={"PATH": str(tmp_path)}, tools_dir=NOTHING)

    assert (promtool.name, promtool.path, promtool.version, promtool.ok) == ("promtool", str(path), "2.42.0", True)
    assert (prometheus.path, prometheus.ok) == ("", False)
    assert (amtool.version, amtool.ok) == ("0.20.0", False)
    assert alertmanager.problem is not None and alertmanager.problem.help


def test_an_answer_that_is_a_failure_is_not_a_breakdown(tools: Toolbox) -> None:
    tool = tools["promtool"]
    answer = run(Command(argv=(tool.path, "check", "rules", "/nowhere.yml"), environment=os.environ))

    assert not answer.ok
    assert broken(tool, answer) is None
