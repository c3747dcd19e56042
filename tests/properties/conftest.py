"""What the properties share: the sample policies, and a compile that ends with the bytes of each artifact."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from longwatch.compiler import compile_policies

POLICIES = Path(__file__).parents[2] / "policies"
Files = Mapping[str, bytes]
Compile = Callable[[Files], dict[str, str]]


@pytest.fixture(scope="session")
def policies() -> Files:
    """The real policies of this repository, by their names."""
    found = sorted(POLICIES.rglob("*.yaml"))
    return {f"policies/{path.relative_to(POLICIES).as_posix()}": path.read_bytes() for path in found}


@pytest.fixture(scope="session")
def compiled() -> Compile:
    """Policies → path of an artifact → its text. The same policies are compiled once."""
    known: dict[Sequence[tuple[str, bytes]], dict[str, str]] = {}

    def run(files: Files) -> dict[str, str]:
        key = tuple(files.items())
        if key not in known:
            made = compile_policies(key)
            assert made.ok, [f"{d.code}: {d.message}" for d in made.diagnostics]
            known[key] = {artifact.path: artifact.text for artifact in made.artifacts}
        return known[key]

    return run
