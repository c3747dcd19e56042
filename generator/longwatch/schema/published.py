"""The published JSON Schema (2020-12), generated from the types that the compiler itself reads policies into. A leaf.

One document for editors and for the explanations of validate/. It is dispatched by `kind` and `detect` with if/then,
never with oneOf: a validator then reports the faults of the kind that was meant, not of all kinds. Types are handed in,
so that this room knows no policy. msgspec's own generator cannot be used: it cannot encode defaults such as a Duration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import inspect

DIALECT = "https://json-schema.org/draft/2020-12/schema"
ID = "https://longwatch.dev/schema/v1/policy.json"

Schema = dict[str, Any]
Hook = Callable[[type], Schema]
"""A custom type, such as a duration → its schema."""


class Language(msgspec.Struct, frozen=True, kw_only=True):
    """What there is to publish. Alerts stand under the keys `add` (any detector) and `override` (a pack's alert)."""

    documents: Mapping[str, type]
    """`kind` → type."""
    parameters: Mapping[str, type]
    """Detector → type of its parameters."""
    packs: Mapping[str, str]
    """Alert of a pack → its detector."""
    custom: Hook


def published(language: Language) -> Schema:
    """The whole schema; the same language gives the same bytes."""
    work = _Definitions(language.custom)
    documents = {kind: work.named(_struct(cls)) for kind, cls in language.documents.items()}
    for detector, cls in sorted(language.parameters.items()):
        work.detector(detector, _struct(cls), overridden=detector in language.packs.values())
    work.schemas["AddedAlert"] = _added(language.parameters)
    work.schemas["Overrides"] = _overrides(language.packs)
    for schema in work.schemas.values():
        properties = schema.get("properties", {})
        if "add" in properties:
            properties["add"]["additionalProperties"] = _ref("AddedAlert")
        if "override" in properties:
            properties["override"] = _ref("Overrides")
    return {
        "$schema": DIALECT,
        "$id": ID,
        "title": "Longwatch policy",
        "description": "A policy of Longwatch: " + ", ".join(language.documents) + ".",
        "type": "object",
        "required": ["apiVersion", "kind"],
        "properties": {"kind": {"enum": list(language.documents)}},
        "allOf": [_when("kind", kind, ref) for kind, ref in documents.items()],
        "$defs": dict(sorted(work.schemas.items())),
    }


def _added(parameters: Mapping[str, type]) -> Schema:
    return {
        "type": "object",
        "required": ["detect"],
        "properties": {"detect": {"enum": sorted(parameters), "description": "How the failure is seen: a detector."}},
        "allOf": [_when("detect", detector, _ref(f"detect-{detector}")) for detector in sorted(parameters)],
    }


def _overrides(packs: Mapping[str, str]) -> Schema:
    """Alerts of no pack are left to resolve/, which knows what this policy inherits."""
    return {
        "type": "object",
        "properties": {alert: _ref(f"override-{detector}") for alert, detector in sorted(packs.items())},
        "additionalProperties": {"type": "object"},
    }


def _when(key: str, value: str, then: Schema) -> Schema:
    return {"if": {"properties": {key: {"const": value}}, "required": [key]}, "then": then}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _struct(cls: type) -> inspect.StructType:
    described = inspect.type_info(cls)
    assert isinstance(described, inspect.StructType)
    return described


class _Definitions:
    """Collects `$defs`; lives for one call."""

    def __init__(self, custom: Hook) -> None:
        self.schemas: dict[str, Schema] = {}
        self._custom = custom
        self._names: dict[type, str] = {}

    def named(self, struct: inspect.StructType) -> Schema:
        """A reference to the struct's definition, made on first use."""
        if struct.cls not in self._names:
            name = struct.cls.__name__.removesuffix("Document")
            if name in self.schemas:
                name = f"{struct.cls.__module__.rpartition('.')[2]}-{name}"
            self._names[struct.cls] = name
            self.schemas[name] = {}  # keeps the name while its fields are read
            self.schemas[name] = self._object(struct)
        return _ref(self._names[struct.cls])

    def detector(self, name: str, struct: inspect.StructType, *, overridden: bool) -> None:
        """A whole alert, and an override, which is merged into the pack's values."""
        whole = self._object(struct)
        if overridden:
            self.schemas[f"override-{name}"] = {key: value for key, value in whole.items() if key != "required"}
        whole["properties"] = {"detect": {"const": name}, **whole["properties"]}
        whole["required"] = ["detect", *whole.get("required", ())]
        self.schemas[f"detect-{name}"] = whole

    def _object(self, struct: inspect.StructType) -> Schema:
        schema: Schema = {"type": "object"}
        words = (struct.cls.__doc__ or "").strip()
        if words and not words.startswith(f"{struct.cls.__name__}("):
            schema["description"] = words.split("\n\n")[0]
        schema["properties"] = {field.encode_name: self._field(field) for field in struct.fields}
        required = [field.encode_name for field in struct.fields if field.required]
        if required:
            schema["required"] = required
        if struct.forbid_unknown_fields:
            schema["additionalProperties"] = False
        return schema

    def _field(self, field: inspect.Field) -> Schema:
        schema = self._type(field.type)
        if isinstance(field.default, (str, bool, int)) or type(field.default) is float:
            schema = {**schema, "default": field.default}
        return schema

    def _type(self, kind: inspect.Type) -> Schema:
        match kind:
            case inspect.Metadata():
                return {**self._type(kind.type), **(kind.extra_json_schema or {})}
            case inspect.StructType():
                return self.named(kind)
            case inspect.CustomType():
                return dict(self._custom(kind.cls))
            case inspect.UnionType():
                return self._union(kind)
            case inspect.LiteralType():
                return {"enum": list(kind.values)}
            case inspect.VarTupleType():
                limits = _some(minItems=kind.min_length, maxItems=kind.max_length)
                return {"type": "array", "items": self._type(kind.item_type), **limits}
            case inspect.DictType():
                return self._mapping(kind)
            case inspect.StrType():
                limits = _some(minLength=kind.min_length, maxLength=kind.max_length, pattern=kind.pattern)
                return {"type": "string", **limits}
            case inspect.BoolType():
                return {"type": "boolean"}
            case inspect.IntType() | inspect.FloatType():
                limits = _some(minimum=kind.ge, exclusiveMinimum=kind.gt, maximum=kind.le, exclusiveMaximum=kind.lt)
                return {"type": "integer" if isinstance(kind, inspect.IntType) else "number", **limits}
            case inspect.AnyType():
                return {}
        raise TypeError(f"policies are not written in {type(kind).__name__}")

    def _union(self, kind: inspect.UnionType) -> Schema:
        """None stands for an absent key; nobody writes it, so an empty value is a fault."""
        parts = [self._type(part) for part in kind.types if not isinstance(part, inspect.NoneType)]
        return parts[0] if len(parts) == 1 else {"anyOf": parts}

    def _mapping(self, kind: inspect.DictType) -> Schema:
        schema: Schema = {"type": "object"}
        names = {key: value for key, value in self._type(kind.key_type).items() if key != "type"}
        if names:
            schema["propertyNames"] = names
        schema["additionalProperties"] = self._type(kind.value_type)
        return schema


def _some(**limits: object) -> Schema:
    return {name: limit for name, limit in limits.items() if limit is not None}
