"""A family is compiled alone: another one that comes, goes or changes leaves its files as they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

Files = Mapping[str, bytes]
Compile = Callable[[Files], dict[str, str]]

SAMPLES = ("llm-pretraining", "llm-rl-posttraining", "recsys-ranking")
SHARED = ("alertmanager/", "alloy/", "logs/", "manifest.json")
SLOW = settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def file_of(name: str) -> str:
    return f"policies/families/{name}.yaml"


def of_the_subjects(artifacts: Mapping[str, str]) -> dict[str, str]:
    """Without what describes the whole organisation."""
    return {path: text for path, text in artifacts.items() if not path.startswith(SHARED)}


def named(policy: bytes, old: str, new: str) -> bytes:
    """A copy of a family under another name, with its own label."""
    text = policy.decode().replace(f"name: {old}\n", f"name: {new}\n")
    return text.replace("runs:\n  select: {", f"runs:\n  select: {{copy: {new}, ").encode()


@pytest.mark.parametrize("sample", SAMPLES)
@given(name=st.from_regex(r"[a-z][a-z0-9]{2,12}", fullmatch=True))
@SLOW
def test_a_family_that_comes_changes_no_file_of_another(
    policies: Files, compiled: Compile, sample: str, name: str
) -> None:
    more = {**policies, file_of(name): named(policies[file_of(sample)], sample, name)}
    before = of_the_subjects(compiled(policies))
    after = of_the_subjects(compiled(more))
    assert {path: after.get(path) for path in before} == before


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_family_that_comes_brings_only_files_of_its_own(policies: Files, compiled: Compile, sample: str) -> None:
    more = {**policies, file_of("newcomer"): named(policies[file_of(sample)], sample, "newcomer")}
    new = set(of_the_subjects(compiled(more))) - set(compiled(policies))
    assert new
    assert all(path.split("/")[-1].startswith("newcomer.") for path in new)


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_family_that_goes_takes_only_its_own_files(policies: Files, compiled: Compile, sample: str) -> None:
    less = {file: raw for file, raw in policies.items() if file != file_of(sample)}
    before, after = of_the_subjects(compiled(policies)), of_the_subjects(compiled(less))
    own = {path for path in before if path.split("/")[-1].startswith(f"{sample}.")}
    assert after == {path: text for path, text in before.items() if path not in own}


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_changed_family_changes_only_its_own_files(policies: Files, compiled: Compile, sample: str) -> None:
    title = policies[file_of(sample)].replace(b"title: ", b"title: The new ", 1)
    before = of_the_subjects(compiled(policies))
    after = of_the_subjects(compiled({**policies, file_of(sample): title}))
    changed = {path for path in before if before[path] != after[path]}
    assert changed
    assert all(path.split("/")[-1].startswith(f"{sample}.") for path in changed)
