"""Every bad policy in this folder gets exactly the diagnostics that it announces.

A case is a file `<code>.yaml`, or a folder `<code>/` that is a whole directory of policies; `<code>--<variant>` when
one code needs several. The expectation is a comment above the bad line:

    # expect: error[duplicate-key] 5:3        this line and column
    # expect: error[duplicate-key]            the next line that is no expectation, any column

Where a comment is impossible, the same lines without `# expect:` stand in `<file>.expect` beside the file.

A case that begins with `# base: family` (or cluster, organisation, exporter) writes only the top-level keys in which it
differs from the healthy policy of that kind in `_base/`; the other keys, and the other policies, come from there.
`# without: owner` leaves keys out. Such a case runs through the whole front end; one without a base is judged by the
loader alone.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from longwatch.compiler import read
from longwatch.diagnostics import Diagnostic, Severity
from longwatch.load.source_tree import find_policies
from longwatch.load.yaml_source import read_text

HERE = Path(__file__).parent
BASE = HERE / "_base"
ROOT = HERE.parent.parent
POLICIES = ROOT / "policies"
CHECKS = ROOT / "generator" / "longwatch" / "checks"
DIRECTIVE = re.compile(r"^# (base|without): (.+)$", re.MULTILINE)
TOP_LEVEL_KEY = re.compile(r"^(\w+):")
CASES = sorted(p for p in HERE.iterdir() if p.suffix == ".yaml" or (p.is_dir() and not p.name.startswith(("_", "."))))
EXPECTATION = re.compile(
    r"(?P<severity>error|warning|note)\[(?P<code>[a-z0-9-]+)\](?: (?P<line>\d+)(?::(?P<column>\d+))?)?"
)


def diagnose(path: Path) -> tuple[Diagnostic, ...]:
    """All that the front end says about a file or a directory of policies."""
    if path.is_dir():
        sources, problems = find_policies(str(path))
    else:
        sources, problems = ((str(path), path.read_bytes()),), ()
    bases = [directives(raw).get("base") for _, raw in sources]
    if not any(bases):
        for file, raw in sources:
            problems += read_text(file, raw)[1]
        return problems
    case = tuple((file, composed(raw)) for file, raw in sources)
    around = ("organisation",) if path.is_dir() else ("organisation", "cluster", "family")
    rest = ((str(BASE / f"{kind}.yaml"), base(kind)) for kind in around if kind not in bases)
    return problems + read((*rest, *case)).diagnostics


def base(kind: str) -> bytes:
    return (BASE / f"{kind}.yaml").read_bytes()


def directives(raw: bytes) -> dict[str, str]:
    return dict(DIRECTIVE.findall(raw.decode("utf-8", "replace")))


def composed(raw: bytes) -> bytes:
    """The case, followed by the top-level keys of its base that it does not write itself: its lines keep their numbers."""
    said = directives(raw)
    text = raw.decode()
    taken = {match[1] for line in text.splitlines() if (match := TOP_LEVEL_KEY.match(line))}
    taken |= set(said.get("without", "").split(", "))
    key = ""
    for line in base(said["base"]).decode().splitlines():
        key = match[1] if (match := TOP_LEVEL_KEY.match(line)) else key
        if key not in taken:
            text += f"{line}\n"
    return text.encode()


class Finding(NamedTuple):
    file: str
    line: int
    column: int
    rule: str


def files_of(case: Path) -> list[Path]:
    return [case] if case.is_file() else sorted(case.rglob("*.y*ml"))


def shown(file: str | Path) -> str:
    """A path below this folder, with forward slashes."""
    return Path(file).relative_to(HERE).as_posix()


def expectations(path: Path) -> list[Finding]:
    """A column of 0 stands for any."""
    lines = path.read_bytes().decode("utf-8", "replace").splitlines()
    comments = [(number, line.split("# expect: ")[1]) for number, line in enumerate(lines, 1) if "# expect: " in line]
    beside = path.with_name(f"{path.name}.expect")
    if beside.exists():
        comments += [(0, line) for line in beside.read_text("utf-8").splitlines() if line]
    found = []
    for number, text in comments:
        match = EXPECTATION.fullmatch(text.strip())
        assert match, f"{path.name}:{number}: not an expectation: {text}"
        below = next(
            (later for later in range(number + 1, len(lines) + 1) if "# expect: " not in lines[later - 1]), number + 1
        )
        rule = f"{match['severity']}[{match['code']}]"
        found.append(Finding(shown(path), int(match["line"] or below), int(match["column"] or 0), rule))
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_bad_policy_gets_exactly_the_diagnostics_that_it_announces(case: Path) -> None:
    expected = sorted(finding for file in files_of(case) for finding in expectations(file))
    free = {(finding.file, finding.line, finding.rule) for finding in expected if not finding.column}
    found = []
    for diagnostic in diagnose(case):
        assert diagnostic.span, f"{diagnostic.code} points nowhere"
        file, line = shown(diagnostic.span.file), diagnostic.span.line
        rule = f"{diagnostic.severity.value}[{diagnostic.code}]"
        found.append(Finding(file, line, 0 if (file, line, rule) in free else diagnostic.span.column, rule))
    assert sorted(found) == expected


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_is_named_after_a_code_that_it_expects(case: Path) -> None:
    codes = {finding.rule.split("[")[1][:-1] for file in files_of(case) for finding in expectations(file)}
    assert case.stem.split("--")[0] in codes


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_diagnostic_says_what_to_do(case: Path) -> None:
    assert [diagnostic.code for diagnostic in diagnose(case) if not diagnostic.help] == []


def test_every_diagnostic_says_what_is_wrong() -> None:
    found = [diagnostic for case in CASES for diagnostic in diagnose(case)]
    assert [d.code for d in found if not d.message or d.message[-1] in ".!" or "\n" in d.message] == []


def test_the_healthy_base_has_no_finding() -> None:
    assert read(tuple((str(p), p.read_bytes()) for p in sorted(BASE.glob("*.yaml")))).diagnostics == ()


def test_a_file_with_many_faults_reports_all_of_them_in_one_run() -> None:
    codes = [diagnostic.code for diagnostic in diagnose(HERE / "unknown-key--many-faults.yaml")]
    assert len(codes) > 20
    assert len(set(codes)) >= 10


def test_faults_of_all_files_are_reported_in_one_run() -> None:
    files = {case.name: case for case in CASES}
    broken = [files["wrong-type.yaml"], files["not-allowed--cluster.yaml"], files["missing-key--organisation.yaml"]]
    found = read(tuple((str(case), composed(case.read_bytes())) for case in broken)).diagnostics
    assert {diagnostic.span.file for diagnostic in found if diagnostic.span} == {str(case) for case in broken}


def test_the_sample_policies_are_free_of_errors_and_warnings() -> None:
    sources, problems = find_policies(str(POLICIES))
    found = (*problems, *read(sources).diagnostics)
    assert [d.message for d in found if d.severity is not Severity.NOTE] == []


def test_every_check_has_a_case() -> None:
    """A check that nothing provokes may as well be dead."""
    names = {path.stem.replace("_", "-") for path in CHECKS.glob("*.py") if path.stem != "__init__"}
    assert names - {case.stem.split("--")[0] for case in CASES} == set()


@pytest.mark.parametrize("module", sorted(CHECKS.glob("[a-z]*.py")), ids=lambda module: module.stem)
def test_every_check_carries_its_manual(module: Path) -> None:
    manual = ast.get_docstring(ast.parse(module.read_text())) or ""
    assert [part for part in ("What: ", "Why: ", "What to do: ") if f"\n{part}" not in manual] == []
