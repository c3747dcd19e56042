"""However a program ends, the answer is a value."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from longwatch.tools.process import Command, Ending, cores, run, run_all

PATH = {"PATH": os.environ["PATH"]}


def shell(script: str, **fields: object) -> Command:
    return Command(**{"argv": ("/bin/sh", "-c", script), "environment": PATH, "timeout": 20.0, **fields})  # type: ignore[arg-type]


def test_output_and_exit_code_come_back() -> None:
    finished = run(shell("cat; echo problem >&2; exit 3", stdin="grüße"))

    assert (finished.ending, finished.returncode) == (Ending.EXITED, 3)
    assert (finished.stdout, finished.stderr) == ("grüße", "problem\n")
    assert not finished.ok


def test_merged_output_keeps_the_order() -> None:
    assert run(shell("echo a; echo b >&2; echo c", merged=True)).stdout == "a\nb\nc\n"


def test_a_child_sees_only_the_environment_it_is_handed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "leaked")

    assert run(shell("echo $SECRET$HANDED", environment={**PATH, "HANDED": "yes"})).stdout == "yes\n"


def test_a_child_works_where_it_is_told(tmp_path: Path) -> None:
    assert run(shell("pwd -P", cwd=str(tmp_path))).stdout.strip() == str(tmp_path.resolve())


def test_a_timeout_ends_the_program_and_its_children(tmp_path: Path) -> None:
    begun = time.monotonic()
    finished = run(shell(f"echo begun; (sleep 2; touch {tmp_path}/late) & sleep 60", timeout=0.5))

    assert finished.ending is Ending.TIMED_OUT
    assert finished.stdout == "begun\n"
    assert time.monotonic() - begun < 10
    time.sleep(2.2)
    assert not (tmp_path / "late").exists()


def test_a_signal_is_a_crash() -> None:
    finished = run(shell("kill -SEGV $$"))

    assert (finished.ending, finished.returncode) == (Ending.CRASHED, -11)


@pytest.mark.parametrize("program", ["/nowhere/promtool", "/etc/passwd", "/tmp", "a\0b"])
def test_a_program_that_cannot_start_is_an_answer(program: str) -> None:
    finished = run(Command(argv=(program,), environment=PATH))

    assert finished.ending is Ending.NOT_STARTED
    assert finished.stderr


def test_output_that_is_not_text_does_not_stop_us() -> None:
    assert run(shell(r"printf '\377ok'")).stdout == "\ufffdok"


def test_many_programs_answer_in_the_order_of_asking_and_report_progress() -> None:
    seen: list[tuple[int, int, str]] = []
    commands = [shell(f"sleep 0.{5 - n}; echo {n}", label=str(n)) for n in range(5)]

    finished = run_all(commands, jobs=5, progress=lambda *step: seen.append(step))

    assert [one.stdout for one in finished] == [f"{n}\n" for n in range(5)]
    assert [step[:2] for step in seen] == [(n, 5) for n in range(1, 6)]
    assert {step[2] for step in seen} == set("01234")


def test_an_interrupt_ends_all_programs() -> None:
    def interrupt(done: int, total: int, label: str) -> None:
        raise KeyboardInterrupt

    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run_all([shell("true"), *(shell("sleep 15") for _ in range(4))], jobs=2, progress=interrupt)
    assert time.monotonic() - begun < 10


def test_no_program_is_no_answer() -> None:
    assert run_all([], jobs=2) == ()


def test_a_large_stdin_to_a_program_that_reads_none_of_it_does_no_harm() -> None:
    assert run(Command(argv=(sys.executable, "-c", ""), environment=PATH, stdin="x" * 10**6)).ok


def test_cores_is_at_least_one() -> None:
    assert cores() >= 1
