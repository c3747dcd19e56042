from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from longwatch.load.source_tree import find_policies
from longwatch.load.yaml_source import MAX_BYTES


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: str, text: str = "a: 1") -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)


def codes(directory: str) -> list[tuple[str, str]]:
    return [(p.code, p.span.file) for p in find_policies(directory)[1] if p.span]


def test_policies_are_found_at_any_depth_and_sorted_by_path(here: Path) -> None:
    for path in ("organisation.yaml", "families/b.yml", "families/a.yaml", "clusters/eu/c.yaml"):
        write(f"policies/{path}", path)
    assert find_policies("policies") == (
        (
            ("policies/clusters/eu/c.yaml", b"clusters/eu/c.yaml"),
            ("policies/families/a.yaml", b"families/a.yaml"),
            ("policies/families/b.yml", b"families/b.yml"),
            ("policies/organisation.yaml", b"organisation.yaml"),
        ),
        (),
    )


def test_hidden_files_and_other_files_are_ignored(here: Path) -> None:
    for path in ("a.yaml", ".b.yaml", ".git/c.yaml", "README.md", "d.yaml.orig"):
        write(f"policies/{path}")
    assert [path for path, _ in find_policies("policies")[0]] == ["policies/a.yaml"]


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("policies/", "policies/a.yaml"),
        ("./policies", "policies/a.yaml"),
        ("policies/../policies", "policies/../policies/a.yaml"),
    ],
)
def test_paths_are_shown_as_the_user_gave_them(here: Path, given: str, shown: str) -> None:
    write("policies/a.yaml")
    assert [path for path, _ in find_policies(given)[0]] == [shown]


def test_an_absolute_directory_stays_absolute(here: Path) -> None:
    write("policies/a.yaml")
    assert find_policies(str(here / "policies"))[0][0][0] == (here / "policies/a.yaml").as_posix()


def test_a_missing_directory_suggests_to_scaffold_one(here: Path) -> None:
    (problem,) = find_policies("policies")[1]
    assert problem.code == "no-policies"
    assert "longwatch init" in problem.help


def test_a_directory_without_policies_is_an_error(here: Path) -> None:
    write("policies/README.md")
    assert codes("policies") == [("no-policies", "policies")]


def test_a_file_is_no_directory(here: Path) -> None:
    write("a.yaml")
    assert codes("a.yaml") == [("no-policies", "a.yaml")]


def test_a_link_that_leaves_the_directory_is_refused(here: Path) -> None:
    write("elsewhere/b.yaml")
    write("policies/a.yaml")
    Path("policies/b.yaml").symlink_to("../elsewhere/b.yaml")
    Path("policies/more").symlink_to("../elsewhere")
    assert codes("policies") == [("symlink-outside", "policies/b.yaml"), ("symlink-outside", "policies/more")]
    assert [path for path, _ in find_policies("policies")[0]] == ["policies/a.yaml"]


def test_links_inside_the_directory_are_followed_without_going_round_in_circles(here: Path) -> None:
    write("policies/..data/a.yaml")
    Path("policies/a.yaml").symlink_to("..data/a.yaml")
    Path("policies/loop").symlink_to(".")
    assert find_policies("policies") == ((("policies/a.yaml", b"a: 1"),), ())


def test_the_directory_itself_may_be_a_link(here: Path) -> None:
    write("checkout/a.yaml")
    Path("policies").symlink_to("checkout")
    assert find_policies("policies") == ((("policies/a.yaml", b"a: 1"),), ())


def test_a_link_to_nothing_is_unreadable(here: Path) -> None:
    write("policies/a.yaml")
    Path("policies/b.yaml").symlink_to("gone.yaml")
    assert codes("policies") == [("unreadable", "policies/b.yaml")]


def test_a_pipe_is_not_waited_for(here: Path) -> None:
    write("policies/a.yaml")
    os.mkfifo("policies/b.yaml")
    assert codes("policies") == [("unreadable", "policies/b.yaml")]


@pytest.fixture
def as_nobody(here: Path) -> Iterator[None]:
    """Root reads everything, so it steps down for the length of the test."""
    for folder in (here, here / "policies"):
        folder.mkdir(exist_ok=True)
        folder.chmod(0o755)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    yield
    if root:
        os.seteuid(0)


def test_a_file_without_permission_is_unreadable(here: Path, request: pytest.FixtureRequest) -> None:
    write("policies/a.yaml")
    Path("policies/a.yaml").chmod(0)
    request.getfixturevalue("as_nobody")
    assert codes("policies") == [("unreadable", "policies/a.yaml")]


def test_a_link_to_itself_is_unreadable(here: Path) -> None:
    write("policies/a.yaml")
    Path("policies/self.yaml").symlink_to("self.yaml")
    assert codes("policies") == [("unreadable", "policies/self.yaml")]


def test_a_directory_with_the_name_of_a_policy_is_searched(here: Path) -> None:
    write("policies/old.yaml/a.yaml")
    assert [path for path, _ in find_policies("policies")[0]] == ["policies/old.yaml/a.yaml"]


def test_a_huge_file_is_not_read_to_its_end(here: Path) -> None:
    write("policies/a.yaml", "x" * (MAX_BYTES * 2))
    assert len(find_policies("policies")[0][0][1]) == MAX_BYTES + 1
