"""Plain values → typed documents, or everything that is wrong with them.

A file is accepted by converting it: the types, from which the published schema is generated, say yes or no in
milliseconds. Only a no is worth building the schema and loading jsonschema, which explains it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from longwatch.diagnostics import Diagnostic, Origin
from longwatch.policy.document import DOCUMENTS, AlertParameters, ExporterDocument, PolicyDocument
from longwatch.schema.validator import Validator
from longwatch.suggest import closest
from longwatch.units import decode, json_schema
from longwatch.validate.explain import PACK_ALERTS, explain, meant, shown
from longwatch.validate.profiles import judge, twice


def validate(
    files: tuple[tuple[str, object], ...], parameters: Mapping[str, type[AlertParameters]]
) -> tuple[tuple[tuple[str, PolicyDocument], ...], tuple[Diagnostic, ...]]:
    """The documents that are free of errors, and all problems of all files. `parameters`: detector → its type."""
    typed: list[tuple[str, PolicyDocument]] = []
    problems: list[Diagnostic] = []
    for file, value in files:
        found = _kind_problem(file, value)
        if found is None and isinstance(value, dict):
            document = _converted(value, parameters)
            if document is not None:
                typed.append((file, document))
                if isinstance(document, ExporterDocument):
                    problems += judge(file, document)
            else:
                problems += _explained(file, value, parameters)
        elif found is not None:
            problems.append(found)
    problems += twice(typed)
    if not any(isinstance(value, dict) and value.get("kind") == "Organisation" for _, value in files):
        problems += _no_organisation(files)
    return tuple(typed), tuple(problems)


def schema(parameters: Mapping[str, type[AlertParameters]]) -> dict[str, Any]:
    """The published schema of the policy language with these detectors."""
    from longwatch.schema.published import Language, published  # not needed for policies without faults

    return published(Language(documents=DOCUMENTS, parameters=parameters, packs=PACK_ALERTS, custom=json_schema))


@lru_cache(maxsize=4)
def _validator(parameters: tuple[tuple[str, type[AlertParameters]], ...]) -> Validator:
    return Validator(schema(dict(parameters)))


def _kind_problem(file: str, value: object) -> Diagnostic | None:
    if not isinstance(value, dict):
        return Diagnostic(
            code="wrong-type",
            message=f"a policy is a mapping, not {shown(value)}",
            help="begin with `apiVersion: longwatch/v1` and `kind: ModelFamily`",
            origin=Origin(file=file),
        )
    kind = value.get("kind")
    if isinstance(kind, str) and kind in DOCUMENTS:
        return None
    near = closest(kind, DOCUMENTS) if isinstance(kind, str) else None
    return Diagnostic(
        code="unknown-kind",
        message=f"no kind of policy is called {shown(kind)}" if "kind" in value else "the file does not say its kind",
        help=f'did you mean "{near}"?' if near else f"write `kind:` and one of {', '.join(DOCUMENTS)}",
        origin=Origin(file=file, path=("kind",) if "kind" in value else ()),
    )


def _converted(value: dict[str, object], parameters: Mapping[str, type[AlertParameters]]) -> PolicyDocument | None:
    """None when anything is wrong: then the schema has the word."""
    if _has_empty_values(value):
        return None
    try:
        document = msgspec.convert(value, DOCUMENTS[str(value["kind"])], dec_hook=decode)
        for added in _entries(value, "alerts", "add"):
            rest = {key: setting for key, setting in added[1].items() if key != "detect"}
            msgspec.convert(rest, parameters[added[1]["detect"]], dec_hook=decode)
        for name, override in (*_entries(value, "alerts", "override"), *_entries(value, "override")):
            if name in PACK_ALERTS:
                msgspec.convert(override, _optional(parameters[PACK_ALERTS[name]]), dec_hook=decode)
    except (msgspec.ValidationError, KeyError, TypeError):
        return None
    return document


def _entries(value: Mapping[str, object], *path: str) -> tuple[tuple[str, dict[str, Any]], ...]:
    found: Any = value
    for step in path:
        found = found.get(step, {}) if isinstance(found, dict) else {}
    return tuple(found.items()) if isinstance(found, dict) else ()


def _has_empty_values(value: object) -> bool:
    """`below:` with nothing behind it: the types would take it for an absent key, people would not."""
    if isinstance(value, dict):
        return any(map(_has_empty_values, value.values()))
    if isinstance(value, list):
        return any(map(_has_empty_values, value))
    return value is None


@lru_cache(maxsize=64)
def _optional(kind: type[AlertParameters]) -> type:
    """The same parameters with nothing required: what an override may write."""
    fields = [
        (field.name, field.type, msgspec.field(default=None, name=field.encode_name))
        for field in msgspec.structs.fields(kind)
    ]
    return msgspec.defstruct(kind.__name__, fields, frozen=True, kw_only=True, forbid_unknown_fields=True)


def _explained(
    file: str, value: dict[str, object], parameters: Mapping[str, type[AlertParameters]]
) -> Sequence[Diagnostic]:
    faults = _validator(tuple(sorted(parameters.items()))).faults(value)
    if faults:
        return [explain(file, value, fault) for fault in meant(faults)]
    try:
        msgspec.convert(value, DOCUMENTS[str(value["kind"])], dec_hook=decode)
    except msgspec.ValidationError as error:
        message = str(error)
    else:
        message = "an alert has parameters that its detector cannot read"
    return [
        Diagnostic(
            code="wrong-type",
            message=message,
            why="the published schema accepts it, the compiler does not: this is a fault of Longwatch",
            help="please report it with this file",
            origin=Origin(file=file),
        )
    ]


def _no_organisation(files: tuple[tuple[str, object], ...]) -> Sequence[Diagnostic]:
    return [
        Diagnostic(
            code="no-organisation",
            message="no policy of kind Organisation",
            why="it names the teams, receivers and links that every alert needs",
            help="add policies/organisation.yaml; `longwatch init` writes one to start from",
            origin=Origin(file=files[0][0]) if files else None,
        )
    ]
