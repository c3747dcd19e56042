"""Plays hand-written series against compiled rules in the real promtool, and tells what fired from when to when.

promtool can only compare, so every case here expects nothing at all and is wrong on purpose whenever an alert fires:
what promtool "got" is the answer. A last case is always wrong, so that a promtool that stopped early cannot pass for
a quiet story.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from longwatch.notation import Sample, compress
from longwatch.tools.process import Command, run

MINUTE, HOUR = 60.0, 3600.0
FOREVER = float("inf")
"""The end of an alert that still fires when the story ends."""

Firings = dict[tuple[str, str], list[tuple[float, float]]]
"""(alert, subject) → intervals in seconds: the first evaluation that fires, and the first that does not any more."""

_ABOUT = ("run_id", "signal")
_CASE = re.compile(r'^ *expr: "(?P<expr>.*)", time: (?P<time>[0-9a-z]+), *$')
_GOT = re.compile(r"^ *got: ?(?P<samples>.*)$")
_SAMPLE = re.compile(r'\{(?P<labels>(?:[a-z_]+="(?:[^"\\]|\\.)*"(?:, )?)*)\} (?P<value>[0-9.E+-]+)(?:, )?')
_LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')
_GROUP = re.compile(r"^- name: (.+)$", re.MULTILINE)
_CONTROL = "vector(1) + 41"
_REACHED = re.compile(rf'expr: "{re.escape(_CONTROL)}", time: (?P<time>\w+),\s+exp: ?.*\s+got: ?\{{\}} 4\.2E\+01')


class StoryFailed(Exception):
    """promtool did not play the story; its words are the message."""


@dataclass(frozen=True)
class Player:
    promtool: str
    environment: Mapping[str, str]
    memory: Path
    """Answers of this test session, so that tests that share a story play it once."""

    def firings(
        self,
        rules: str | Sequence[str],
        series: Mapping[str, Sequence[Sample]],
        *,
        every: float,
        until: float,
        evaluate: float = 60.0,
        about: Sequence[str] = _ABOUT,
    ) -> Firings:
        """What fires between 0 and the last evaluation before `until`.

        `every` is the spacing of the samples, `evaluate` that of the rules' evaluations, both in seconds; the labels in
        `about` name the subject of an alert, joined by a space.
        """
        files = [rules] if isinstance(rules, str) else list(rules)
        until = until // evaluate * evaluate
        told = self._told(files, series, every, until, evaluate, about)
        return {
            (alert, subject): _intervals(sorted(ticks), evaluate, until)
            for (alert, subject), ticks in sorted(told.items())
        }

    def _told(
        self,
        files: Sequence[str],
        series: Mapping[str, Sequence[Sample]],
        every: float,
        until: float,
        evaluate: float,
        about: Sequence[str],
    ) -> dict[tuple[str, str], list[float]]:
        test = json.dumps(_test_file(files, series, every, until, evaluate, about))
        key = hashlib.sha256("\0".join((self.promtool, test, *files)).encode()).hexdigest()
        kept = self.memory / f"{key}.json"
        with (self.memory / f"{key}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not kept.exists():
                kept.write_text(self._play(files, test, until))
            return _table(kept.read_text(), about)

    def _play(self, files: Sequence[str], test: str, until: float) -> str:
        shm = Path("/dev/shm")  # every test group opens a database of its own, and waits for its disk
        with tempfile.TemporaryDirectory(dir=shm if os.access(shm, os.W_OK) else None) as folder:
            for index, text in enumerate(files):
                (Path(folder) / f"{index}.rules.yml").write_text(text)
            (Path(folder) / "story.test.yml").write_text(test)
            finished = run(
                Command(
                    argv=(self.promtool, "test", "rules", f"{folder}/story.test.yml"),
                    environment={**self.environment, "TMPDIR": folder},
                    timeout=600,
                    merged=True,
                )
            )
        said = finished.stdout
        reached = _REACHED.search(said)
        if finished.returncode != 1 or not reached or _seconds(reached["time"]) != until or "err: " in said:
            raise StoryFailed(
                f"exit {finished.returncode} ({finished.ending}): …{said[-1500:]}{finished.stderr[-500:]}"
            )
        return said

    def disproved(self, files: Mapping[str, str]) -> set[str]:
        """Scenarios of the generated tests among `files` that fail; the others pass.

        Raises StoryFailed when promtool stopped for another reason than an expectation: that proves nothing.
        """
        shm = Path("/dev/shm")
        with tempfile.TemporaryDirectory(dir=shm if os.access(shm, os.W_OK) else None) as folder:
            for name, text in files.items():
                (Path(folder) / name).write_text(text)
            tests = [f"{folder}/{name}" for name in files if name.endswith("test.yml")]
            finished = run(
                Command(
                    argv=(self.promtool, "test", "rules", *tests),
                    environment={**self.environment, "TMPDIR": folder},
                    timeout=600,
                    merged=True,
                )
            )
        failed = set(re.findall(r"# scenario: ([^\s\"]+)\\?\", time:", finished.stdout))
        if (
            finished.returncode not in (0, 1)
            or (finished.returncode == 1) != bool(failed)
            or "err: " in finished.stdout
        ):
            raise StoryFailed(f"exit {finished.returncode} ({finished.ending}): …{finished.stdout[-1500:]}")
        return failed


def _test_file(
    files: Sequence[str],
    series: Mapping[str, Sequence[Sample]],
    every: float,
    until: float,
    evaluate: float,
    about: Sequence[str],
) -> dict[str, object]:
    """As JSON, which is YAML."""
    groups = [name.strip("'\"") for text in files for name in _GROUP.findall(text)]
    if not groups:
        raise StoryFailed("the rule files hold no group, so nothing could fire")
    expr = f'max by (alertname, {", ".join(about)}) (ALERTS{{alertstate="firing"}})'
    ticks = int(until // evaluate)
    cases = [{"expr": expr, "eval_time": _written(tick * evaluate), "exp_samples": []} for tick in range(ticks + 1)]
    return {
        "rule_files": [f"{index}.rules.yml" for index in range(len(files))],
        "evaluation_interval": _written(evaluate),
        "group_eval_order": groups,
        "tests": [
            {
                "interval": _written(every),
                "input_series": [{"series": name, "values": compress(values)} for name, values in series.items()],
                "promql_expr_test": [*cases, {"expr": _CONTROL, "eval_time": _written(until), "exp_samples": []}],
            }
        ],
    }


def _table(said: str, about: Sequence[str]) -> dict[tuple[str, str], list[float]]:
    told: dict[tuple[str, str], list[float]] = {}
    expr, at = "", 0.0
    for line in said.splitlines():
        if case := _CASE.match(line):
            expr, at = case["expr"], _seconds(case["time"])
        elif (got := _GOT.match(line)) and "ALERTS" in expr:
            if _SAMPLE.sub("", got["samples"]).strip():
                raise StoryFailed(f"not understood: {line}")
            for sample in _SAMPLE.finditer(got["samples"]):
                labels = dict(_LABEL.findall(sample["labels"]))
                subject = " ".join(labels[name] for name in about if labels.get(name))
                told.setdefault((labels["alertname"], subject), []).append(at)
    return told


def _intervals(ticks: Sequence[float], evaluate: float, until: float) -> list[tuple[float, float]]:
    made: list[tuple[float, float]] = []
    for tick in ticks:
        if made and tick == made[-1][1]:
            made[-1] = (made[-1][0], tick + evaluate)
        else:
            made.append((tick, tick + evaluate))
    return [(begin, FOREVER if end > until else end) for begin, end in made]


def _written(seconds: float) -> str:
    return f"{round(seconds)}s"


def _seconds(text: str) -> float:
    sizes = {"w": 604800, "d": 86400, "h": 3600, "m": 60, "s": 1, "ms": 0.001}
    return float(sum(int(n) * sizes[unit] for n, unit in re.findall(r"([0-9]+)(ms|[wdhms])", text)))


# what a story expects ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fires:
    """One row of a story's table: an interval in which an alert fires, each edge between two times, in seconds."""

    alert: str
    subject: str
    begins: tuple[float, float]
    ends: tuple[float, float] = (FOREVER, FOREVER)
    """By default it still fires when the story ends."""
    perhaps: bool = False
    """It may fire, but need not."""


