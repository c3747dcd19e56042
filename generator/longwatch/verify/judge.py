"""Lets promtool and amtool judge artifacts that are still in memory."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import msgspec

from longwatch.artifact import Artifact
from longwatch.tools.process import Command, Finished, Progress, run_all
from longwatch.tools.toolbox import Toolbox
from longwatch.verify import amtool, promtool
from longwatch.verify.verdict import FileVerdict, Verdict

TARGETS = ("prometheus", "promtool", "alertmanager")
"""Emitters whose artifacts a tool can judge."""

_MEMORY = Path("/dev/shm")
_ROOM = 32 * 2**20  # bytes; promtool's storages hold well under a megabyte at a time


class _Work(msgspec.Struct, frozen=True, kw_only=True):
    """A process, and how its answer becomes verdicts (None: run its files one by one)."""

    command: Command
    judge: Callable[[Finished], list[FileVerdict] | None]
    files: Sequence[Artifact]


def needed(artifacts: Sequence[Artifact]) -> tuple[str, ...]:
    """Names of the tools that judging these artifacts takes."""
    targets = {artifact.target for artifact in artifacts}
    return (("promtool",) if targets & {"prometheus", "promtool"} else ()) + (
        ("amtool",) if "alertmanager" in targets else ()
    )


def judge(
    artifacts: Sequence[Artifact],
    toolbox: Toolbox,
    *,
    jobs: int,
    progress: Progress | None = None,
    timeout: float = 120.0,
) -> Verdict:
    """The tools' verdict on the artifacts of TARGETS; others are left alone.

    At most `jobs` processes run at a time. `timeout` is the seconds that one test file may take. `progress` is called
    with (files judged, files in all, what was just judged). Wrong policies, failed scenarios and tools that time out or
    crash are in the verdict. Raises Trouble only through `toolbox`, and KeyError when it lacks a tool of `needed`.
    """
    of = {target: [a for a in artifacts if a.target == target] for target in TARGETS}
    rules = [rule for rule in of["prometheus"] if _is_yaml(rule)]
    tests = [test for test in of["promtool"] if _is_yaml(test)]
    configs = [config for config in of["alertmanager"] if _is_yaml(config)]
    total = bool(rules) + len(tests) + len(configs)
    with _workspace([a for target in TARGETS for a in of[target]]) as folder:
        environment = {**toolbox.environment, "TMPDIR": str(folder / "tmp")}
        works: list[_Work] = []
        if rules:
            tool = toolbox["promtool"]
            works.append(
                _Work(
                    command=promtool.check_rules(tool, rules, folder, environment),
                    judge=partial(promtool.judge_rules, tool, rules, folder),
                    files=rules[:1],  # counts as one: there is one process
                )
            )

        def test(files: Sequence[Artifact]) -> _Work:
            tool = toolbox["promtool"]
            return _Work(
                command=promtool.test_rules(tool, files, folder, environment, timeout),
                judge=partial(promtool.judge_tests, tool, files, rules, folder),
                files=files,
            )

        works += [test(chunk) for chunk in promtool.chunks(tests, jobs)]
        verdicts, again, done = _carry_out(works, jobs, progress, 0, total)
        verdicts += _carry_out([test([file]) for file in again], jobs, progress, done, total)[0]
        done = total - len(configs)
        for config in configs:
            verdicts.append(_judge_config(config, toolbox, folder, environment, jobs))
            done += 1
            if progress:
                progress(done, total, config.path)
    places = {artifact.path: index for index, artifact in enumerate(artifacts)}
    return Verdict(
        files=tuple(sorted(verdicts, key=lambda verdict: places[verdict.path])),
        tools={name: toolbox[name].release for name in needed(artifacts)},
    )


def _carry_out(
    works: Sequence[_Work], jobs: int, progress: Progress | None, begun: int, total: int
) -> tuple[list[FileVerdict], list[Artifact], int]:
    """Runs the processes: verdicts, files to run again one by one, files done."""
    sizes = [len(work.files) for work in works]
    commands = [msgspec.structs.replace(work.command, label=str(index)) for index, work in enumerate(works)]
    done = begun

    def advance(_done: int, _total: int, label: str) -> None:
        nonlocal done
        done = min(total, done + sizes[int(label)])
        if progress:
            progress(done, total, works[int(label)].command.label)

    verdicts: list[FileVerdict] = []
    again: list[Artifact] = []
    for work, finished in zip(works, run_all(commands, jobs=jobs, progress=advance), strict=True):
        answer = work.judge(finished)
        if answer is None:
            again += work.files
            done -= len(work.files)
        else:
            verdicts += answer
    return verdicts, again, done


def _judge_config(
    config: Artifact, toolbox: Toolbox, folder: Path, environment: dict[str, str], jobs: int
) -> FileVerdict:
    tool = toolbox["amtool"]
    commands = [amtool.check_config(tool, config, folder, environment)]
    if rendering := amtool.render(tool, config, folder, environment):
        commands.append(rendering)
    finished = run_all(commands, jobs=jobs)
    return amtool.judge_config(tool, config, folder, finished[0], finished[1] if len(finished) > 1 else None)


def _is_yaml(artifact: Artifact) -> bool:
    return artifact.path.endswith((".yml", ".yaml"))


@contextmanager
def _workspace(artifacts: Sequence[Artifact]) -> Iterator[Path]:
    """A folder with the artifacts as they would lie below out/; in memory, since promtool waits for the disk a lot."""
    memory = _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free >= _ROOM
    with tempfile.TemporaryDirectory(
        prefix="longwatch-", dir=_MEMORY if memory else None, ignore_cleanup_errors=True
    ) as name:
        folder = Path(name)
        (folder / "tmp").mkdir()
        for artifact in artifacts:
            path = folder / artifact.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(artifact.text, encoding="utf-8", newline="\n")
        yield folder
