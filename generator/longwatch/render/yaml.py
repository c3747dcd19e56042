"""Deterministic YAML for people to review and for Go programs to read. The only place that writes YAML."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, cast

import yaml
from yaml.resolver import Resolver

from longwatch.render import block

# The C dumper is ten times faster; a PyYAML built without libyaml has only the other one.
_Base = cast("type[yaml.SafeDumper]", getattr(yaml, "CSafeDumper", yaml.SafeDumper))

_WIDTH = 2**31 - 1  # one long PromQL expression stays on one line: a folded one cannot be pasted into a query box

# PyYAML knows YAML 1.1; Go's readers also take these for numbers, booleans or null.
_MISREAD = re.compile(
    r"[-+]?[0-9.][0-9_.,:]*([eE][-+]?[0-9_.]*)?|[-+]?0[xXoObB][0-9a-fA-F_]*|[-+]?\.?(inf|nan)"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}.*|y|n|yes|no|on|off|true|false|null|~|<<|=",
    re.IGNORECASE,
)

_MISREAD_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null", "inf", "nan"))
_RESOLVER: Any = Resolver()

# Line ends other than \n, and tabs at the start of a line, do not survive a literal block in every reader.
_NOT_LITERAL = re.compile("[\t\r\x85\u2028\u2029]")

_TEXT = "tag:yaml.org,2002:str"


class _Dumper(_Base):  # type: ignore[valid-type,misc]
    def ignore_aliases(self, data: object) -> bool:
        # `&id001` in two rules that share a mapping would be unreadable, and some readers refuse it.
        return True


def _text(dumper: Any, data: str) -> yaml.Node:
    text = str(data)
    style = None
    if "\n" in text:
        style = '"' if _NOT_LITERAL.search(text) else "|"
    elif _MISREAD.fullmatch(text):
        style = "'"
    return cast("yaml.Node", dumper.represent_scalar(_TEXT, text, style=style))


def must_be_quoted(text: str) -> bool:
    """Whether a reader could take it for anything but text."""
    if text[:1].isalpha():
        return text.lower() in _MISREAD_WORDS
    return _is_misread(text)


@lru_cache(maxsize=4096)
def _is_misread(text: str) -> bool:
    return bool(_MISREAD.fullmatch(text)) or _RESOLVER.resolve(yaml.ScalarNode, text, (True, False)) != _TEXT


def _mapping(dumper: Any, data: Mapping[Any, Any]) -> yaml.Node:
    return cast("yaml.Node", dumper.represent_mapping("tag:yaml.org,2002:map", dict(data)))


def _sequence(dumper: Any, data: Sequence[Any]) -> yaml.Node:
    return cast("yaml.Node", dumper.represent_sequence("tag:yaml.org,2002:seq", list(data)))


_Dumper.add_representer(str, _text)
_Dumper.add_representer(MappingProxyType, _mapping)
_Dumper.add_multi_representer(str, _text)
_Dumper.add_multi_representer(float, lambda dumper, data: dumper.represent_float(float(data)))
_Dumper.add_multi_representer(int, lambda dumper, data: dumper.represent_int(int(data)))
_Dumper.add_multi_representer(Mapping, _mapping)
_Dumper.add_multi_representer(dict, _mapping)
_Dumper.add_multi_representer(list, _sequence)
_Dumper.add_multi_representer(tuple, _sequence)


def comment(header: Sequence[str]) -> str:
    """`header` as YAML comment lines; a line may bring its own `#`."""
    lines = [line for entry in header for line in entry.splitlines() or [""]]
    return "".join(f"{line}\n" if line.startswith("#") else f"# {line}".rstrip() + "\n" for line in lines)


def dump(value: object, header: Sequence[str] = ()) -> str:
    """`value` as YAML: keys in the given order, no aliases, several lines as a literal block, `header` as comments.

    Loading the text gives an equal value (tuples as lists). Raises yaml.YAMLError on a type that YAML cannot hold.
    """
    text = block.written(value, must_be_quoted)
    return comment(header) + (general(value) if text is None else text)


def general(value: object) -> str:
    """As `dump`, by PyYAML alone: four times slower, for any value."""
    return str(
        yaml.dump(
            value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=False, width=_WIDTH, indent=2
        )
    )
