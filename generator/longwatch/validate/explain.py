"""A violated keyword of the schema → a diagnostic in the words of the policy language."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from longwatch.catalogue.packs import PACKS
from longwatch.diagnostics import Diagnostic, Origin
from longwatch.schema.validator import Fault
from longwatch.suggest import closest
from longwatch.units import number, parse_threshold
from longwatch.validate.spelling import EXAMPLES, Quantity, as_percent, is_number, is_percent, quantity, respelled

_TYPES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
}
PACK_ALERTS: Mapping[str, str] = {alert.name: alert.detect for pack in PACKS.values() for alert in pack.alerts}
"""Alert of a pack → its detector."""

_DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME = "[0-2][0-9]:[0-5][0-9]"


def meant(faults: Sequence[Fault]) -> tuple[Fault, ...]:
    """Without the missing keys that are there, but misspelt."""
    misspelt = {
        (fault.path[:-1], closest(str(fault.value), map(str, fault.expected)))
        for fault in faults
        if fault.keyword == "additionalProperties"
    }
    return tuple(f for f in faults if f.keyword != "required" or (f.path, f.value) not in misspelt)


def explain(file: str, document: object, fault: Fault) -> Diagnostic:
    """`document` is the whole value of the file, for the words that depend on neighbours."""
    origin = Origin(file=file, path=fault.path, key=fault.key)
    match fault.keyword:
        case "required":
            return _missing(fault, origin)
        case "additionalProperties":
            return _unknown_key(fault, origin, document)
        case "enum" | "const":
            return _not_allowed(fault, origin)
        case "type":
            return _wrong_type(fault, origin, document)
        case "pattern":
            return _wrong_form(fault, origin)
        case "minimum" | "exclusiveMinimum" | "maximum" | "exclusiveMaximum":
            return _out_of_range(fault, origin)
        case "minItems":
            return Diagnostic(
                code="empty-list",
                message=f"{_name(fault)} is empty",
                help=f"list {'one entry' if fault.expected == 1 else f'{fault.expected} entries'} at least",
                origin=origin,
            )
        case "minLength":
            return Diagnostic(
                code="empty-text",
                message=f"{_name(fault)} is empty",
                help="write the text, or remove the key if it is optional",
                origin=origin,
            )
    return Diagnostic(
        code="wrong-type",
        message=f"{_name(fault)} cannot be {shown(fault.value)}",
        help=f"the schema asks for {fault.keyword}: {fault.expected}",
        origin=origin,
    )


def shown(value: object) -> str:
    """The offending value as it was written, cut to a line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "nothing"
    if isinstance(value, (int, float)):
        return f"{number(value)}.0" if isinstance(value, float) and value.is_integer() else number(value)
    if isinstance(value, str):
        return f'"{value}"' if len(value) <= 60 else f'"{value[:57]}…"'
    return "a list" if isinstance(value, list) else "a mapping"


def _name(fault: Fault) -> str:
    keys = [step for step in fault.path if isinstance(step, str)]
    name = f'"{keys[-1]}"' if keys else "the file"
    return f"an entry of {name}" if fault.path and isinstance(fault.path[-1], int) else name


def _missing(fault: Fault, origin: Origin) -> Diagnostic:
    name = str(fault.value)
    if name == "owner":
        return Diagnostic(
            code="missing-owner",
            message="there is no owner",
            why="an alert without an owner reaches nobody",
            help="add `owner: TEAM`, a team of the organisation's policy",
            origin=origin,
        )
    if name == "detect":
        return Diagnostic(
            code="missing-key",
            message=f'{_name(fault)} says no detector: "detect" is missing',
            why="the detector decides which parameters there are",
            help=f"add `detect:` and one of {', '.join(fault.schema['properties']['detect']['enum'])}",
            origin=origin,
        )
    where = f" in {_name(fault)}" if fault.path else ""
    described = fault.schema.get("properties", {}).get(name, {}).get("description", "")
    return Diagnostic(
        code="missing-key",
        message=f'"{name}" is missing{where}',
        help=f"add `{name}: …`" + (f" ({described.rstrip('.')})" if described else ""),
        origin=origin,
    )


