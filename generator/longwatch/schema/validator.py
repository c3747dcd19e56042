"""The door to jsonschema, loaded on first use: it explains what the types have refused. A leaf.

Importing jsonschema takes longer than checking a policy, so a caller asks for faults only when it knows of one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import msgspec

Path = tuple[str | int, ...]


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """One violated keyword of the schema. `path` leads to the offending value, or with `key` to the offending key.

    A missing key is reported at its parent: `value` is then the missing name.
    """

    keyword: str
    path: Path
    key: bool = False
    value: Any
    expected: Any
    """What the keyword asks for: the type, the limit, the allowed values, …; for an unknown key the known ones."""
    schema: Mapping[str, Any]
    """The schema that holds the keyword."""


class Validator:
    """One schema, compiled once."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.schema = schema

    def faults(self, value: object) -> tuple[Fault, ...]:
        """All faults of `value`, without duplicates, in the order of its keys."""
        found: list[Fault] = []
        for error in self._explaining.iter_errors(value):
            found += (fault for fault in _faults(error) if fault not in found)
        # jsonschema goes through sets of keys, whose order differs from run to run.
        return tuple(sorted(found, key=lambda fault: (_place(value, fault.path), fault.keyword, str(fault.value))))

    @cached_property
    def _explaining(self) -> Any:
        from jsonschema import Draft202012Validator
        from jsonschema.validators import extend

        # To JSON 2.0 is an integer; to the types that policies are read into, and to its readers, it is not.
        types = Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, value: type(value) is int)
        # Never jsonschema.validate(): it checks the schema itself each time, which takes 200 ms.
        extended: Any = extend  # untyped in types-jsonschema
        return extended(Draft202012Validator, type_checker=types)(dict(self.schema))


def _place(value: Any, path: Path) -> tuple[int, ...]:
    """Where a path lies among its siblings, level by level."""
    place = []
    for step in path:
        place.append(list(value).index(step) if isinstance(value, dict) else int(step))
        value = value[step]
    return tuple(place)


def _faults(error: Any, above: Path = ()) -> Iterator[Fault]:
    path: Path = (*above, *error.relative_path)
    keyword, value = str(error.validator), error.instance
    if keyword == "anyOf":
        yield from _branch(error, path)
    elif keyword == "required":
        # jsonschema names the missing key in its message only, once for each of them.
        for name in error.validator_value:
            if name not in value:
                yield _fault(error, path, name)
    elif keyword == "additionalProperties":
        known = tuple(error.schema.get("properties", ()))
        for name in value:
            if name not in known:
                yield Fault(
                    keyword=keyword, path=(*path, name), key=True, value=name, expected=known, schema=error.schema
                )
    elif "propertyNames" in error.relative_schema_path and isinstance(value, str):
        yield _fault(error, (*path, value), value, key=True)
    else:
        yield _fault(error, path, value)


def _fault(error: Any, path: Path, value: object, *, key: bool = False) -> Fault:
    return Fault(
        keyword=str(error.validator),
        path=path,
        key=key,
        value=value,
        expected=error.validator_value,
        schema=error.schema,
    )


def _branch(error: Any, path: Path) -> Iterator[Fault]:
    """The faults of the alternative that was meant: the first whose type fits the value."""
    branches: dict[int, list[Any]] = {}
    for inner in error.context:
        branches.setdefault(inner.relative_schema_path[0], []).append(inner)
    meant = min(branches.values(), key=lambda inners: sum(map(_is_another_type, inners)))
    for inner in meant:
        yield from _faults(inner, path)


def _is_another_type(error: Any) -> bool:
    if error.relative_path:
        return False
    if error.validator == "enum":
        return not any(type(choice) is type(error.instance) for choice in error.validator_value)
    return bool(error.validator == "type")
