"""How long a compile takes, and how that compares with only serialising what it writes.

    python tests/bench/bench_compile.py           the figures of docs/performance.md; several minutes
    python tests/bench/bench_compile.py --quick   fewer families and runs; under a minute
    make bench                                    the same as the first

Families are variations of the three sample families: other names, numbers, thresholds and variants. All times are CPU
seconds of one process (its own and the kernel's on its behalf), which other work on the machine disturbs least; the
compiler is single-threaded. Each figure is a median, and each ratio is made within one run. Nothing is written outside
a temporary folder, and nothing is asserted: a slow machine is no bug.
"""

from __future__ import annotations

import argparse
import copy
import gc
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

ROOT = Path(__file__).parents[2]
POLICIES = ROOT / "policies"
LONGWATCH = str(Path(sys.executable).with_name("longwatch"))
FLEETS = (1, 50, 500)
QUICK_FLEETS = (1, 20, 60)
Files = list[tuple[str, bytes]]


# policies -----------------------------------------------------------------------------------------------------------


def varied(families: int) -> Files:
    """The sample organisation and cluster, and `families` variations of the sample families."""
    files = [(f"policies/{path.relative_to(POLICIES)}", path.read_bytes()) for path in shared_policies()]
    samples = [yaml.safe_load(path.read_bytes()) for path in sorted((POLICIES / "families").glob("*.yaml"))]
    for index in range(families):
        family = variation(samples[index % len(samples)], index)
        text = yaml.safe_dump(family, sort_keys=False, allow_unicode=True)
        files.append((f"policies/families/{family['name']}.yaml", text.encode()))
    return files


def shared_policies() -> list[Path]:
    return [POLICIES / "organisation.yaml", *sorted((POLICIES / "clusters").glob("*.yaml"))]


def variation(sample: dict[str, Any], index: int) -> dict[str, Any]:
    """Another name, other labels and numbers; every fourth family has one variant more, every third one pack less."""
    family = copy.deepcopy(sample)
    family["name"] = f"{sample['name']}-{index:03d}"
    family["title"] = f"{sample['title']} {index}"
    family["stage"] = ("shadow", "notify", "page")[index % 3]
    family["runs"]["select"] = {key: f"{value}-{index:03d}" for key, value in family["runs"]["select"].items()}
    if index % 3 == 1:
        family["alerts"]["packs"] = family["alerts"]["packs"][:-1]
        family["alerts"].get("override", {}).pop("ThroughputDegraded", None)
    for variant in family["variants"]:
        for baseline in variant.get("baselines", {}).values():
            if "value" in baseline:
                baseline["value"] = round(baseline["value"] * (1 + index % 17 / 100), 6)
            if "curve" in baseline:
                shift = 1 + index % 13 / 100
                baseline["curve"]["points"] = {x: round(y * shift, 6) for x, y in baseline["curve"]["points"].items()}
    if index % 4 == 0:
        last = family["variants"][-1]
        when = {key: f"{value}-more" for key, value in last["when"].items()}
        family["variants"].append({"name": "more", "extends": last["name"], "when": when, "ranks": 8 + index})
    return family


# one process that compiles ----------------------------------------------------------------------------------------


class Compile(NamedTuple):
    """The median run of one process, in seconds; `memory` is its peak in MiB, compiler and one fleet."""

    read: float
    plan: float
    emit: float
    floor: float
    memory: float = 0.0
    megabytes: float = 0.0

    @property
    def whole(self) -> float:
        return self.read + self.plan + self.emit

    @property
    def ratio(self) -> float:
        return self.whole / self.floor