def _unknown_key(fault: Fault, origin: Origin, document: object) -> Diagnostic:
    name, known = str(fault.value), tuple(str(key) for key in fault.expected)
    parent = _at(document, fault.path[:-1])
    above = fault.path[-3:-2]
    detector = None
    if above == ("override",):
        detector = PACK_ALERTS.get(str(fault.path[-2]))
    elif above == ("add",) and isinstance(parent, Mapping):
        detector = parent.get("detect")
    if name == "detect":
        return Diagnostic(
            code="unknown-key",
            message="an override cannot change the detector",
            why="the parameters of another detector would not fit the pack's",
            help="disable the pack's alert (with reason and until), and add one of your own under alerts.add",
            origin=origin,
        )
    near = closest(name, known)
    what = f'a parameter of the detector "{detector}"' if detector else "a key that is known here"
    return Diagnostic(
        code="unknown-key",
        message=f'"{name}" is not {what}',
        why="a setting that nobody reads would silently have no effect",
        help=_suggestion(near, known, "known keys"),
        origin=origin,
    )


def _not_allowed(fault: Fault, origin: Origin) -> Diagnostic:
    choices = [str(choice) for choice in (fault.expected if isinstance(fault.expected, list) else [fault.expected])]
    near = closest(fault.value, choices) if isinstance(fault.value, str) else None
    if fault.key:
        return Diagnostic(
            code="unknown-key",
            message=f"{shown(fault.value)} is not a key that is known here",
            help=_suggestion(near, choices, "known keys"),
            origin=origin,
        )
    if fault.path[-1:] == ("detect",):
        return Diagnostic(
            code="unknown-detector",
            message=f"no detector is called {shown(fault.value)}",
            help=_suggestion(near, choices, "detectors"),
            origin=origin,
        )
    return Diagnostic(
        code="not-allowed",
        message=f"{_name(fault)} cannot be {shown(fault.value)}",
        help=_suggestion(near, choices, "allowed"),
        origin=origin,
    )


def _wrong_type(fault: Fault, origin: Origin, document: object) -> Diagnostic:
    value, wanted = fault.value, quantity(fault.schema.get("pattern"))
    number_given = isinstance(value, (int, float)) and not isinstance(value, bool)
    if wanted == "percentage" and number_given:
        return _no_percent(fault, origin, float(value))
    if wanted == "duration" and number_given:
        return Diagnostic(
            code="unknown-unit",
            message=f"{_name(fault)} is a duration, and {shown(value)} has no unit",
            help=f"write {number(value)}s or {number(value)}m; {EXAMPLES['duration']}",
            origin=origin,
        )
    kinds = fault.expected if isinstance(fault.expected, list) else [fault.expected]
    if isinstance(value, str) and ("number" in kinds or "integer" in kinds):
        return _text_for_number(fault, origin, document)
    if value is None:
        return Diagnostic(
            code="wrong-type",
            message=f"{_name(fault)} has no value",
            help="write one, or remove the key if it is optional",
            origin=origin,
        )
    expected = f"a {wanted}" if wanted else _types(kinds)
    return Diagnostic(
        code="wrong-type",
        message=f"{_name(fault)} is {expected}, not {shown(value)}",
        help=_type_help(value, kinds, wanted),
        origin=origin,
    )


def _type_help(value: object, kinds: list[str], wanted: Quantity | None) -> str:
    if wanted:
        return EXAMPLES[wanted]
    if "string" in kinds and isinstance(value, (int, float)):
        return f'write "{shown(value)}" in quotes'
    if "array" in kinds and isinstance(value, (str, int, float)):
        return f"write [{value}]"
    if "integer" in kinds and isinstance(value, float):
        return f"write {number(round(value))}, or another whole number"
    return f"write {_types(kinds)}"


def _types(kinds: list[str]) -> str:
    return " or ".join(_TYPES.get(kind, kind) for kind in kinds)


def _text_for_number(fault: Fault, origin: Origin, document: object) -> Diagnostic:
    text = str(fault.value)
    if is_percent(text):
        return Diagnostic(
            code="percent-as-ratio",
            message=f"{_name(fault)} is a plain number, not the percentage {text}",
            why="it stands in the signal's own unit, in which a percentage means nothing",
            help=_plain(fault, text, document),
            origin=origin,
        )
    if is_number(text):
        hint = f"write {text.strip()} without the quotes"
    else:
        try:
            hint = f"write {number(parse_threshold(text))}, in the base unit (seconds, bytes)"
        except ValueError:
            hint = "write a plain number, in the signal's unit"
    return Diagnostic(
        code="wrong-type", message=f"{_name(fault)} is a number, not the text {shown(text)}", help=hint, origin=origin
    )


