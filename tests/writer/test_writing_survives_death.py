"""kill -9 at every step of a build: the next run leaves out/ whole, old or new, never a third thing."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest
from trees import NEW, OLD, artifacts, tree

from longwatch.writer import write

# For n = 0, 1, …: makes n/out with the old files, then a child dies just before its n-th change to the disk.
# Stops at the first child that has no n-th change left to make.
DEATHS = """
import os, pathlib, shutil, signal, sys
sys.path[:0] = sys.argv[2:]
from trees import NEW, OLD, artifacts
from longwatch.writer import write

left = 0

def deadly(original):
    def call(*args, **kwargs):
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return original(*args, **kwargs)
    return call

for n in range(1000):
    out = pathlib.Path(sys.argv[1], str(n), "out")
    write(artifacts(OLD), out)
    child = os.fork()
    if child == 0:
        left = n
        for name in ("write_bytes", "replace", "unlink", "rmdir", "mkdir"):
            setattr(pathlib.Path, name, deadly(getattr(pathlib.Path, name)))
        shutil.rmtree = deadly(shutil.rmtree)
        write(artifacts(NEW), out)
        os._exit(0)
    if os.waitpid(child, 0)[1] == 0:
        print(n)
        break
"""


def outs_after_death(folder: Path) -> list[Path]:
    """One out/ for each step at which a build can die, in order."""
    done = subprocess.run(
        [sys.executable, "-c", DEATHS, str(folder), *sys.path],
        env=os.environ,
        timeout=120,
        check=True,
        capture_output=True,
        text=True,
    )
    steps = int(done.stdout)
    assert steps > 12
    return [folder / str(n) / "out" for n in range(steps)]


def test_death_at_any_step_is_undone_or_finished_by_the_next_run(tmp_path: Path) -> None:
    finished: list[bool] = []
    for out in outs_after_death(tmp_path):
        finished.append(write(artifacts(NEW), out).finished)
        assert tree(out) == NEW
        assert list(out.parent.iterdir()) == [out]

    # no journal yet: undone; a journal: finished; the journal gone: nothing left but sweeping up
    assert [value for value, _ in itertools.groupby(finished)] == [False, True, False]


def test_a_next_run_that_cannot_write_still_leaves_it_whole(tmp_path: Path) -> None:
    seen: list[str] = []
    for out in outs_after_death(tmp_path):
        (out / "rules/stranger").write_text("mine")
        with pytest.raises(Exception, match="folder with files"):
            write(artifacts({"rules": "a file where a folder is"}), out)
        (out / "rules/stranger").unlink()
        assert tree(out) in (OLD, NEW)
        seen.append("new" if tree(out) == NEW else "old")

    assert [value for value, _ in itertools.groupby(seen)] == ["old", "new"]


def test_a_journal_that_leads_out_is_not_followed(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(artifacts(OLD), out)
    staging = tmp_path / ".out.longwatch"
    staging.mkdir()
    (staging / "journal.json").write_text('{"replace": [], "delete": ["../precious"]}')
    (tmp_path / "precious").write_text("mine")

    with pytest.raises(Exception, match="leads out"):
        write(artifacts(NEW), out)

    assert (tmp_path / "precious").exists()
    assert tree(out) == OLD


BUILDS = """
import os, pathlib, sys
sys.path[:0] = sys.argv[2:]
from trees import artifacts
from longwatch.writer import write

for n in range(40):
    write(artifacts({"a": f"{n} of {os.getpid()}", f"{os.getpid()}/b": ""}), pathlib.Path(sys.argv[1]))
"""


def test_builds_at_once_take_turns(tmp_path: Path) -> None:
    command = [sys.executable, "-c", BUILDS, str(tmp_path / "out"), *sys.path]
    children = [subprocess.Popen(command, env=os.environ) for _ in range(3)]

    assert [child.wait(timeout=60) for child in children] == [0, 0, 0]
    assert len(tree(tmp_path / "out")) == 2
    assert list(tmp_path.iterdir()) == [tmp_path / "out"]
