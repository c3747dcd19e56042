"""The schema that editors read beside the sample policies is the one that the validator is made from."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

POLICIES = Path(__file__).parents[2] / "policies"


def test_it_is_fresh() -> None:
    printed = subprocess.run([sys.executable, "-m", "longwatch", "schema"], capture_output=True, text=True, check=True)
    assert (POLICIES / "longwatch.schema.json").read_text() == printed.stdout, "run `make golden`"


@pytest.mark.parametrize("policy", sorted(POLICIES.rglob("*.yaml")), ids=lambda path: path.stem)
def test_each_sample_names_it_for_editors(policy: Path) -> None:
    first = policy.read_text().splitlines()[0]
    assert first.startswith("# yaml-language-server: $schema=")
    assert (policy.parent / first.split("=")[1]).resolve() == POLICIES / "longwatch.schema.json"
