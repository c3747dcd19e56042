"""What each ending of a command means to the script that started it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.cli.conftest import Longwatch, process

from longwatch.cli import planning

VERBS = ("init", "check", "build", "test", "explain", "schema", "doctor")


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    "line", ["check", "build", "explain gpt", "explain gpt/LossSpike", "schema", "--version", "--help"]
)
def test_0_when_all_is_well(repository: Path, longwatch: Longwatch, line: str) -> None:
    assert longwatch(line).code == 0


@pytest.mark.parametrize("line", ["check", "build", "test", "explain gpt"])
def test_1_when_a_policy_is_in_error(repository: Path, longwatch: Longwatch, line: str) -> None:
    edit(repository / "policies/families/gpt.yaml", "owner: models", "owner: modles")
    ended = longwatch(line)
    assert ended.code == 1
    assert 'policies/families/gpt.yaml:5:8: error[unknown-owner]: no team is called "modles"' in ended.err
    assert 'did you mean "models"?' in ended.err


@pytest.mark.parametrize("line", ["check", "build", "test"])
def test_1_without_policies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, longwatch: Longwatch, line: str) -> None:
    monkeypatch.chdir(tmp_path)
    ended = longwatch(line)
    assert ended.code == 1
    assert "longwatch init" in ended.err


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("biuld", 'did you mean "build"?'),
        ("build --famly gpt", "--family"),
        ("build --out ''", "name a directory"),
        ("build --family gtp", 'did you mean "gpt"?'),
        ("test --family gtp", 'did you mean "gpt"?'),
        ("test --alert LossSpik", 'did you mean "LossSpike"?'),
        ("explain gtp", 'did you mean "gpt"?'),
        ("explain gpt/LossSpkie", 'did you mean "LossSpike"?'),
        ("explain", "FAMILY[/ALERT]"),
        ("check --format xml", "github"),
        ("schema --kind Model", "ModelFamily"),
    ],
)
def test_2_for_a_command_that_makes_no_sense(repository: Path, longwatch: Longwatch, line: str, hint: str) -> None:
    ended = longwatch(line)
    assert ended.code == 2
    assert ended.out == ""
    assert hint in ended.err


def test_3_with_a_report_for_our_own_mistakes(
    repository: Path, longwatch: Longwatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise LookupError("no such luck")

    monkeypatch.setattr(planning, "examine", broken)
    ended = longwatch("build --out 'a b'")
    assert ended.code == 3
    assert ended.out == ""
    assert "our mistake, not yours" in ended.err
    assert re.search(
        r"longwatch: +\d+\.\d+\.\d+\npython: +3\.\d+\.\d+\nplatform: +\S+\ncommand: +longwatch build --out 'a b'\n",
        ended.err,
    )
    assert "LookupError: no such luck" in ended.err
    kept = re.search(r"also in (\S+)\)", ended.err)
    assert kept is not None
    report = Path(kept[1])
    assert report.read_text() in ended.err
    report.unlink()


def test_4_when_the_output_is_out_of_date(repository: Path, longwatch: Longwatch) -> None:
    assert longwatch("build").code == 0
    assert longwatch("build --check").code == 0
    edit(repository / "policies/families/gpt.yaml", "step_time: 5s", "step_time: 6s")
    assert longwatch("build --check").code == 4


@pytest.mark.parametrize("line", ["test", "test --family gpt", "doctor"])
def test_5_without_the_tools(
    repository: Path, longwatch: Longwatch, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.setenv("PATH", str(repository))
    for variable in ("PROMTOOL", "AMTOOL", "PROMETHEUS", "ALERTMANAGER"):
        monkeypatch.delenv(variable, raising=False)
    ended = longwatch(line)
    assert ended.code == 5
    assert "error[tool-missing]: promtool is not on PATH" in ended.err
    assert "https://prometheus.io/download/" in ended.err


def test_5_when_a_tool_is_too_old(repository: Path, longwatch: Longwatch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROMTOOL", script(repository / "promtool", 'echo "promtool, version 2.37.0 (branch: HEAD)"'))
    ended = longwatch("test --family gpt")
    assert ended.code == 5
    assert "longwatch needs 2.42 or newer" in ended.err


def test_5_when_a_tool_crashes(repository: Path, longwatch: Longwatch, monkeypatch: pytest.MonkeyPatch) -> None:
    body = 'if [ "$1" = --version ]; then echo "promtool, version 2.45.0"; else kill -SEGV $$; fi'
    monkeypatch.setenv("PROMTOOL", script(repository / "promtool", body))
    ended = longwatch("test --family gpt")
    assert ended.code == 5
    assert "crashed" in ended.err
    assert "not judged" in ended.err


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_128_and_the_signal_after_an_interrupt_and_the_tools_end_too(
    repository: Path, number: signal.Signals, code: int
) -> None:
    pid = repository / "pid"
    body = f'if [ "$1" = --version ]; then echo "promtool, version 2.45.0"; else echo $$ > {pid}; sleep 600; fi'
    running = process("test --family gpt", repository, {"PROMTOOL": script(repository / "promtool", body)})
    until(lambda: pid.exists() and pid.read_text().strip() != "")
    time.sleep(0.5)  # all of them have started
    running.send_signal(number)
    out, err = running.communicate(timeout=30)
    assert (running.returncode, out, err) == (code, "", "")
    until(lambda: not alive(int(pid.read_text())))


@pytest.mark.parametrize("line", ["schema", "--help", "check --format json"])
def test_141_when_nobody_reads_any_more(repository: Path, line: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    running = process(line, repository, stdout=writing)
    os.close(writing)
    _, err = running.communicate(timeout=30)
    assert (running.returncode, err) == (141, "")


def test_every_verb_is_here(longwatch: Longwatch) -> None:
    listed = re.findall(r"^  (\w+)  ", longwatch("--help").out, re.MULTILINE)
    assert set(VERBS) <= set(listed)


def script(path: Path, body: str) -> str:
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


def until(condition: object, seconds: float = 30) -> None:
    assert callable(condition)
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


def alive(pid: int) -> bool:
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(state.strip()) and not state.startswith("Z")