def _plain(fault: Fault, text: str, document: object) -> str:
    """The percentage as a number: of the value beside it, when there is one."""
    share = float(text[:-1]) / 100
    beside = _at(document, fault.path[:-1])
    value = beside.get("value") if isinstance(beside, Mapping) else None
    if isinstance(value, (int, float)) and not isinstance(value, bool) and fault.path[-1] != "value":
        written = number(round(share * value, 6))
        return f"write the number in the signal's unit: {text} of {number(value)} is {written}"
    return f"write the number in the signal's unit; as a ratio, {text} is {number(round(share, 10))}"


def _no_percent(fault: Fault, origin: Origin, value: float) -> Diagnostic:
    return Diagnostic(
        code="percent-as-ratio",
        message=f"{_name(fault)} is a percentage, and {shown(value)} has no sign",
        why="0.1 and 10 would both be read as ten percent by somebody",
        help=f"write {as_percent(value)}",
        origin=origin,
    )


def _wrong_form(fault: Fault, origin: Origin) -> Diagnostic:
    pattern, text = str(fault.expected), str(fault.value)
    kind = quantity(pattern)
    if kind is not None:
        return _wrong_unit(fault, origin, kind, text)
    if _DATE in pattern:
        return Diagnostic(
            code="bad-date",
            message=f"{_name(fault)} is a date, and {shown(text)} is not one",
            help="write YYYY-MM-DD, such as 2026-12-20",
            origin=origin,
        )
    if _TIME in pattern:
        return Diagnostic(
            code="mute-window",
            message=f"{shown(text)} is not a time of day",
            help='write HH:MM in quotes, such as "08:30"',
            origin=origin,
        )
    escapes = ".." in text or "/" in text or "\\" in text
    return Diagnostic(
        code="bad-name",
        message=f"{shown(text)} cannot be {'a name' if fault.key else f'the name in {_name(fault)}'}",
        why="names become files and labels; this one would leave its directory" if escapes else "",
        help=_name_help(pattern, str(fault.schema.get("description", ""))),
        origin=origin,
    )


def _name_help(pattern: str, description: str) -> str:
    words = description.rstrip(".")
    if words:
        return f"use {words if words == 'CamelCase' else words[0].lower() + words[1:]}"
    if ":" in pattern:
        return "a metric name has letters, digits, _ and :, and does not begin with a digit"
    if "A-Z" in pattern:
        return "a label name has letters, digits and _, and does not begin with a digit"
    return f"it must match {pattern}"


def _wrong_unit(fault: Fault, origin: Origin, kind: Quantity, text: str) -> Diagnostic:
    if kind == "percentage" and is_number(text):
        return _no_percent(fault, origin, float(text))
    meant = respelled(text, kind)
    if kind == "threshold" and is_number(text):
        meant = text.strip()
    known = EXAMPLES[kind]
    return Diagnostic(
        code="unknown-unit",
        message=f"{_name(fault)} is a {kind}, and {shown(text)} is not one",
        help=f"write {meant}" if meant else known,
        origin=origin,
    )


def _out_of_range(fault: Fault, origin: Origin) -> Diagnostic:
    limit = number(fault.expected)
    words = {
        "minimum": f"{limit} or more",
        "exclusiveMinimum": f"more than {limit}",
        "maximum": f"{limit} or less",
        "exclusiveMaximum": f"less than {limit}",
    }[fault.keyword]
    return Diagnostic(
        code="out-of-range",
        message=f"{_name(fault)} cannot be {shown(fault.value)}",
        help=f"write {words}",
        origin=origin,
    )


def _suggestion(near: str | None, choices: Iterable[str], what: str) -> str:
    return f'did you mean "{near}"?' if near else f"{what}: {', '.join(sorted(choices))}"


def _at(document: object, path: tuple[str | int, ...]) -> Any:
    value: Any = document
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value
