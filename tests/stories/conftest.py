"""What the stories share: the compiled sample policies, and the engine that plays series against them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from playback import Player

from longwatch.compiler import Compiled, compile_policies
from longwatch.tools.toolbox import Toolbox

POLICIES = Path(__file__).parents[2] / "policies"


def policy_files(folder: Path) -> list[tuple[str, bytes]]:
    return [(str(path.relative_to(folder)), path.read_bytes()) for path in sorted(folder.rglob("*.yaml"))]


@pytest.fixture(scope="session")
def sample_files() -> list[tuple[str, bytes]]:
    """The real policies of this repository."""
    return policy_files(POLICIES)


@pytest.fixture(scope="session")
def sample(sample_files: Sequence[tuple[str, bytes]]) -> Compiled:
    """The real policies, compiled in memory."""
    return compiled(sample_files)


def compiled(files: Sequence[tuple[str, bytes]]) -> Compiled:
    made = compile_policies(files)
    assert made.ok, "\n".join(f"{d.code}: {d.message}" for d in made.diagnostics)
    return made


def rules_of(made: Compiled, subject: str) -> str:
    """The rule file of a family or cluster."""
    [text] = [a.text for a in made.artifacts if a.subject == subject and a.path.endswith(".rules.yml")]
    return text


@pytest.fixture(scope="session")
def rules(sample: Compiled) -> dict[str, str]:
    """Family or cluster → its rule file."""
    return {a.subject: a.text for a in sample.artifacts if a.path.endswith(".rules.yml")}


@pytest.fixture(scope="session")
def player(tools: Toolbox, tmp_path_factory: pytest.TempPathFactory) -> Player:
    base = tmp_path_factory.getbasetemp()
    memory = (base.parent if base.name.startswith("popen-") else base) / "stories"
    memory.mkdir(exist_ok=True)
    return Player(promtool=tools["promtool"].path, environment=tools.environment, memory=memory)
