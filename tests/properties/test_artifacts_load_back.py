"""Every artifact of the sample policies is a document of its kind, equal to what was handed to the writer."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import yaml

from longwatch.compiler import compile_policies
from longwatch.emitters import prometheus, promtool
from longwatch.render import json as json_writer
from longwatch.render import yaml as yaml_writer

Files = Mapping[str, bytes]


def handed_over(monkeypatch: pytest.MonkeyPatch, module: Any, writer: str, files: Files) -> list[tuple[Any, str]]:
    """Compiles, and keeps each value that `module` had written, with its text."""
    kept: list[tuple[Any, str]] = []
    original: Callable[..., str] = getattr(module, writer)

    def spy(value: Any, *rest: Any, **options: Any) -> str:
        text = original(value, *rest, **options)
        kept.append((value, text))
        return text

    monkeypatch.setattr(module, writer, spy)
    assert compile_policies(tuple(files.items())).ok
    assert kept
    return kept


def plain(value: Any) -> Any:
    """As a reader gets it: tuples are lists."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


@pytest.mark.parametrize("module", [prometheus, promtool, yaml_writer], ids=lambda module: module.__name__)
def test_a_yaml_artifact_loads_back_equal(policies: Files, monkeypatch: pytest.MonkeyPatch, module: Any) -> None:
    for value, text in handed_over(monkeypatch, module, "dump", policies):
        assert yaml.load(text, Loader=yaml.CSafeLoader) == plain(value)


def test_a_dashboard_loads_back_equal(policies: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    for value, text in handed_over(monkeypatch, json_writer, "dump", policies):
        assert json.loads(text) == plain(value)


def test_no_artifact_holds_a_place_on_this_machine(
    compiled: Callable[[Files], dict[str, str]], policies: Files
) -> None:
    assert [path for path, text in compiled(policies).items() if "/work/" in text or "/tmp/" in text] == []


def test_every_artifact_ends_with_one_newline(compiled: Callable[[Files], dict[str, str]], policies: Files) -> None:
    odd = [path for path, text in compiled(policies).items() if not text.endswith("\n") or text.endswith("\n\n")]
    assert odd == []
