"""A build with the cache gives the same bytes as one without, whatever was edited or damaged in between."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.cli.conftest import CLUSTER, FAMILY, ORGANISATION, Longwatch, contents

from longwatch.cli import cache
from longwatch.cli.main import run
from longwatch.compiler import compile_policies, judge, plan_subject
from longwatch.load.source_tree import find_policies
from longwatch.lower.fleet import summary
from longwatch.plugins.back import fleet_checks
from longwatch.policy.model import Cluster, Family, Organisation

ROOT = Path(__file__).parent.parent.parent
CACHE = Path(".longwatch/cache")
Edit: TypeAlias = Callable[[], object]


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the families and clusters that are really compiled."""
    names: list[str] = []

    def spy(organisation: Organisation, subject: Family | Cluster) -> object:
        names.append(subject.name)
        return plan_subject(organisation, subject)

    monkeypatch.setattr(cache, "plan_subject", spy)
    return names


def replace(path: str, old: str, new: str) -> None:
    file = Path(path)
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def built(planned: list[str], line: str = "build") -> list[str]:
    planned.clear()
    assert run(line.split()) == 0
    return sorted(planned)


def test_only_what_changed_is_compiled(repository: Path, planned: list[str]) -> None:
    assert built(planned) == ["gpt", "pod"]
    assert built(planned) == []
    replace("policies/families/gpt.yaml", "step_time: 5s", "step_time: 6s")
    assert built(planned) == ["gpt"]
    assert built(planned) == []


def test_the_organisation_concerns_everything(repository: Path, planned: list[str]) -> None:
    built(planned)
    replace("policies/organisation.yaml", "title: Models", "title: Modellers")
    assert built(planned) == ["gpt", "pod"]


def test_a_profile_of_ones_own_concerns_everything(repository: Path, planned: list[str]) -> None:
    profile = """\
apiVersion: longwatch/v1
kind: Exporter
profile:
  name: house
  title: Ours
  metrics: {loss: [{name: house_loss, type: gauge, source: tests of this project}]}
"""
    built(planned)
    Path("policies/house.yaml").write_text(profile)
    assert built(planned) == ["gpt", "pod"]


def test_other_code_concerns_everything(repository: Path, planned: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    built(planned)
    monkeypatch.setattr(cache, "_code", lambda: b"another version")
    assert built(planned) == ["gpt", "pod"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:-1]),
        lambda path: path.write_bytes(path.read_bytes()[:50] + b"\0" + path.read_bytes()[51:]),
        lambda path: path.write_bytes(b"not a cache at all"),
        lambda path: path.unlink(),
        lambda path: (path.unlink(), path.mkdir()),
    ],
    ids=["empty", "cut", "a byte changed", "foreign", "gone", "a folder"],
)
def test_a_damaged_entry_is_no_entry(repository: Path, planned: list[str], damage: Callable[[Path], object]) -> None:
    built(planned)
    before = contents(Path("out"))
    damage(CACHE / "family-gpt")
    assert built(planned) == ["gpt"]
    assert contents(Path("out")) == before


@pytest.mark.parametrize(
    "damage", [lambda path: path.unlink(), lambda path: path.write_text("edited")], ids=["gone", "edited"]
)
def test_a_damaged_artifact_is_compiled_again(
    repository: Path, planned: list[str], damage: Callable[[Path], object]
) -> None:
    built(planned)
    before = contents(Path("out"))
    damage(Path("out/prometheus/families/gpt.rules.yml"))
    assert built(planned) == ["gpt"]
    assert contents(Path("out")) == before


def test_another_output_is_compiled_for_itself(repository: Path, planned: list[str]) -> None:
    built(planned)
    assert built(planned, "build --out elsewhere") == ["gpt", "pod"]
    assert contents(Path("out")) == contents(Path("elsewhere"))


def test_judgements_on_the_whole_still_fall(repository: Path, planned: list[str], longwatch: Longwatch) -> None:
    built(planned)
    Path("policies/families/twin.yaml").write_text(FAMILY)
    ended = longwatch("build")
    assert ended.code == 1
    assert "gpt" in ended.err


def test_fleet_checks_and_routes_judge_an_outline_like_the_whole(repository: Path) -> None:
    compiled = compile_policies(find_policies(str(ROOT / "policies"))[0])
    assert compiled.fleet is not None
    fleet = compiled.fleet
    outlines = msgspec.structs.replace(fleet, plans=tuple(cache.outline(plan) for plan in fleet.plans))
    assert judge(outlines) == judge(fleet) != ()
    assert [summary(plan) for plan in outlines.plans] == [summary(plan) for plan in fleet.plans]


