"""A wheel holds all that Longwatch needs: it compiles the sample policies where this repository is out of reach."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterable
from email import message_from_string
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import pytest

from longwatch import __version__

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "generator" / "longwatch"


class Wheel(NamedTuple):
    path: Path
    installed: Path
    """Where it was installed, alone."""
    work: Path
    """An empty directory to work in."""

    @property
    def names(self) -> set[str]:
        with zipfile.ZipFile(self.path) as archive:
            return set(archive.namelist())

    @property
    def needs(self) -> list[str]:
        """Requirements, without those of extras."""
        text = (self.installed / f"longwatch-{__version__}.dist-info" / "METADATA").read_text()
        return [line for line in message_from_string(text).get_all("Requires-Dist", []) if "extra ==" not in line]

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """The installed command. `-S` and the path keep out this repository's editable install."""
        path = os.pathsep.join((str(self.installed), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")))
        return subprocess.run(
            [sys.executable, "-S", *arguments],
            cwd=self.work,
            env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=120,
        )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Wheel:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder / "dist"), str(ROOT)]
    done = subprocess.run(build, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    [path] = (folder / "dist").glob("*.whl")
    installed, work = folder / "installed", folder / "work"
    work.mkdir()
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(installed)]
    done = subprocess.run([*install, str(path)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return Wheel(path=path, installed=installed, work=work)


def test_the_wheel_is_found_before_the_repository(wheel: Wheel) -> None:
    where = wheel.run("-c", "import longwatch; print(longwatch.__file__)").stdout.strip()
    assert where == str(wheel.installed / "longwatch" / "__init__.py")


def test_every_module_is_inside(wheel: Wheel) -> None:
    modules = {f"longwatch/{path.relative_to(PACKAGE).as_posix()}" for path in PACKAGE.rglob("*.py")}
    assert modules - wheel.names == set()


def test_every_template_is_inside(wheel: Wheel) -> None:
    templates = ROOT / "templates"
    files = {f"longwatch/templates/{p.relative_to(templates).as_posix()}" for p in templates.rglob("*") if p.is_file()}
    assert files
    assert files - wheel.names == set()


def test_nothing_but_the_package_is_inside(wheel: Wheel) -> None:
    assert {name.split("/")[0] for name in wheel.names} == {"longwatch", f"longwatch-{__version__}.dist-info"}


def test_the_licence_is_inside(wheel: Wheel) -> None:
    assert f"longwatch-{__version__}.dist-info/licenses/LICENSE" in wheel.names


def test_the_command_is_declared(wheel: Wheel) -> None:
    entry_points = (wheel.installed / f"longwatch-{__version__}.dist-info" / "entry_points.txt").read_text()
    assert "longwatch = longwatch.cli.main:main" in entry_points


def test_what_it_needs_at_run_time_names_no_tool_of_developers(wheel: Wheel) -> None:
    assert wheel.needs
    assert [line for line in wheel.needs if re.match("pytest|ruff|mypy|hypothesis|build", line)] == []


def test_the_installed_command_tells_its_version(wheel: Wheel) -> None:
    assert wheel.run("-m", "longwatch", "--version").stdout == f"longwatch {__version__}\n"


def test_the_installed_command_compiles_to_the_bytes_of_the_source_tree(wheel: Wheel) -> None:
    from longwatch.compiler import compile_policies
    from longwatch.load.source_tree import find_policies

    done = wheel.run("-m", "longwatch", "build", "--policies", str(ROOT / "policies"), "--out", "out")
    assert done.returncode == 0, done.stderr
    files, _ = find_policies(str(ROOT / "policies"))
    named = [(f"policies/{Path(name).relative_to(ROOT / 'policies').as_posix()}", raw) for name, raw in files]
    out = wheel.work / "out"
    written = {path.relative_to(out).as_posix(): path.read_text() for path in out.rglob("*") if path.is_file()}
    assert written == {artifact.path: artifact.text for artifact in compile_policies(named).artifacts}


IMPORTED = """
import sys
from longwatch.cli.main import run
assert run(["build", "--policies", sys.argv[1], "--out", "imported"]) == 0
assert run(["check", "--policies", sys.argv[1]]) == 0
print(*sorted({name.split(".")[0] for name in sys.modules} - set(sys.stdlib_module_names)))
"""


def requirements(names: Iterable[str]) -> set[str]:
    """Distributions that come along with `names`, normalised."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", waiting.pop())[0]).lower()
        if name not in found:
            found.add(name)
            waiting += [line for line in metadata.requires(name) or () if "extra ==" not in line]
    return found


def test_what_the_installed_command_imports_is_declared(wheel: Wheel) -> None:
    """The nearest thing to an empty environment that needs no network."""
    done = wheel.run("-c", IMPORTED, str(ROOT / "policies"))
    assert done.returncode == 0, done.stderr
    declared = requirements(wheel.needs)
    homes, imported = metadata.packages_distributions(), done.stdout.split()
    assert {"click", "longwatch", "msgspec", "yaml"} <= set(imported)
    strangers = {
        module
        for module in imported
        if module in homes and not {re.sub(r"[-_.]+", "-", home).lower() for home in homes[module]} & declared
    }
    assert strangers - {"longwatch"} == set()


def test_the_installed_command_prints_the_schema(wheel: Wheel) -> None:
    done = wheel.run("-m", "longwatch", "schema")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["properties"]["kind"]["enum"]


def test_the_installed_command_explains_a_fault(wheel: Wheel) -> None:
    bad = wheel.work / "bad"
    bad.mkdir()
    (bad / "organisation.yaml").write_text("apiVersion: longwatch/v1\nkind: Organization\n")
    done = wheel.run("-m", "longwatch", "check", "--policies", "bad")
    assert done.returncode == 1
    assert 'did you mean "Organisation"?' in done.stderr
