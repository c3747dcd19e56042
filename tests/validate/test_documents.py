"""What validate/ promises beyond its diagnostics, which tests/diagnostics shows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from longwatch.diagnostics import Diagnostic
from longwatch.plugins.front import detectors
from longwatch.validate.documents import validate
from longwatch.validate.spelling import as_percent, respelled

ROOT = Path(__file__).parent.parent.parent
PARAMETERS = {name: detector.parameters for name, detector in detectors().items()}


def problems(*files: tuple[str, object]) -> tuple[Diagnostic, ...]:
    return validate(files, PARAMETERS)[1]


@pytest.mark.parametrize("value", [None, 5, "text", [], [1]])
def test_a_file_that_is_no_mapping_is_refused(value: object) -> None:
    found = problems(("a.yaml", value))
    assert [d.code for d in found] == ["wrong-type", "no-organisation"]


def test_a_directory_without_an_organisation_is_told_so_once() -> None:
    assert [d.code for d in problems()] == ["no-organisation"]
    assert [d.code for d in problems(("a.yaml", {"kind": "Cluster"}), ("b.yaml", {"kind": "Cluster"}))].count(
        "no-organisation"
    ) == 1


def test_an_organisation_with_faults_is_not_called_missing() -> None:
    codes = {d.code for d in problems(("organisation.yaml", {"kind": "Organisation"}))}
    assert codes == {"missing-key"}


@pytest.mark.parametrize(
    ("written", "kind", "meant"),
    [
        ("40 min", "duration", "40m"),
        ("90 Seconds", "duration", "90s"),
        ("1 h 30 min", "duration", "1h30m"),
        ("2 days", "duration", "2d"),
        ("5x", "duration", None),
        ("97%", "duration", None),
        ("97 %", "percentage", "97%"),
        ("97 percent", "percentage", "97%"),
        ("10 gb", "threshold", "10GB"),
        ("10GIB", "threshold", "10GiB"),
        ("97 %", "threshold", "97%"),
        ("30 min", "threshold", "30m"),
        ("many", "threshold", None),
    ],
)
def test_a_misspelt_unit_is_guessed(written: str, kind: str, meant: str | None) -> None:
    assert respelled(written, kind) == meant  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "meant"), [(0.1, "10%"), (1.3, "130%"), (0.003, "0.3%"), (97, "97%, or 9700% if 97 is a ratio")]
)
def test_a_number_is_spelt_as_a_percentage(value: float, meant: str) -> None:
    assert as_percent(value) == meant


def test_healthy_policies_load_no_json_schema_library() -> None:
    code = (
        "import sys; from pathlib import Path; from longwatch.compiler import read;"
        "front = read([(str(p), p.read_bytes()) for p in Path(sys.argv[1]).glob('*.yaml')]); assert front.ok;"
        "sys.exit(any(m in sys.modules for m in ('jsonschema', 'jsonschema_rs', 'longwatch.schema.published')))"
    )
    base = ROOT / "tests" / "diagnostics" / "_base"
    assert subprocess.run([sys.executable, "-c", code, str(base)], check=False).returncode == 0
