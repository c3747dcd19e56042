"""Help is fast, complete, and ends with an example that works."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Longwatch

from longwatch.cli.main import VERBS
from longwatch.tools.toolbox import Toolbox

POLICIES = Path(__file__).parent.parent.parent / "policies"


def examples(text: str) -> list[str]:
    return re.findall(r"Example: longwatch (.+)", text)


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_ends_with_an_example(longwatch: Longwatch, verb: str) -> None:
    lines = longwatch(f"{verb} --help").out.rstrip().splitlines()
    [example] = examples(lines[-1])
    assert example.startswith(verb)


def test_the_examples_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, longwatch: Longwatch, tools: Toolbox
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("promtool", "amtool", "prometheus", "alertmanager"):
        monkeypatch.setenv(name.upper(), tools[name].path)
    shutil.copytree(POLICIES, tmp_path / "policies")
    assert longwatch("build").code == 0
    for verb in VERBS:
        [example] = examples(longwatch(f"{verb} --help").out)
        ended = longwatch(example)
        assert ended.code == 0, f"longwatch {example}: {ended.err}"


def test_the_group_lists_each_verb_with_its_help(longwatch: Longwatch) -> None:
    shown = longwatch("--help").out
    for verb, help in VERBS.items():
        assert re.search(rf"^  {verb} +{re.escape(help)}$", shown, re.MULTILINE)


def test_the_short_help_says_what_the_verb_says(longwatch: Longwatch) -> None:
    """The table repeats it, so that nothing is imported; here both are at least about the same."""
    for verb, help in VERBS.items():
        first = help.split()[0].lower()
        assert first in longwatch(f"{verb} --help").out.lower()


@pytest.mark.parametrize("line", ["--help", "--version", "nonsense"])
def test_help_imports_no_verb(line: str) -> None:
    program = (
        "import sys\nfrom longwatch.cli.main import run\n"
        f"run([{line!r}])\n"
        "print(*sorted(m for m in sys.modules if m.startswith(('longwatch', 'msgspec', 'yaml'))), sep='\\n', file=sys.stderr)"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = {line for line in result.stderr.splitlines() if re.fullmatch(r"(longwatch|msgspec|yaml)[\w.]*", line)}
    assert loaded <= {"longwatch", "longwatch.cli", "longwatch.cli.main", "longwatch.suggest"}
