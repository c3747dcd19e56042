"""Runs other programs; the only door to subprocess.

A child sees exactly the environment it is handed. However it ends – by itself, too late, by a signal, not at all –
the answer is a `Finished`, never an exception.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from enum import StrEnum

import msgspec

Progress = Callable[[int, int, str], None]
"""Called with (done, total, label of what was just done), always from the thread that started the work."""


class Ending(StrEnum):
    EXITED = "exited"
    TIMED_OUT = "timed out"
    CRASHED = "crashed"
    NOT_STARTED = "not started"


class Command(msgspec.Struct, frozen=True, kw_only=True):
    argv: tuple[str, ...]
    environment: Mapping[str, str]
    """All of the child's environment, not additions to ours."""
    cwd: str | None = None
    stdin: str = ""
    timeout: float = 60.0
    """Seconds."""
    merged: bool = False
    """Send stderr into stdout, so that the lines stay in the order in which they were written."""
    label: str = ""


class Finished(msgspec.Struct, frozen=True, kw_only=True):
    command: Command
    ending: Ending
    returncode: int
    """The exit code; minus the signal's number after a crash; -1 when the program was not started."""
    stdout: str = ""
    stderr: str = ""
    seconds: float = 0.0
    """Wall-clock time."""

    @property
    def ok(self) -> bool:
        return self.ending is Ending.EXITED and self.returncode == 0


class _Live:
    """The processes that run now, so that an interrupt can end all of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._processes: set[subprocess.Popen[str]] = set()
        self.closed = False

    def start(self, command: Command) -> subprocess.Popen[str]:
        with self._lock:
            if self.closed:
                raise OSError("interrupted")
            process = subprocess.Popen(
                command.argv,
                env=dict(command.environment),
                cwd=command.cwd,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT if command.merged else subprocess.PIPE,
                text=True,
                encoding="utf-8",
                errors="replace",
                process_group=0,  # a wrapper script's own children must end with it
            )
            self._processes.add(process)
            return process

    def end(self, process: subprocess.Popen[str]) -> None:
        """Kills whatever is left of the process's group and reaps it."""
        with suppress(ProcessLookupError, PermissionError):  # macOS answers EPERM for a group of zombies
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        with self._lock:
            self._processes.discard(process)

    def forget(self, process: subprocess.Popen[str]) -> None:
        with self._lock:
            self._processes.discard(process)

    def close(self) -> None:
        with self._lock:
            self.closed = True
            processes = tuple(self._processes)
        for process in processes:
            self.end(process)


def run(command: Command) -> Finished:
    """Runs one program to its end; kills it and its children after `command.timeout`."""
    live = _Live()
    try:
        return _run(command, live)
    finally:
        live.close()


def run_all(commands: Sequence[Command], *, jobs: int, progress: Progress | None = None) -> tuple[Finished, ...]:
    """Runs the programs, at most `jobs` at a time; the answers are in the order of `commands`.

    An exception in the caller's thread (an interrupt, or one out of `progress`) ends all of them and goes on upwards.
    """
    live = _Live()
    results: dict[int, Finished] = {}
    with ThreadPoolExecutor(max_workers=max(1, jobs)) as pool:
        waiting = {pool.submit(_run, command, live): index for index, command in enumerate(commands)}
        try:
            for future in as_completed(waiting):
                results[waiting[future]] = future.result()
                if progress:
                    progress(len(results), len(commands), commands[waiting[future]].label)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            live.close()
            raise
    return tuple(results[index] for index in range(len(commands)))


def _run(command: Command, live: _Live) -> Finished:
    begun = time.monotonic()
    try:
        process = live.start(command)
    except (OSError, ValueError) as error:  # ValueError: a NUL byte in argv
        return Finished(command=command, ending=Ending.NOT_STARTED, returncode=-1, stderr=str(error))
    try:
        stdout, stderr = process.communicate(command.stdin, timeout=command.timeout)
    except subprocess.TimeoutExpired:
        live.end(process)
        stdout, stderr = _rest(process)
        ending = Ending.TIMED_OUT
    except BaseException:
        live.end(process)
        raise
    else:
        live.forget(process)
        ending = Ending.CRASHED if process.returncode < 0 else Ending.EXITED
    return Finished(
        command=command,
        ending=ending,
        returncode=process.returncode,
        stdout=stdout,
        stderr=stderr or "",
        seconds=time.monotonic() - begun,
    )


def _rest(process: subprocess.Popen[str]) -> tuple[str, str]:
    """What a killed process had already written."""
    try:
        stdout, stderr = process.communicate(timeout=1)
    except subprocess.TimeoutExpired:  # a grandchild that left the group still holds the pipe
        return "", ""
    return stdout, stderr or ""


def cores() -> int:
    """Processors that this process may use; a container's or batch job's share, not the machine's."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