@pytest.mark.parametrize("module", sorted(fleet_checks()))
def test_no_fleet_check_reads_what_an_outline_lacks(module: str) -> None:
    text = (ROOT / f"generator/longwatch/fleet_checks/{module}.py").read_text()
    assert not re.search(r"\.(panels|series|firing|silences|manuals)\b", text), (
        "the cache of `longwatch build` does not keep it (cli/cache.py)"
    )


def test_what_is_gone_is_forgotten(repository: Path, planned: list[str]) -> None:
    built(planned)
    assert {path.name for path in CACHE.iterdir()} == {"family-gpt", "cluster-pod"}
    Path("policies/clusters/pod.yaml").unlink()
    built(planned)
    assert {path.name for path in CACHE.iterdir()} == {"family-gpt"}


def test_git_does_not_see_it(repository: Path, planned: list[str]) -> None:
    built(planned)
    assert Path(".longwatch/.gitignore").read_text() == "*\n"


def test_a_place_that_cannot_be_written_only_costs_time(repository: Path, planned: list[str]) -> None:
    Path(".longwatch").write_text("in the way")
    assert built(planned) == ["gpt", "pod"]
    assert built(planned) == ["gpt", "pod"]


def test_no_draft_is_left_behind(repository: Path, planned: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    (CACHE / "family-gpt" / "in the way").mkdir(parents=True)
    assert built(planned) == ["gpt", "pod"]
    assert [path.name for path in CACHE.iterdir()] == ["family-gpt"]


# Whatever happens between two builds -----------------------------------------------------------------------------------

NAMES = st.sampled_from(["gpt", "bert", "ranker"])


def _family(name: str) -> Path:
    return Path(f"policies/families/{name}.yaml")


def _write(name: str, stage: str, title: str, packs: str) -> None:
    text = FAMILY.replace("name: gpt", f"name: {name}").replace("title: GPT", f"title: {title}")
    _family(name).write_text(text.replace("stage: page", f"stage: {stage}").replace("[loss]", packs))


def _rename(old: str, new: str) -> None:
    if _family(old).exists() and not _family(new).exists():
        text = _family(old).read_text().replace(f"name: {old}", f"name: {new}")
        _family(old).unlink()
        _family(new).write_text(text)


def _damage(folder: str, index: int) -> None:
    """Not the manifest: without it nobody knows which files were ours, so what is gone would stay."""
    every = Path(folder).rglob("*") if Path(folder).exists() else ()
    files = sorted(path for path in every if path.is_file() and path.name != "manifest.json")
    if files:
        files[index % len(files)].write_bytes(b"damaged")


EDITS = st.one_of(
    st.builds(
        lambda n, s, t, p: lambda: _write(n, s, t, p),
        NAMES,
        st.sampled_from(["shadow", "notify", "page"]),
        st.sampled_from(["GPT", "Größer"]),
        st.sampled_from(["[loss]", "[]", "[loss, optimisation]"]),
    ),
    st.builds(lambda n: lambda: _family(n).unlink(missing_ok=True), NAMES),
    st.builds(lambda a, b: lambda: _rename(a, b), NAMES, NAMES),
    st.builds(
        lambda title: (
            lambda: Path("policies/organisation.yaml").write_text(
                ORGANISATION.replace("title: Models", f"title: {title}")
            )
        ),
        st.sampled_from(["Models", "Modellers"]),
    ),
    st.builds(lambda n: lambda: _damage(".longwatch", n), st.integers(0, 9)),
    st.builds(lambda n: lambda: _damage("out", n), st.integers(0, 30)),
    st.builds(lambda n: lambda: run(["build", "--family", n]), NAMES),
)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edits=st.lists(st.lists(EDITS, min_size=1, max_size=3), min_size=1, max_size=4))
def test_the_bytes_are_those_of_a_build_without_cache(edits: list[list[Edit]]) -> None:
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        try:
            os.chdir(folder)
            for path, text in {"organisation": ORGANISATION, "clusters/pod": CLUSTER, "families/gpt": FAMILY}.items():
                file = Path(f"policies/{path}.yaml")
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            assert run(["build"]) == 0
            for some in edits:
                for edit in some:
                    edit()
                assert run(["build"]) == 0
                compiled = compile_policies(find_policies("policies")[0])
                assert contents(Path("out")) == {a.path: a.text.encode() for a in compiled.artifacts}
        finally:
            os.chdir(here)
