"""The loader's door to PyYAML: bytes → a Document, or everything that is wrong with them.

Policies are a strict subset of YAML 1.1: one document, text keys, no anchors, merge keys or tags, and no spelling
that YAML 1.1 and 1.2 read differently. Values are built from parser events, not from PyYAML's nodes: composing
nodes recurses in C (deep nesting would end the process) and hides anchors, tags and duplicate keys.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import yaml

from longwatch.diagnostics import Diagnostic, Span
from longwatch.load.document import Document, Place, Scalar, Value, span_between
from longwatch.load.plain_scalar import is_number, read_plain
from longwatch.load.syntax_words import Complaint, explain

MAX_BYTES = 2**20
"""The largest policy file; a hundred times the usual size."""
MAX_DEPTH = 50
"""The deepest nesting; the policy language needs about ten levels."""

_PARSER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # PyYAML without libyaml is eight times slower

# What YAML forbids, and invisible characters that make a reviewer see another text than the compiler.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff]")
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_UTF8_BOM = b"\xef\xbb\xbf"

_TOO_DEEP = f"values are nested more than {MAX_DEPTH} levels deep"
_TOO_DEEP_HELP = "a policy needs about ten levels: look for a bracket or an indentation too many"

_MEANING_IS_CLEAR = frozenset({"boolean-word", "duplicate-key", "number-as-text"})


def read_text(file: str, raw: bytes) -> tuple[Document | None, tuple[Diagnostic, ...]]:
    """The document in `raw`, and all problems of it in the order of their places. Raises nothing.

    A document beside errors is good enough for later stages to report their own findings in the same run, never to
    compile: doubtful numbers and booleans have their likely value, of duplicate keys the first is kept.
    """
    if len(raw) > MAX_BYTES:
        return None, (_too_large(file),)
    text = _decode(file, raw)
    if isinstance(text, Diagnostic):
        return None, (text,)
    problems = _control_characters(file, text)
    if problems:
        text = _CONTROL.sub("\ufffd", text)  # keeps the columns, and lets the parser find what else is wrong
    lines = tuple(text.splitlines())
    parser = _PARSER(text)
    builder = _Builder(file, lines, parser.get_event)
    try:
        document = builder.document()
    except _Stop:
        document = None
    except yaml.YAMLError as error:
        document = None
        builder.problems.append(_syntax(file, lines, error))
    finally:
        parser.dispose()
    problems += builder.problems
    if any(problem.code not in _MEANING_IS_CLEAR for problem in problems):
        document = None
    return document, tuple(sorted(problems, key=lambda p: (p.span.line, p.span.column) if p.span else (0, 0)))


class _Stop(Exception):
    """The rest of the document cannot be judged; the problem is already noted."""


class _Builder:
    """Turns the events of one document into values and places, and notes problems on the way."""

    def __init__(self, file: str, lines: tuple[str, ...], next_event: Callable[[], Any]) -> None:
        self.problems: list[Diagnostic] = []
        self._file = file
        self._lines = lines
        self._next = next_event
        self._has_exclamation = any("!" in line for line in lines)  # asked once, not for each of hundreds of scalars

    def document(self) -> Document | None:
        self._next()  # the start of the stream
        if not isinstance(self._next(), yaml.DocumentStartEvent):
            self.problems.append(_empty(self._file))
            return None
        event = self._next()
        if isinstance(event, yaml.ScalarEvent) and event.value == "" and event.implicit[0] and not event.anchor:
            self.problems.append(_empty(self._file))
        value, root = self._value(event, 0)
        self._next()  # the end of the document
        event = self._next()
        if isinstance(event, yaml.DocumentStartEvent):
            self._note(
                event,
                "several-documents",
                "a second document begins here",
                why="a policy file holds one document, named by its path",
                help="move what follows `---` into a file of its own",
            )
        return Document(file=self._file, value=value, lines=self._lines, root=root)

    def _value(self, event: Any, depth: int, key: Place | None = None) -> tuple[Value, Place]:
        kind = type(event)
        if kind is yaml.ScalarEvent:
            return self._scalar(event), _place(event, event, key)
        if kind is yaml.AliasEvent:
            self._refuse_alias(event)
            return None, _place(event, event, key)
        if depth >= MAX_DEPTH:
            self._note(event, "nesting-too-deep", _TOO_DEEP, help=_TOO_DEEP_HELP)
            raise _Stop
        self._refuse_properties(event)
        if kind is yaml.MappingStartEvent:
            return self._mapping(event, depth + 1, key)
        return self._sequence(event, depth + 1, key)

    def _sequence(self, start: Any, depth: int, key: Place | None) -> tuple[Value, Place]:
        values: list[Value] = []
        children: dict[str | int, Place] = {}
        while type(event := self._next()) is not yaml.SequenceEndEvent:
            value, children[len(values)] = self._value(event, depth)
            values.append(value)
        return values, _place(start, event, key, children, not start.flow_style)

    def _mapping(self, start: Any, depth: int, key: Place | None) -> tuple[Value, Place]:
        values: dict[str, Value] = {}
        children: dict[str | int, Place] = {}
        while type(event := self._next()) is not yaml.MappingEndEvent:
            name = self._key(start, event, depth)
            key_place = _place(event, event)
            following = self._next()
            if name is None:
                if not (type(following) is yaml.AliasEvent and _is_merge(event)):  # one finding for `<<: *base`
                    self._value(following, depth)
                continue
            value, place = self._value(following, depth, key_place)
            if name in values:
                self._refuse_duplicate(event, name, children[name])
            else:
                values[name], children[name] = value, place
        return values, _place(start, event, key, children, not start.flow_style)

    def _scalar(self, event: Any) -> Scalar:
        self._refuse_properties(event)
        text: str = event.value
        if not event.implicit[0]:
            if event.style == '"' and _CONTROL.search(text):
                self._note(
                    event,
                    "control-character",
                    "the text contains an escaped control character",
                    why="it would travel into rules and messages, where it cannot be seen",
                    help="remove it",
                )
            return text
        value, trap = read_plain(text)
        if trap is not None:
            self._note(event, trap.code, trap.message, why=trap.why, help=trap.help)
        return value

    def _key(self, mapping: Any, event: Any, depth: int) -> str | None:
        """The key's written text; None when it is refused."""
        if type(event) is not yaml.ScalarEvent:
            if type(event) is yaml.AliasEvent:
                self._refuse_alias(event)
                return None
            self._refuse_collection_as_key(mapping, event)
            before = len(self.problems)
            self._value(event, depth)
            del self.problems[before:]  # what stands inside is no policy
            return None
        self._refuse_properties(event)
        text: str = event.value
        if not event.implicit[0]:
            return text
        if _is_merge(event):
            self._note(
                event,
                "anchor",
                "merge keys (`<<`) are refused in policies",
                why="a reviewer of one line could not see what else it changes",
                help="write the settings out, or use `extends` and packs, whose effect `longwatch explain` shows",
            )
            return None
        value, trap = read_plain(text)
        if trap is None and isinstance(value, str):
            return text
        if is_number(text):  # the points of a curve; read_plain refuses 1e6, which is harmless as text
            return text
        if trap is not None:
            self._note(event, trap.code, trap.message, why=trap.why, help=trap.help)
        else:
            shown = f"`{text}`" if text else "an empty key"
            self._note(
                event, "key-not-text", f"{shown} is not text", help="a key is a name: put it in quotes if it is meant"
            )
            return None
        return text

    def _refuse_properties(self, event: Any) -> None:
        if event.anchor is not None:
            self._note(
                event,
                "anchor",
                f"the anchor `&{event.anchor}` is refused in policies",
                why="a change at the anchor would change places that a reviewer does not see",
                help="write the value out where it is used, or use `extends` and packs",
            )
        tag = event.tag
        if tag is None and self._has_exclamation and self._is_bare_tag(event):
            tag = "!"
        if tag is not None:
            shown = tag.replace("tag:yaml.org,2002:", "!!", 1)
            self._note(
                event,
                "tag",
                f"the tag `{shown}` is refused in policies",
                why="a policy holds plain text, numbers, booleans, lists and mappings",
                help="remove the tag; put the value in quotes if it begins with `!`",
            )

    def _is_bare_tag(self, event: Any) -> bool:
        """Whether a scalar carries the tag `!`, which the parser drops from its event."""
        start, end = event.start_mark, event.end_mark
        if type(event) is not yaml.ScalarEvent or not event.implicit[0]:
            return False
        longer = bool(end.index - start.index > len(event.value))
        return longer and self._lines[start.line][start.column] == "!"

    def _refuse_alias(self, event: Any) -> None:
        self._note(
            event,
            "anchor",
            f"the alias `*{event.anchor}` is refused in policies",
            why="a reviewer of this line could not see its value",
            help="write the value out, or put it in quotes if it is a text that begins with `*`",
        )

    def _refuse_collection_as_key(self, mapping: Any, event: Any) -> None:
        braces = type(event) is yaml.MappingStartEvent and bool(event.flow_style and mapping.flow_style)
        hint = "put a text that contains {{ }} in quotes" if braces else "a key is a name: one word before the colon"
        what = "mapping" if type(event) is yaml.MappingStartEvent else "list"
        self._note(event, "key-not-text", f"a {what} stands where a key is expected", help=hint)

    def _refuse_duplicate(self, event: Any, name: str, first: Place) -> None:
        line = (first.key or first).line + 1
        self._note(
            event,
            "duplicate-key",
            f'"{name}" is written twice; the first is on line {line}',
            why="YAML would keep one of the two and drop the other without a word",
            help="remove one of them, or give it the name that was meant",
        )

    def _note(self, event: Any, code: str, message: str, *, why: str = "", help: str = "") -> None:
        start, end = event.start_mark, event.end_mark
        span = span_between(self._file, self._lines, start.line, start.column, end.line, end.column)
        self.problems.append(Diagnostic(code=code, message=message, why=why, help=help, span=span))


