"""Programs read stdout, people read stderr; colour and progress appear only on a terminal."""

from __future__ import annotations

import json
import os
import pty
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Longwatch

from longwatch.cli.terminal import Progress, Terminal


@pytest.fixture
def faulty(repository: Path) -> Path:
    family = repository / "policies/families/gpt.yaml"
    family.write_text(family.read_text().replace("owner: models", "owner: modles"))
    return repository


@pytest.mark.parametrize("line", ["check", "build", "build --check"])
def test_text_is_for_people(repository: Path, longwatch: Longwatch, line: str) -> None:
    ended = longwatch(line)
    assert ended.out == ""
    assert ended.err != ""


@pytest.mark.parametrize("line", ["check", "build", "test", "doctor"])
def test_json_is_one_document_on_stdout(faulty: Path, longwatch: Longwatch, line: str) -> None:
    ended = longwatch(f"{line} --format json")
    document = json.loads(ended.out)
    assert document["version"] == 1
    assert ended.err == ""
    if line != "doctor":
        [found] = [d for d in document["diagnostics"] if d["severity"] == "error"]
        assert (found["code"], found["span"]["line"], found["span"]["column"]) == ("unknown-owner", 5, 8)
        assert document["counts"]["errors"] == 1


@pytest.mark.parametrize("line", ["check", "build", "test"])
def test_github_gets_a_command_for_each_finding(faulty: Path, longwatch: Longwatch, line: str) -> None:
    ended = longwatch(f"{line} --format github")
    assert "::error file=policies/families/gpt.yaml,line=5,col=8,endColumn=14,title=unknown-owner::" in ended.out
    assert all(line.startswith("::") for line in ended.out.splitlines())


def test_the_document_of_a_build_has_figures_and_outcome(repository: Path, longwatch: Longwatch) -> None:
    document = json.loads(longwatch("build --format json").out)
    assert [(s["name"], s["kind"]) for s in document["subjects"]] == [("gpt", "family"), ("pod", "cluster")]
    gpt = document["subjects"][0]
    assert gpt["alerts"] >= 2
    assert gpt["pages_per_run_and_day"] == 6 * gpt["pages_per_run"]
    assert document["outcome"]["out"] == "out"
    assert "manifest.json" in document["outcome"]["changed"]


def test_what_was_asked_for_goes_to_stdout(repository: Path, longwatch: Longwatch) -> None:
    for line in ("schema", "explain gpt", "explain gpt/LossSpike", "--version", "check --help"):
        ended = longwatch(line)
        assert ended.out != ""
        assert ended.err == ""


@pytest.mark.parametrize(
    ("line", "environment", "coloured"),
    [
        ("check", {}, False),
        ("check --color", {}, True),
        ("check --color", {"NO_COLOR": "1"}, True),
        ("check --no-color", {}, False),
    ],
)
def test_colour_away_from_a_terminal_must_be_asked_for(
    faulty: Path,
    longwatch: Longwatch,
    monkeypatch: pytest.MonkeyPatch,
    line: str,
    environment: dict[str, str],
    coloured: bool,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert ("\x1b[" in longwatch(line).err) == coloured


@pytest.mark.parametrize(
    ("environment", "coloured"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
)
def test_a_terminal_gets_colour(monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], coloured: bool) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        assert Terminal.of(None).colour == coloured
    os.close(ours)


def test_progress_waits_a_second_and_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 100.0
    monkeypatch.setattr("longwatch.cli.terminal.time.monotonic", lambda: now)
    terminal = Terminal(colour=False, colour_out=False, interactive=True, width=20)
    with Progress(terminal, "testing") as progress:
        now += 0.5
        progress(1, 9, "gpt")
        assert capsys.readouterr().err == ""
        now += 1
        progress(2, 9, "a name that is too long")
        assert capsys.readouterr().err == "\r\x1b[Ktesting 2/9 a name "
        progress(3, 9, "gpt")
        assert capsys.readouterr().err == ""
    assert capsys.readouterr().err == "\r\x1b[K"


def test_progress_is_silent_away_from_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    terminal = Terminal(colour=False, colour_out=False, interactive=False, width=80)
    with Progress(terminal, "testing") as progress:
        progress._begun -= 10
        progress(1, 2, "gpt")
    assert capsys.readouterr().err == ""
