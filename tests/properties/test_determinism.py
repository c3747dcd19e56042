"""The same policies give the same bytes: in every process, and whatever people change that means nothing."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

Files = Mapping[str, bytes]
Compile = Callable[[Files], dict[str, str]]

ROOT = Path(__file__).parents[2]
DIGESTS = """
import hashlib, json
from longwatch.compiler import compile_policies
from longwatch.load.source_tree import find_policies
made = compile_policies(find_policies("policies")[0])
print(json.dumps({a.path: hashlib.sha256(a.text.encode()).hexdigest() for a in made.artifacts}))
"""
FAMILIES = [
    "policies/families/llm-pretraining.yaml",
    "policies/families/llm-rl-posttraining.yaml",
    "policies/families/recsys-ranking.yaml",
]
ORDERED = ("add", "pauses", "points", "select", "series", "when")
SLOW = settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def digests(seed: str) -> dict[str, str]:
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    command = [sys.executable, "-c", DIGESTS]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout)
    return found


def test_two_processes_with_different_hash_seeds_write_the_same_bytes() -> None:
    assert digests("1") == digests("4242")


def test_the_order_of_the_files_does_not_matter(policies: Files, compiled: Compile) -> None:
    assert compiled(dict(reversed(policies.items()))) == compiled(policies)


def test_a_second_compile_in_one_process_writes_the_same_bytes(policies: Files, compiled: Compile) -> None:
    again = {**policies, "policies/organisation.yaml": policies["policies/organisation.yaml"] + b"\n"}
    assert compiled(again) == compiled(policies)


@pytest.mark.parametrize("file", ["policies/organisation.yaml", "policies/clusters/h100-pod.yaml", *FAMILIES])
@given(data=st.data())
@SLOW
def test_a_comment_or_a_blank_line_changes_no_byte(
    policies: Files, compiled: Compile, file: str, data: st.DataObject
) -> None:
    lines = policies[file].decode().splitlines(keepends=True)
    for _ in range(data.draw(st.integers(1, 4))):
        lines.insert(data.draw(st.integers(0, len(lines))), data.draw(st.sampled_from(["# why\n", "\n", "  # é\n"])))
    assert compiled({**policies, file: "".join(lines).encode()}) == compiled(policies)


@pytest.mark.parametrize("file", ["policies/clusters/h100-pod.yaml", *FAMILIES])
@given(seed=st.integers(0, 2**32))
@SLOW
def test_the_order_of_keys_changes_no_byte(policies: Files, compiled: Compile, file: str, seed: int) -> None:
    """Labels, pauses, added alerts and the points of a curve have an order; all other keys are only names."""
    value = yaml.safe_load(policies[file])
    shuffled = yaml.safe_dump(reordered(value, random.Random(seed)), sort_keys=False).encode()
    assert compiled({**policies, file: shuffled}) == compiled(policies)


def reordered(value: Any, chance: random.Random, ordered: bool = False) -> Any:
    if isinstance(value, list):
        return [reordered(item, chance) for item in value]
    if not isinstance(value, dict):
        return value
    items = list(value.items())
    if not ordered:
        chance.shuffle(items)
    return {key: reordered(item, chance, key in ORDERED) for key, item in items}
