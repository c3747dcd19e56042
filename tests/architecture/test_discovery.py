"""Discovery finds every module of a room, and refuses loudly one that breaks the convention."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from longwatch.plugins.back import Emitter, FleetCheck, emitters, fleet_checks
from longwatch.plugins.discovery import discover
from longwatch.plugins.front import Check, Detector, checks, detectors, exporters
from longwatch.policy.exporter import Exporter

PACKAGE = Path(__file__).parents[2] / "generator" / "longwatch"
ROOMS = {
    "detectors": detectors,
    "exporters": exporters,
    "checks": checks,
    "emitters": emitters,
    "fleet_checks": fleet_checks,
}
GOOD = '"""A manual."""\n\nfrom longwatch.plugins.front import Check\n\nCHECK = Check(run=lambda policy: ())\n'


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty package `strange_room`."""
    folder = tmp_path / "strange_room"
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in [name for name in sys.modules if name.split(".")[0] == "strange_room"]:
        monkeypatch.delitem(sys.modules, name)
    return folder


@pytest.mark.parametrize("name", ROOMS)
def test_every_module_of_a_room_is_found(name: str) -> None:
    modules = {path.stem for path in (PACKAGE / name).glob("*.py")} - {"__init__"}
    assert set(ROOMS[name]()) == modules


@pytest.mark.parametrize("name", ROOMS)
def test_a_rooms_init_is_empty(name: str) -> None:
    assert (PACKAGE / name / "__init__.py").read_text() == ""


def test_plug_ins_come_in_alphabetical_order(room: Path) -> None:
    for name in ("zebra", "ant", "mole"):
        (room / f"{name}.py").write_text(GOOD)
    assert list(discover("strange_room", "CHECK", Check)) == ["ant", "mole", "zebra"]


def test_a_plug_in_brings_its_manual(room: Path) -> None:
    (room / "ant.py").write_text(GOOD)
    assert discover("strange_room", "CHECK", Check)["ant"][1] == "A manual."


@pytest.mark.parametrize(
    ("attribute", "kind"),
    [("DETECTOR", Detector), ("EXPORTER", Exporter), ("CHECK", Check), ("EMITTER", Emitter), ("CHECK", FleetCheck)],
    ids=["detector", "exporter", "check", "emitter", "fleet check"],
)
def test_a_module_without_the_record_is_refused(room: Path, attribute: str, kind: type) -> None:
    (room / "ant.py").write_text('"""A manual."""\n')
    with pytest.raises(TypeError, match=rf"strange_room\.ant: a plug-in exports {attribute}, a {kind.__name__}"):
        discover("strange_room", attribute, kind)


@pytest.mark.parametrize(
    "written", ["CHECK = None", "CHECK = {'run': None}", "CHECK = lambda policy: ()", "check = 1"], ids=str
)
def test_a_record_of_the_wrong_type_is_refused(room: Path, written: str) -> None:
    (room / "ant.py").write_text(f'"""A manual."""\n{written}\n')
    with pytest.raises(TypeError, match=r"strange_room\.ant: a plug-in exports CHECK, a Check; found"):
        discover("strange_room", "CHECK", Check)


def test_the_record_of_another_kind_of_plug_in_is_refused(room: Path) -> None:
    (room / "ant.py").write_text(GOOD)
    with pytest.raises(TypeError, match="a FleetCheck; found Check"):
        discover("strange_room", "CHECK", FleetCheck)


@pytest.mark.parametrize("docstring", ["", '"""   \n"""\n'], ids=["none", "blank"])
def test_a_module_without_a_manual_is_refused(room: Path, docstring: str) -> None:
    (room / "ant.py").write_text(docstring + GOOD.split("\n", 1)[1])
    with pytest.raises(TypeError, match=r"strange_room\.ant: a plug-in carries its manual as module docstring"):
        discover("strange_room", "CHECK", Check)


def test_a_module_that_cannot_be_imported_is_not_passed_over(room: Path) -> None:
    (room / "ant.py").write_text('"""A manual."""\nimport a_module_that_is_nowhere\n')
    with pytest.raises(ModuleNotFoundError, match="a_module_that_is_nowhere"):
        discover("strange_room", "CHECK", Check)
