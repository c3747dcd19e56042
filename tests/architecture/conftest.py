"""What the tests of the architecture share: the plans of the sample policies."""

from __future__ import annotations

from pathlib import Path

import pytest

from longwatch.compiler import plan, read
from longwatch.ir.model import Fleet
from longwatch.load.source_tree import find_policies

POLICIES = Path(__file__).parents[2] / "policies"


@pytest.fixture(scope="session")
def fleet() -> Fleet:
    files, _ = find_policies(str(POLICIES))
    policy = read(files).policy
    assert policy is not None
    return plan(policy)
