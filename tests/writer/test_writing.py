"""Artifacts → out/: what changes, what stays, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from trees import NEW, OLD, artifacts, tree

from longwatch.artifact import Artifact
from longwatch.diagnostics import Trouble
from longwatch.writer import Difference, drift, write


def test_a_first_build_writes_everything(tmp_path: Path) -> None:
    out = tmp_path / "some/out"

    written = write(artifacts(OLD), out)

    assert tree(out) == OLD
    assert written.changed == ("deep/er/c.yml", "manifest.json", "rules/a.yml", "rules/b.yml")
    assert list(out.parent.iterdir()) == [out]


def test_a_second_build_changes_what_changed_and_removes_what_is_gone(tmp_path: Path) -> None:
    write(artifacts(OLD), tmp_path / "out")

    written = write(artifacts(NEW), tmp_path / "out")

    assert tree(tmp_path / "out") == NEW
    assert written.changed == ("manifest.json", "new/d.yml", "rules/a.yml")
    assert (written.deleted, written.unchanged) == (("deep/er/c.yml",), 1)
    assert not (tmp_path / "out/deep").exists()


def test_what_is_equal_keeps_its_modification_time(tmp_path: Path) -> None:
    write(artifacts(OLD), tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}

    written = write(artifacts(OLD), tmp_path)

    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
    assert (written.changed, written.deleted, written.unchanged) == ((), (), 4)


def test_a_strangers_file_is_never_removed(tmp_path: Path) -> None:
    write(artifacts(OLD), tmp_path)
    (tmp_path / "deep/er/notes.txt").write_text("mine")

    write(artifacts({}), tmp_path)

    assert tree(tmp_path) == {"deep/er/notes.txt": "mine"}


@pytest.mark.parametrize(
    "manifest",
    ["", "{", "[]", "{}", '{"files": 7}', '{"files": [7, {"name": "x"}]}', '{"files": ["../precious", "/precious"]}'],
)
def test_a_manifest_that_is_not_ours_removes_nothing(tmp_path: Path, manifest: str) -> None:
    (tmp_path / "precious").write_text("mine")
    out = tmp_path / "out"
    out.mkdir()
    (out / "manifest.json").write_text(manifest)
    (out / "a").write_text("a")

    assert write(artifacts({}), out).deleted == ()
    assert (tmp_path / "precious").exists() and (out / "a").exists()


@pytest.mark.parametrize("files", ['["x.yml"]', '{"x.yml": "sha256"}', '[{"path": "x.yml"}]'])
def test_the_manifest_may_list_its_files_in_three_ways(tmp_path: Path, files: str) -> None:
    (tmp_path / "manifest.json").write_text(f'{{"files": {files}}}')
    (tmp_path / "x.yml").write_text("x")

    assert write(artifacts({}), tmp_path).deleted == ("x.yml",)


@pytest.mark.parametrize("path", ["../x", "/etc/x", "a/../../x", "", ".", "a//b", "./a", "a\\b", "C:/x", "a\0b"])
def test_a_path_that_leads_out_is_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(ValueError, match="leads out"):
        write([Artifact(path=path, text="", target="prometheus")], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_two_artifacts_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="two artifacts"):
        write([*artifacts({"a": "1"}), *artifacts({"a": "2"})], tmp_path)


def test_a_symbolic_link_in_out_is_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    out = tmp_path / "out"
    out.mkdir()
    (out / "rules").symlink_to(elsewhere)

    with pytest.raises(Trouble) as caught:
        write(artifacts(OLD), out)

    assert caught.value.diagnostics[0].code == "out-unwritable"
    assert "symbolic link" in caught.value.diagnostics[0].message
    assert list(elsewhere.iterdir()) == []


def test_a_file_may_become_a_folder_and_a_folder_a_file(tmp_path: Path) -> None:
    write(artifacts({"a": "file", "b/c": "in a folder"}), tmp_path)

    write(artifacts({"a/x": "in a folder", "b": "file"}), tmp_path)

    assert tree(tmp_path) == {"a/x": "in a folder", "b": "file"}


@pytest.mark.parametrize(("stranger", "wanted"), [("a", "a/x"), ("a/x", "a")])
def test_a_stranger_in_the_way_is_not_overwritten(tmp_path: Path, stranger: str, wanted: str) -> None:
    (tmp_path / stranger).parent.mkdir(exist_ok=True)
    (tmp_path / stranger).write_text("mine")

    with pytest.raises(Trouble) as caught:
        write(artifacts({wanted: "ours"}), tmp_path)

    assert caught.value.diagnostics[0].code == "out-unwritable"
    assert tree(tmp_path) == {stranger: "mine"}


def test_an_out_that_cannot_be_made_is_a_diagnostic(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(Trouble) as caught:
        write(artifacts(OLD), tmp_path / "file/out")

    (found,) = caught.value.diagnostics
    assert found.code == "out-unwritable"
    assert "Not a directory" in found.message


def test_drift_tells_what_differs_and_touches_nothing(tmp_path: Path) -> None:
    write(artifacts(OLD), tmp_path)
    before = tree(tmp_path)

    assert drift(artifacts(OLD), tmp_path) == ()
    assert drift(artifacts(NEW), tmp_path) == (
        ("deep/er/c.yml", Difference.ORPHAN),
        ("manifest.json", Difference.DIFFERENT),
        ("new/d.yml", Difference.MISSING),
        ("rules/a.yml", Difference.DIFFERENT),
    )
    assert tree(tmp_path) == before


def test_drift_of_an_out_that_does_not_exist_is_all_missing(tmp_path: Path) -> None:
    assert {kind for _, kind in drift(artifacts(OLD), tmp_path / "out")} == {Difference.MISSING}
    assert not (tmp_path / "out").exists()


def test_a_write_that_fails_half_way_leaves_out_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    write(artifacts(OLD), out)
    original = Path.write_bytes

    def full(path: Path, data: bytes) -> int:
        if path.name == "d.yml":
            raise OSError(28, "No space left on device", str(path))
        return original(path, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(Trouble) as caught:
        write(artifacts(NEW), out)

    assert "No space left" in caught.value.diagnostics[0].message
    assert tree(out) == OLD
    assert list(tmp_path.iterdir()) == [out]
