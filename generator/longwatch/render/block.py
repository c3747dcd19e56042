"""The YAML that nearly all of our documents consist of, written without PyYAML's detour over a tree of nodes.

Text, numbers, mappings and sequences in block style, byte for byte as PyYAML's C dumper writes them (a test compares
both). Whatever is rarer – control characters, odd keys, text that ends in a space – is left to PyYAML: `written` then
gives None for the whole document.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

_PRINTABLE = "\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd"
_ONE_LINE = re.compile(f"[{_PRINTABLE}]*")
_SEVERAL_LINES = re.compile(f"(?![ \n])[{_PRINTABLE}\n]*")
_INDICATOR = re.compile(r"[#,\[\]{}&*!|>'\"%@` ]|[-?:](?: |$)|---|\.\.\.")
_LONGEST_KEY = 100
"""Characters; PyYAML writes `? ` before a longer one."""

Quoted = Callable[[str], bool]
"""Whether a text must be quoted although it looks plain, since it would be read as a number, a date or a boolean."""


class _Rare(Exception):
    """Something that PyYAML should write."""


def written(value: Any, quoted: Quoted) -> str | None:
    """`value` in block style; None when it holds something rare."""
    out: list[str] = []
    try:
        if type(value) is dict and value:
            _mapping(out, value, "", "", quoted)
        elif (type(value) is list or type(value) is tuple) and value:
            _sequence(out, value, "", "", quoted)
        else:
            return None
    except _Rare:
        return None
    return "".join(out)


def _mapping(out: list[str], mapping: Mapping[str, Any], pad: str, head: str, quoted: Quoted) -> None:
    """`head` stands before the first key, `pad` before the others."""
    for key, value in mapping.items():
        lead, head, kind = f"{head}{_key(key, quoted)}:", pad, type(value)
        if kind is str:
            out.append(f"{lead} {_text(value, pad, quoted)}\n")
        elif kind is dict and value:
            out.append(f"{lead}\n")
            _mapping(out, value, f"{pad}  ", f"{pad}  ", quoted)
        elif (kind is list or kind is tuple) and value:
            out.append(f"{lead}\n")
            _sequence(out, value, pad, pad, quoted)
        else:
            out.append(f"{lead} {_other(value)}\n")


def _sequence(out: list[str], sequence: Iterable[Any], pad: str, head: str, quoted: Quoted) -> None:
    for value in sequence:
        lead, head, kind = f"{head}- ", pad, type(value)
        if kind is str:
            out.append(f"{lead}{_text(value, pad, quoted)}\n")
        elif kind is dict and value:
            _mapping(out, value, f"{pad}  ", lead, quoted)
        elif (kind is list or kind is tuple) and value:
            _sequence(out, value, f"{pad}  ", lead, quoted)
        else:
            out.append(f"{lead}{_other(value)}\n")


@lru_cache(maxsize=1024)
def _key(key: object, quoted: Quoted) -> str:
    if type(key) is not str or len(key) > _LONGEST_KEY or "\n" in key:
        raise _Rare
    return _text(key, "", quoted)


def _text(text: str, pad: str, quoted: Quoted) -> str:
    if _ONE_LINE.fullmatch(text):
        unclear = _INDICATOR.match(text) or ": " in text or " #" in text or text.endswith((":", " ")) or quoted(text)
        return "'" + text.replace("'", "''") + "'" if unclear else text
    if "\n" not in text or not _SEVERAL_LINES.fullmatch(text) or " \n" in text or text.endswith((" ", "\n\n")):
        raise _Rare
    kept = text.endswith("\n")
    lines = text[:-1].split("\n") if kept else text.split("\n")
    return ("|\n" if kept else "|-\n") + "\n".join(f"{pad}  {line}" if line else "" for line in lines)


def _other(value: object) -> str:
    kind = type(value)
    if value is None or kind is bool:
        return "null" if value is None else "true" if value else "false"
    shown = repr(value) if kind is int or kind is float else ""
    if shown.replace(".", "").lstrip("-").isdigit():
        return shown
    if kind is dict or kind is list or kind is tuple:
        return "{}" if kind is dict else "[]"
    raise _Rare
