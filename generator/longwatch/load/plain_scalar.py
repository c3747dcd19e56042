"""What an unquoted YAML 1.1 scalar means, and the spellings that mean something else than people think."""

from __future__ import annotations

import math
import re
from decimal import Decimal

import msgspec

from longwatch.load.document import Scalar

# The patterns are those of YAML 1.1 as PyYAML resolves them (dates excepted: they stay text). Each is linear.
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9_]*)")
_FLOAT = re.compile(r"(?:[-+]?[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+][0-9]+)?")
_RADIX = re.compile(r"[-+]?0(?:b[01_]+|x[0-9a-fA-F_]+)")
_SEXAGESIMAL = re.compile(r"[-+]?(?:[1-9][0-9_]*(?::[0-5]?[0-9])+|[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*)")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
# These two are the traps: what a reader takes for a number and YAML 1.1 does not, or takes for another number.
_OCTAL = re.compile(r"[-+]?0(?:[0-9_]+|o[0-7]+)")
_NUMBER_TO_A_READER = re.compile(r"[-+]?(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?")

_WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_SWITCHES = {
    **dict.fromkeys(("yes", "Yes", "YES", "on", "On", "ON"), True),
    **dict.fromkeys(("no", "No", "NO", "off", "Off", "OFF"), False),
}
_NUMBER_STARTS = frozenset("+-.0123456789")
_LARGEST = 2**63


class Trap(msgspec.Struct, frozen=True, kw_only=True):
    """A spelling that is refused; the texts are those of the diagnostic."""

    code: str
    message: str
    why: str
    help: str


def read_plain(text: str) -> tuple[Scalar, Trap | None]:
    """The value of an unquoted scalar; with a trap, the value is the likeliest meaning (text where none is)."""
    if text in _WORDS:
        return _WORDS[text], None
    if text[0] in _NUMBER_STARTS:
        return _read_number(text)
    if text in _SWITCHES:
        return _SWITCHES[text], _boolean_word(text)
    return text, None


def is_number(text: str) -> bool:
    """Whether a reader takes the key `text` for a number: `1.0e+6`, `300000`, `2e6`."""
    return bool(_NUMBER_TO_A_READER.fullmatch(text))


def _read_number(text: str) -> tuple[Scalar, Trap | None]:
    if _INTEGER.fullmatch(text):
        return _read_integer(text)
    if _FLOAT.fullmatch(text):
        value = float(text.replace("_", ""))
        return (value, None) if math.isfinite(value) else (text, _not_finite(text))
    if _NOT_FINITE.fullmatch(text):
        return text, _not_finite(text)
    if _RADIX.fullmatch(text) and text.strip("+-").replace("_", "") not in ("0b", "0x"):
        return _read_integer(text)
    if _SEXAGESIMAL.fullmatch(text):
        return text, _sexagesimal(text)
    if _OCTAL.fullmatch(text):
        return text, _octal(text)
    if _NUMBER_TO_A_READER.fullmatch(text):
        return _read_number_as_text(text)
    return text, None


def _read_integer(text: str) -> tuple[Scalar, Trap | None]:
    written = text.replace("_", "")
    # Python refuses to read more than 4300 digits, and no tool behind us takes more than 64 bits.
    value = int(written, 0) if len(written) <= 80 else _LARGEST
    if -_LARGEST <= value < _LARGEST:
        return value, None
    return text, Trap(
        code="number-too-large",
        message=f"{_clip(text)} does not fit into 64 bits",
        why="the tools that read the compiled rules would round it or refuse it",
        help="write it as a decimal with an exponent (1.0e+20), or in quotes if it is a name",
    )


def _read_number_as_text(text: str) -> tuple[Scalar, Trap | None]:
    value = float(text.replace("_", ""))
    if not math.isfinite(value):
        return text, _not_finite(text)
    spellings = " or ".join(_spellings(text.replace("_", ""), value))
    return value, Trap(
        code="number-as-text",
        message=f"`{_clip(text)}` looks like a number, but YAML 1.1 reads it as text",
        why="a YAML 1.1 number needs a digit before the decimal point, and with an exponent a decimal point and a sign",
        help=f'write {spellings}, or "{_clip(text)}" in quotes if it is text',
    )


def _spellings(written: str, value: float) -> list[str]:
    """The number as YAML 1.1 accepts it: with an exponent if it had one, and in plain digits while they are few."""
    mantissa, marker, exponent = written.lower().partition("e")
    spellings = []
    if marker:
        mantissa = mantissa.replace("+.", "+0.").replace("-.", "-0.")
        mantissa = f"0{mantissa}" if mantissa.startswith(".") else mantissa
        mantissa = mantissa if "." in mantissa else f"{mantissa}.0"
        mantissa = f"{mantissa}0" if mantissa.endswith(".") else mantissa
        spellings.append(f"{mantissa}e{exponent if exponent[0] in '+-' else '+' + exponent}")
    if value == 0 or 1e-9 <= abs(value) < 1e15:
        digits = format(Decimal(written), "f")
        if len(digits) <= 20 and not (digits.lstrip("+-").startswith("0") and "." not in digits and value):
            spellings.append(digits)
    return spellings or [repr(value)]


def _boolean_word(text: str) -> Trap:
    meaning = "true" if _SWITCHES[text] else "false"
    return Trap(
        code="boolean-word",
        message=f"`{text}` without quotes is {meaning} to this YAML reader and text to others",
        why="YAML 1.1 reads yes, no, on and off as booleans, YAML 1.2 reads them as text",
        help=f'write {meaning}, or "{text}" in quotes if the word is meant',
    )


def _not_finite(text: str) -> Trap:
    return Trap(
        code="not-finite",
        message=f"`{_clip(text)}` is not a finite number",
        why="a comparison with infinity or NaN never holds or always holds, so an alert would be silent or endless",
        help="write a finite number, or leave the setting out",
    )


def _sexagesimal(text: str) -> Trap:
    return Trap(
        code="sexagesimal",
        message=f"`{_clip(text)}` without quotes is a base-60 number in YAML 1.1",
        why="the reader would turn 1:30 into 90",
        help=f'write "{_clip(text)}" in quotes if it is a time of day; write 1h30m or 90s for a duration',
    )


def _octal(text: str) -> Trap:
    plain = text.replace("_", "").lstrip("+-").lstrip("0o") or "0"
    return Trap(
        code="octal",
        message=f"`{_clip(text)}` begins with a zero, and readers of YAML disagree on its value",
        why="YAML 1.1 reads 010 as eight and 08 as text, YAML 1.2 reads ten and eight",
        help=f'write {_clip(plain)} for the number, or "{_clip(text)}" in quotes if it is text',
    )


def _clip(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}…"
