"""The published schema and the compiler's own types say the same, for editors and for people."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from jsonschema import Draft202012Validator

from longwatch.load.source_tree import find_policies
from longwatch.load.yaml_source import read_text
from longwatch.plugins.front import detectors
from longwatch.schema.validator import Validator
from longwatch.validate.documents import schema, validate
from longwatch.validate.explain import PACK_ALERTS

ROOT = Path(__file__).parent.parent.parent
PARAMETERS = {name: detector.parameters for name, detector in detectors().items()}
VALIDATOR = Validator(schema(PARAMETERS))
ACCEPTS = jsonschema_rs.Draft202012Validator(schema(PARAMETERS)).is_valid
"""A second library, and one that is fast enough for thousands of mutants."""
ODD = (None, True, -1, 0, 0.5, "", "x", "5x", "97%", "40m", "../x", [], [1], {}, {"unheard": 1})


def values(directory: str) -> dict[str, Any]:
    sources, problems = find_policies(str(ROOT / directory))
    assert not problems
    documents = {file: read_text(file, raw)[0] for file, raw in sources}
    return {Path(file).name: document.value for file, document in documents.items() if document}


HEALTHY = {**values("tests/diagnostics/_base"), **values("policies")}


def accepted_by_types(value: object) -> bool:
    return bool(validate((("policy.yaml", value),), PARAMETERS)[0])


def test_the_schema_is_a_valid_schema() -> None:
    Draft202012Validator.check_schema(VALIDATOR.schema)


@pytest.mark.parametrize("name", HEALTHY)
def test_it_accepts_healthy_policies(name: str) -> None:
    assert ACCEPTS(HEALTHY[name])
    assert VALIDATOR.faults(HEALTHY[name]) == ()


@pytest.mark.parametrize("name", HEALTHY)
def test_it_agrees_with_the_types_on_every_odd_value_in_every_place(name: str) -> None:
    disagreements = [path for path, mutant in mutants(HEALTHY[name]) if ACCEPTS(mutant) != accepted_by_types(mutant)]
    assert disagreements == []


@pytest.mark.parametrize("name", HEALTHY)
def test_a_key_that_nobody_knows_is_refused_everywhere(name: str) -> None:
    for path, mutant in mutants(HEALTHY[name], odd=()):
        assert ACCEPTS(mutant) == accepted_by_types(mutant), path


def test_there_is_no_one_of() -> None:
    """Its faults are those of all alternatives, which nobody understands, and it is slow."""
    assert "oneOf" not in json.dumps(VALIDATOR.schema)


def test_every_detector_and_every_pack_alert_has_its_parameters() -> None:
    definitions = VALIDATOR.schema["$defs"]
    assert all(f"detect-{name}" in definitions for name in PARAMETERS)
    assert all(f"override-{detector}" in definitions for detector in PACK_ALERTS.values())
    assert "required" not in definitions["override-spike"]
    assert definitions["detect-spike"]["required"] == ["detect", "signal", "above"]


def test_every_reference_leads_somewhere() -> None:
    text = json.dumps(VALIDATOR.schema)
    names = {part.split('"')[0] for part in text.split("#/$defs/")[1:]}
    assert names - VALIDATOR.schema["$defs"].keys() == set()
    assert VALIDATOR.schema["$defs"].keys() - names == set()


@pytest.mark.parametrize("seed", ["0", "1"])
def test_the_same_language_gives_the_same_bytes(seed: str) -> None:
    code = (
        "import json, sys; from longwatch.plugins.front import detectors;"
        "from longwatch.validate.documents import schema;"
        "json.dump(schema({n: d.parameters for n, d in detectors().items()}), sys.stdout)"
    )
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert result.stdout == json.dumps(VALIDATOR.schema)


def test_faults_come_in_the_order_of_the_file() -> None:
    policy = {**HEALTHY["family.yaml"], "title": 5, "stage": "x"}
    places = [fault.path for fault in VALIDATOR.faults(policy)]
    assert places == sorted(places, key=lambda path: list(policy).index(path[0]))


def test_a_missing_key_is_reported_at_its_parent_and_an_unknown_one_at_itself() -> None:
    policy = copy.deepcopy(HEALTHY["family.yaml"])
    del policy["lifecycle"]["expected"]
    policy["lifecycle"]["speed"] = 1
    found = [(f.keyword, f.path, f.key, f.value) for f in VALIDATOR.faults(policy)]
    assert found == [
        ("required", ("lifecycle",), False, "expected"),
        ("additionalProperties", ("lifecycle", "speed"), True, "speed"),
    ]


def mutants(value: Any, odd: tuple[object, ...] = ODD) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Each place once with each odd value, once left out, and each mapping with a key too many."""
    for path in places(value):
        if path == ("kind",):
            continue
        for replacement in odd:
            yield path, changed(value, path, replacement)
        if odd:
            yield path, changed(value, path, ...)
        if isinstance(at(value, path), dict):
            yield path, changed(value, (*path, "nobody-knows-me"), 1)


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in steps:
        yield (*path, step)
        yield from places(inner, (*path, step))


def at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


def changed(value: Any, path: tuple[str | int, ...], replacement: object) -> Any:
    mutant = copy.deepcopy(value)
    parent = at(mutant, path[:-1])
    if replacement is ...:
        del parent[path[-1]]
    else:
        parent[path[-1]] = replacement
    return mutant
