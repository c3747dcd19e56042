"""Every bad policy in this folder gets exactly the diagnostics that it announces.

A case is a file `<code>.yaml`, or a folder `<code>/` that is a whole directory of policies; `<code>--<variant>` when
one code needs several. The expectation is a comment above the bad line:

    # expect: error[duplicate-key] 5:3        this line and column
    # expect: error[duplicate-key]            the next line that is no expectation, any column

Where a comment is impossible, the same lines without `# expect:` stand in `<file>.expect` beside the file.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from longwatch.diagnostics import Diagnostic
from longwatch.load.source_tree import find_policies
from longwatch.load.yaml_source import read_text

HERE = Path(__file__).parent
CASES = sorted(p for p in HERE.iterdir() if p.suffix == ".yaml" or (p.is_dir() and not p.name.startswith(("_", "."))))
EXPECTATION = re.compile(
    r"(?P<severity>error|warning|note)\[(?P<code>[a-z0-9-]+)\](?: (?P<line>\d+)(?::(?P<column>\d+))?)?"
)


def diagnose(path: Path) -> tuple[Diagnostic, ...]:
    """All that the front end says about a file or a directory of policies. The one place to swap the front end."""
    if path.is_dir():
        sources, problems = find_policies(str(path))
    else:
        sources, problems = ((str(path), path.read_bytes()),), ()
    for file, raw in sources:
        problems += read_text(file, raw)[1]
    return problems


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