def unlike(told: Firings, expected: Iterable[Fires]) -> list[str]:
    """Where `told` differs from the table, as sentences; empty when they are alike."""
    rows: dict[tuple[str, str], list[Fires]] = {}
    for row in expected:
        rows.setdefault((row.alert, row.subject), []).append(row)
    found: list[str] = []
    for key in sorted({*told, *rows}):
        seen, wanted = told.get(key, []), rows.get(key, [])
        who = " ".join(key)
        if not seen and all(row.perhaps for row in wanted):
            continue
        if len(seen) != len(wanted):
            found.append(f"{who} fires {_shown(seen) or 'never'}, expected {_times(wanted)}")
            continue
        for (begin, end), row in zip(seen, wanted, strict=True):
            if not row.begins[0] <= begin <= row.begins[1]:
                found.append(f"{who} begins at {clock(begin)}, expected {_between(row.begins)}")
            if not row.ends[0] <= end <= row.ends[1]:
                found.append(f"{who} ends at {clock(end)}, expected {_between(row.ends)}")
    return found


def clock(seconds: float) -> str:
    """`2:31:00`."""
    if seconds == FOREVER:
        return "the end"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def shown(told: Firings) -> str:
    """The whole table, for people."""
    return "\n".join(f"{' '.join(key)}: {_shown(intervals)}" for key, intervals in told.items())


def _shown(intervals: Sequence[tuple[float, float]]) -> str:
    return ", ".join(f"{clock(begin)}–{clock(end)}" for begin, end in intervals)


def _times(rows: Sequence[Fires]) -> str:
    if not rows:
        return "never"
    return ", ".join(f"from {_between(row.begins)} to {_between(row.ends)}" for row in rows)


def _between(edges: tuple[float, float]) -> str:
    return clock(edges[0]) if edges[0] == edges[1] else f"{clock(edges[0])}…{clock(edges[1])}"
