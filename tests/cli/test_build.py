"""What build does to out/: all of it, a part of it, or nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import FAMILY, ORGANISATION, Longwatch, contents

from longwatch.compiler import compile_policies
from longwatch.load.source_tree import find_policies


def expected() -> dict[str, bytes]:
    """What the policies compile to, without the command line."""
    compiled = compile_policies(find_policies("policies")[0])
    assert compiled.ok, compiled.diagnostics
    return {artifact.path: artifact.text.encode() for artifact in compiled.artifacts}


def add_family(name: str, stage: str = "page") -> Path:
    path = Path(f"policies/families/{name}.yaml")
    path.write_text(FAMILY.replace("name: gpt", f"name: {name}").replace("stage: page", f"stage: {stage}"))
    return path


def test_out_is_what_the_policies_compile_to(repository: Path, longwatch: Longwatch) -> None:
    ended = longwatch("build")
    assert contents(Path("out")) == expected()
    for word in ("gpt", "pod", "recorded series/run", "raw series/run", "pages/run", "Wrote"):
        assert word in ended.err


def test_the_output_does_not_depend_on_how_the_policies_are_called(
    repository: Path, longwatch: Longwatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert longwatch("build --out a").code == 0
    assert longwatch(f"build --out b --policies {repository}/policies").code == 0
    assert longwatch("build --out c --policies ./policies/").code == 0
    monkeypatch.chdir(repository / "policies")
    assert longwatch("build --out ../d --policies .").code == 0
    assert contents(repository / "a") == contents(repository / "b") == contents(repository / "c")
    assert contents(repository / "a") == contents(repository / "d")


def test_a_finding_is_placed_where_the_user_looks(
    repository: Path, longwatch: Longwatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_family("bad").write_text(FAMILY.replace("owner: models", "owner: nobody"))
    assert (
        f"{repository}/policies/families/bad.yaml:5:8: error"
        in longwatch(f"check --policies {repository}/policies").err
    )
    monkeypatch.chdir(repository / "policies")
    assert "\nfamilies/bad.yaml:5:8: error" in "\n" + longwatch("check --policies .").err


def test_check_names_each_difference_and_what_to_do(repository: Path, longwatch: Longwatch) -> None:
    old = add_family("old")
    longwatch("build")
    old.unlink()
    Path("out/grafana/families/gpt.json").write_text("{}")
    Path("out/prometheus/families/gpt.rules.yml").unlink()
    before = contents(Path("out"))
    ended = longwatch("build --check")
    assert ended.code == 4
    assert "out/grafana/families/gpt.json: error[out-of-date]: is not what the policies compile to" in ended.err
    assert "out/prometheus/families/gpt.rules.yml: error[out-of-date]: is missing" in ended.err
    assert "out/prometheus/families/old.rules.yml: error[out-of-date]: is left over" in ended.err
    assert "run `longwatch build`" in ended.err
    assert contents(Path("out")) == before
    document = json.loads(longwatch("build --check --format json").out)
    assert ["grafana/families/gpt.json", "different"] in document["outcome"]["drift"]
    assert "::error file=out/grafana/families/gpt.json" in longwatch("build --check --format github").out


def test_check_trusts_no_cache(repository: Path, longwatch: Longwatch) -> None:
    longwatch("build")
    for entry in Path(".longwatch/cache").iterdir():
        assert entry.name in ("family-gpt", "cluster-pod")
    Path("out/manifest.json").write_text("{}")
    assert longwatch("build --check").code == 4


@pytest.mark.parametrize("fault", ["owner: nobody", "owner: [", "onwer: models"])
def test_an_error_leaves_out_whole(repository: Path, longwatch: Longwatch, fault: str) -> None:
    longwatch("build")
    before = contents(Path("out"))
    add_family("bad").write_text(FAMILY.replace("owner: models", fault))
    assert longwatch("build").code == 1
    assert contents(Path("out")) == before


def test_a_failure_half_way_leaves_out_whole(
    repository: Path, longwatch: Longwatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    longwatch("build")
    before = contents(Path("out"))
    add_family("new")
    written = Path.write_bytes
    count = 0

    def full(path: Path, content: bytes) -> int:
        nonlocal count
        count += 1
        if count == 3:
            raise OSError(28, "No space left on device", str(path))
        return written(path, content)

    monkeypatch.setattr(Path, "write_bytes", full)
    ended = longwatch("build")
    monkeypatch.undo()
    assert ended.code == 1
    assert "error[out-unwritable]" in ended.err
    assert "No space left on device" in ended.err
    assert contents(repository / "out") == before


@pytest.mark.parametrize("verb", ["build --out taken", "build --out taken/deeper", "init taken"])
def test_an_output_that_cannot_be_written_is_a_finding(repository: Path, longwatch: Longwatch, verb: str) -> None:
    Path("taken").write_text("mine")
    ended = longwatch(verb)
    assert ended.code == 1
    assert "taken" in ended.err
    assert "unwritable]" in ended.err
    assert Path("taken").read_text() == "mine"


def test_one_family_is_built_in_place(repository: Path, longwatch: Longwatch) -> None:
    other = add_family("other", "notify")
    longwatch("build")
    before = contents(Path("out"))
    add_family("gpt", "notify")
    other.write_text(other.read_text().replace("title: GPT", "title: Other"))
    ended = longwatch("build --family gpt")
    assert ended.code == 0
    after, whole = contents(Path("out")), expected()
    for path, content in after.items():
        if "other" in path:
            assert content == before[path], path
        elif path != "manifest.json":
            assert content == whole[path], path
    assert set(after) == set(before)
    assert longwatch("build --check --family gpt").code == 0
    assert longwatch("build --check").code == 4
    longwatch("build")
    assert contents(Path("out")) == whole


def test_the_manifest_of_a_part_tells_what_lies_there(repository: Path, longwatch: Longwatch) -> None:
    add_family("other")
    longwatch("build --family gpt")
    assert not Path("out/prometheus/families/other.rules.yml").exists()
    listed = {entry["path"] for entry in json.loads(Path("out/manifest.json").read_bytes())["files"]}
    assert listed == set(contents(Path("out"))) - {"manifest.json"}
    longwatch("build --family other")
    longwatch("build --family pod")
    assert contents(Path("out")) == expected()


def test_routes_know_all_families_even_when_one_is_built(repository: Path, longwatch: Longwatch) -> None:
    add_family("other")
    longwatch("build --family gpt")
    assert Path("out/alertmanager/alertmanager.yml").read_bytes() == expected()["alertmanager/alertmanager.yml"]


def test_a_family_that_no_longer_has_a_file_loses_it(repository: Path, longwatch: Longwatch) -> None:
    alone = repository / "policies/families/gpt.yaml"
    disabled = FAMILY.replace(
        "{packs: [loss]}", "{packs: [loss], override: {LossSpike: {disable: true, reason: a test, until: 2030-01-01}}}"
    )
    alone.write_text(disabled)
    assert longwatch("build").code == 0
    assert Path("out/prometheus/families/gpt.armed.yml").exists()
    alone.write_text(FAMILY)
    longwatch("build --family gpt")
    assert not Path("out/prometheus/families/gpt.armed.yml").exists()
    assert contents(Path("out")) == expected()


def test_an_organisation_alone_builds_its_routes(repository: Path, longwatch: Longwatch) -> None:
    for path in ("families/gpt", "clusters/pod"):
        Path(f"policies/{path}.yaml").unlink()
    Path("policies/organisation.yaml").write_text(ORGANISATION)
    assert longwatch("build").code == 0
    assert "alertmanager/alertmanager.yml" in contents(Path("out"))
