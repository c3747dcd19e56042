"""Finds plug-ins: every module of a package exports one record under one name, and carries its manual as docstring."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from types import ModuleType
from typing import TypeVar

T = TypeVar("T")


def discover(package: str, attribute: str, kind: type[T]) -> Mapping[str, tuple[T, str]]:
    """Module name → (record, manual), in alphabetical order. Raises TypeError on a module that breaks the convention."""
    root = importlib.import_module(package)
    found = {}
    for name in sorted(info.name for info in pkgutil.iter_modules(root.__path__)):
        module = importlib.import_module(f"{package}.{name}")
        found[name] = (_record(module, attribute, kind), _manual(module))
    return found


def _record(module: ModuleType, attribute: str, kind: type[T]) -> T:
    record = getattr(module, attribute, None)
    if not isinstance(record, kind):
        raise TypeError(
            f"{module.__name__}: a plug-in exports {attribute}, a {kind.__name__}; found {type(record).__name__}"
        )
    return record


def _manual(module: ModuleType) -> str:
    if not (module.__doc__ or "").strip():
        raise TypeError(f"{module.__name__}: a plug-in carries its manual as module docstring; it has none")
    return str(module.__doc__).strip()
