"""What several rooms of tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from longwatch.diagnostics import Trouble
from longwatch.tools.toolbox import KINDS, Toolbox, require

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def tools() -> Toolbox:
    """The real promtool, amtool, prometheus and alertmanager. Without them the tests prove nothing, so they fail."""
    try:
        return require(KINDS, environment=os.environ, tools_dir=ROOT / ".tools")
    except Trouble as trouble:
        missing = "\n".join(f"{problem.message}\n  {problem.help}" for problem in trouble.diagnostics)
        pytest.fail(f"These tests run the real tools; `.ci/fetch-tools` fetches them.\n{missing}", pytrace=False)
