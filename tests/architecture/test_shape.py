"""The shape of the code: small modules, named after what they do, with a first sentence that says it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "generator" / "longwatch"
MODULES = sorted(PACKAGE.rglob("*.py"))
NAMED = [pytest.param(path, id=path.relative_to(PACKAGE).as_posix()) for path in MODULES]
LONGEST = 400
VAGUE = {"base", "common", "core", "helper", "helpers", "manager", "misc", "processor", "shared_code", "util", "utils"}
TEST_FILES = sorted(path for path in (ROOT / "tests").rglob("*.py") if "dropped" not in path.parts)


@pytest.mark.parametrize("path", NAMED)
def test_a_module_has_at_most_400_lines(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= LONGEST


@pytest.mark.parametrize("path", [*MODULES, *TEST_FILES], ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_file_is_named_after_what_it_does(path: Path) -> None:
    words = {word for part in path.relative_to(ROOT).with_suffix("").parts for word in part.split("_")}
    assert not words & VAGUE


@pytest.mark.parametrize("path", [p for p in NAMED if p.id and not p.id.endswith("__init__.py")])
def test_a_module_says_what_it_is(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text()))


@pytest.mark.parametrize("path", NAMED)
def test_no_class_is_a_manager_helper_util_processor_or_base(path: Path) -> None:
    classes = [node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ClassDef)]
    assert [name for name in classes if re.search("(Manager|Helper|Util|Utils|Processor|Base)$", name)] == []


def test_names_of_test_files_are_unique() -> None:
    names = [path.name for path in TEST_FILES if path.name != "conftest.py"]
    assert sorted(names) == sorted(set(names))


def test_the_templates_of_the_package_are_the_repositorys() -> None:
    assert (PACKAGE / "templates").resolve() == ROOT / "templates"