def _place(
    start: Any, end: Any, key: Place | None = None, children: dict[str | int, Place] | None = None, block: bool = False
) -> Place:
    begin, finish = start.start_mark, end.end_mark
    return Place(begin.line, begin.column, finish.line, finish.column, key, children or {}, block)


def _is_merge(event: Any) -> bool:
    return type(event) is yaml.ScalarEvent and bool(event.value == "<<" and event.implicit[0])


def _decode(file: str, raw: bytes) -> str | Diagnostic:
    if raw.startswith(_UTF16) or b"\x00" in raw[:4]:
        return Diagnostic(
            code="not-text",
            message="the file is encoded in UTF-16 or UTF-32, or is no text at all",
            help="save it as UTF-8",
            span=Span(file=file, line=1, column=1),
        )
    body = raw.removeprefix(_UTF8_BOM)
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        start = error.start
        before = body[:start].decode("utf-8")
        lines = (before + "\ufffd").splitlines()
        rest = re.split(rb"[\r\n]", body[start:], maxsplit=1)[0].decode("utf-8", "replace")
        column = len(lines[-1])
        return Diagnostic(
            code="not-text",
            message=f"byte {start + len(raw) - len(body)} (0x{body[start]:02x}) is not UTF-8 text",
            help="save the file as UTF-8; an editor may have used Latin-1 or Windows-1252",
            span=Span(file=file, line=len(lines), column=column, length=1, text=lines[-1][:-1] + rest),
        )


