"""What the stories share: the compiled sample policies, and the engine that plays series against them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from compiling import POLICIES, compiled, policy_files
from playback import Player

from longwatch.compiler import Compiled
from longwatch.tools.toolbox import Toolbox


@pytest.fixture(scope="session")
def sample_files() -> list[tuple[str, bytes]]:
    """The real policies of this repository."""
    return policy_files(POLICIES)


@pytest.fixture(scope="session")
def sample(sample_files: Sequence[tuple[str, bytes]]) -> Compiled:
    """The real policies, compiled in memory."""
    return compiled(sample_files)


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