def compiled(families: int, runs: int) -> Compile:
    """Compiles in this process, as the command does."""
    gc.freeze()
    gc.set_threshold(200_000, 50, 100)  # as cli/main.py
    files = varied(families)
    one_compile(varied(3))  # what happens once a process: imports, templates, the schema
    made = [one_compile(files) for _ in range(runs)]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return sorted(made, key=lambda run: run.ratio)[len(made) // 2]._replace(memory=memory)


def one_compile(files: Files) -> Compile:
    """Each family's documents are serialised alone right after the family was compiled, so that a busy moment of the
    machine hits both."""
    from longwatch.compiler import emit_plan, finish, plan_subject, read

    planned = floored = aside = 0.0

    def planner(*arguments: Any) -> Any:
        nonlocal planned
        started = time.process_time()
        plan = plan_subject(*arguments)
        planned += time.process_time() - started
        return plan

    def emitter(*arguments: Any) -> Any:
        nonlocal floored, aside
        artifacts = emit_plan(*arguments)
        started = time.process_time()
        floored += sum(floor(artifact.path, artifact.text) for artifact in artifacts)
        aside += time.process_time() - started
        return artifacts

    gc.collect()
    started = time.process_time()
    front = read(files)
    read_at = time.process_time()
    done = finish(front, planner, emitter)
    ended = time.process_time()
    assert done.ok, [d.message for d in done.diagnostics]
    floored += sum(floor(a.path, a.text) for a in done.artifacts if not a.subject)
    size = sum(len(artifact.text.encode()) for artifact in done.artifacts) / 1e6
    rest = ended - read_at - planned - aside
    return Compile(read=read_at - started, plan=planned, emit=rest, floor=floored, megabytes=size)


def floor(path: str, text: str) -> float:
    """Seconds to serialise the same document with the C YAML dumper, or with json without indentation."""
    if path.endswith(".json"):
        document = json.loads(text)
        started = time.process_time()
        json.dumps(document)
    elif path.endswith((".yml", ".yaml")):
        document = yaml.load(text, Loader=yaml.CSafeLoader)
        started = time.process_time()
        yaml.dump(document, Dumper=yaml.CSafeDumper, sort_keys=False)
    else:
        return 0.0
    return time.process_time() - started


# other processes --------------------------------------------------------------------------------------------------


class Spent(NamedTuple):
    cpu: float
    wall: float


def process(*command: str, cwd: Path = ROOT) -> Spent:
    """Seconds of one child."""
    started = time.perf_counter()
    child = subprocess.Popen(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert child.stderr is not None
    said = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, (command, said.decode())
    return Spent(usage.ru_utime + usage.ru_stime, time.perf_counter() - started)


def beside(command: Sequence[str], yardstick: Sequence[str], runs: int, cwd: Path) -> tuple[float, float]:
    """Median CPU seconds of both, in turns, so that a busy moment hits both."""
    pairs = [(process(*command, cwd=cwd).cpu, process(*yardstick, cwd=cwd).cpu) for _ in range(runs + 1)]
    return statistics.median(a for a, _ in pairs[1:]), statistics.median(b for _, b in pairs[1:])


def laid_out(files: Files, folder: Path) -> None:
    for name, raw in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw)


def rebuilt(families: int) -> Iterator[tuple[str, Spent]]:
    """`longwatch build`: everything, nothing changed, one family changed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        laid_out(varied(families), folder)
        yield "everything", process(LONGWATCH, "build", cwd=folder)
        yield "nothing changed", process(LONGWATCH, "build", cwd=folder)
        one = sorted((folder / "policies" / "families").glob("*.yaml"))[families // 2]
        one.write_text(one.read_text().replace("stage: notify", "stage: page").replace("stage: shadow", "stage: page"))
        one.write_text(one.read_text().replace("title: ", "title: The other "))
        yield "one family changed", process(LONGWATCH, "build", cwd=folder)


# the report -------------------------------------------------------------------------------------------------------


def machine() -> str:
    model = next((x.split(":")[1].strip() for x in _lines("/proc/cpuinfo") if x.startswith("model name")), "")
    return f"{model or platform.machine()}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []


def table(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(lines) + "\n"


def compile_report(fleets: Sequence[int], runs: int) -> str:
    rows = [("families", "read ms", "plan ms", "emit ms", "sum ms", "floor ms", "ratio", "peak MiB", "output MB")]
    whole: dict[int, float] = {}
    for families in fleets:
        child = [sys.executable, __file__, "--one", str(families), "--runs", str(runs * 5 if families < 10 else runs)]
        done = subprocess.run(child, capture_output=True, text=True, check=True)
        one = Compile(*json.loads(done.stdout))
        each = [1000 * seconds / families for seconds in (one.read, one.plan, one.emit, one.whole, one.floor)]
        whole[families] = one.whole / families
        figures = [f"{ms:.1f}" for ms in each]
        rows.append((str(families), *figures, f"{one.ratio:.2f}", f"{one.memory:.0f}", f"{one.megabytes:.1f}"))
    most, some = fleets[-1], fleets[-2]
    linear = f"linearity: a family of {most} costs {whole[most] / whole[some]:.2f} × a family of {some}\n"
    return f"compile, CPU time for each family; ratio: sum / floor (aim ≤ 2)\n{table(rows)}{linear}"


def build_report(families: int) -> str:
    spent = dict(rebuilt(families))
    full = spent["everything"]
    rows = [("longwatch build", "CPU s", "wall s", "of everything")]
    rows += [(what, f"{s.cpu:.2f}", f"{s.wall:.2f}", f"{100 * s.cpu / full.cpu:.1f} %") for what, s in spent.items()]
    return f"{families} families through the command (aim: one changed ≤ 5 %)\n{table(rows)}"


def start_report(runs: int) -> str:
    rows = [("command", "ms", "beside it", "ms", "ratio", "aim")]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        laid_out([file for file in varied(1) if "clusters" not in file[0]], folder)
        for title, command, yardstick, aim in (
            ("longwatch check, one policy", (LONGWATCH, "check"), "import yaml, jsonschema", "≤ 2"),
            ("longwatch --help", (LONGWATCH, "--help"), "import click", "≤ 1.5"),
        ):
            ours, theirs = beside(command, (sys.executable, "-c", yardstick), runs, folder)
            rows.append((title, f"{1000 * ours:.0f}", yardstick, f"{1000 * theirs:.0f}", f"{ours / theirs:.2f}", aim))
    return f"starting\n{table(rows)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer families and runs")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--runs", type=int, default=3, help="runs of which the median is taken")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(compiled(options.one, options.runs)))
        return
    fleets, runs = (QUICK_FLEETS, 1) if options.quick else (FLEETS, options.runs)
    print(machine(), flush=True)
    print("\n" + start_report(3 if options.quick else 15), flush=True)
    print(compile_report(fleets, runs), flush=True)
    print(build_report(fleets[-1]), flush=True)


def test_the_figures_can_be_measured() -> None:
    """For `make bench`. In a process of its own: pytest would be part of the memory and of the imports."""
    subprocess.run([sys.executable, __file__], check=True)


if __name__ == "__main__":
    main()