def _control_characters(file: str, text: str) -> list[Diagnostic]:
    """One finding a line: a binary file would bury the rest."""
    if not _CONTROL.search(text):
        return []
    # str.splitlines() also breaks lines at some of the characters in question, the parser does not.
    lines = re.split(r"\r\n|[\r\n\x85\u2028\u2029]", text)
    return [
        Diagnostic(
            code="control-character",
            message=f"the line contains the invisible character U+{ord(found.group()):04X}",
            why="a reviewer would see another text than the compiler",
            help="remove it",
            span=Span(file=file, line=number + 1, column=found.start() + 1, length=1, text=line),
        )
        for number, line in enumerate(lines)
        if (found := _CONTROL.search(line))
    ]


def _syntax(file: str, lines: tuple[str, ...], error: yaml.YAMLError) -> Diagnostic:
    mark = getattr(error, "problem_mark", None)
    context = getattr(error, "context_mark", None)
    line, column = (mark.line, mark.column) if mark else (0, 0)
    span = span_between(file, lines, line, column, line, column + 1)
    problem = getattr(error, "problem", None) or str(error)
    if "nesting depth" in problem:  # libyaml's own limit strikes while it looks ahead
        return Diagnostic(code="nesting-too-deep", message=_TOO_DEEP, help=_TOO_DEEP_HELP, span=span)
    explanation = explain(
        Complaint(
            problem=problem,
            context=getattr(error, "context", None) or "",
            opened=context.line + 1 if context else 0,
            text=lines[line] if line < len(lines) else "",
            column=column,
            above=lines[line - 1] if 0 < line <= len(lines) else "",
        )
    )
    if explanation.at_start and context:
        line, column = context.line, context.column
        span = span_between(file, lines, line, column, line, column + 1)
    return Diagnostic(code="yaml-syntax", message=explanation.message, help=explanation.help, span=span)


def _empty(file: str) -> Diagnostic:
    return Diagnostic(
        code="empty-file",
        message="the file contains no policy",
        help="write one (`longwatch init` scaffolds it), or remove the file",
        span=Span(file=file, line=1, column=1),
    )


def _too_large(file: str) -> Diagnostic:
    return Diagnostic(
        code="file-too-large",
        message=f"the file is larger than {MAX_BYTES // 2**20} MiB",
        why="a policy is written and reviewed by people; recordings and generated data do not belong into it",
        help="keep data out of policies/, or split the policy",
        span=Span(file=file, line=1, column=1),
    )
