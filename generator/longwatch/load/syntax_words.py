"""YAML's syntax errors in plain words. Knows the phrases of libyaml and of PyYAML's own parser; imports neither."""

from __future__ import annotations

import re

import msgspec


class Complaint(msgspec.Struct, frozen=True, kw_only=True):
    """What the parser reports; lines count from 1, columns from 0."""

    problem: str
    context: str = ""
    opened: int = 0
    """The line on which the construct in `context` begins; 0 when unknown."""
    text: str = ""
    """The source line of the problem."""
    column: int = 0
    above: str = ""
    """The source line before it."""


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """`at_start` asks to point at where the construct begins: the parser notices some mistakes far behind them."""

    message: str
    help: str = ""
    at_start: bool = False


_RESERVED = {
    "@": "`@` may not begin a text",
    "`": "a backquote may not begin a text",
    "%": "`%` may not begin a text",
}
_SECOND_COLON = re.compile(r":(?:\s|$)")


def explain(complaint: Complaint) -> Explanation:
    """What is wrong and what to do, for the one who wrote the line."""
    found = _explain(complaint)
    if "\xa0" in complaint.above + complaint.text:
        # Invisible, and pasted from web pages: nobody finds it without being told.
        return msgspec.structs.replace(
            found, help="a no-break space stands here or in the line above: replace it by an ordinary space"
        )
    return found


def _explain(complaint: Complaint) -> Explanation:
    problem, context = complaint.problem, complaint.context
    if "mapping values are not allowed" in problem:
        return _misplaced_colon(complaint)
    if "cannot start any token" in problem:
        return _bad_start(complaint)
    if "could not find expected ':'" in problem:
        return Explanation(
            message="this line is neither `key: value` nor a list item",
            help="add the colon and a space behind the key, or indent the line under the text that it continues",
            at_start=True,
        )
    if "quoted scalar" in context or "double-quoted" in context:
        return _bad_quotes(complaint)
    if "flow sequence" in context or "flow mapping" in context:
        bracket, closing = ("[", "]") if "sequence" in context else ("{", "}")
        return Explanation(
            message=f"the `{bracket}` of line {complaint.opened} is not closed, or a comma is missing in it",
            help=f"put commas between entries and close with `{closing}`; quote a text that contains , [ ] {{ or }}",
        )
    if "tab character" in problem:
        return _tab()
    if "block sequence" in problem or "sequence entries are not allowed" in problem:
        return Explanation(
            message="a list item may not begin here", help="put `- ` on a line of its own, indented under its key"
        )
    if "block collection" in context or "block sequence" in context:
        return Explanation(
            message=f"this line stands in the list that begins on line {complaint.opened}, but is not a list item",
            help="begin it with `- `, or change its indentation so that it leaves the list or continues an item",
        )
    if "block mapping" in context:
        return _bad_key(complaint)
    if "block scalar" in context:
        return Explanation(
            message="only `|` or `>` with +, - or a digit may stand here",
            help="begin the text on the next line, indented",
        )
    if "<document start>" in problem or "document start" in problem:
        return Explanation(
            message="there is text behind the end of the document",
            help="a file holds one mapping: remove what follows it",
        )
    if "node content" in problem:
        return Explanation(
            message="a value is missing here", help="write the value, or quote a text that begins with a sign"
        )
    if "undefined tag handle" in problem or "alias" in context or "anchor" in context or "tag" in context:
        return Explanation(message="a text may not begin with `!`, `&` or `*`", help="put the text in quotes")
    return Explanation(message=f"{problem} {context}".strip())


def _misplaced_colon(complaint: Complaint) -> Explanation:
    before = complaint.text[: complaint.column]
    if _SECOND_COLON.search(before):
        return Explanation(
            message="a second colon on a line that already is `key: value`",
            help="put the text in quotes if the colon belongs to it, otherwise begin a new line",
        )
    return Explanation(
        message="this `key: value` does not fit the line above it",
        help="give it the indentation of its neighbours; end the line above with a colon if that is its parent",
    )


def _bad_start(complaint: Complaint) -> Explanation:
    character = complaint.text[complaint.column : complaint.column + 1]
    if character == "\t" or "'\\t'" in complaint.problem:
        return _tab()
    return Explanation(
        message=_RESERVED.get(character, "this character may not begin a text"), help="put the text in quotes"
    )


def _tab() -> Explanation:
    return Explanation(message="a tab is used for indentation", help="YAML indents with spaces only: replace the tab")


def _bad_quotes(complaint: Complaint) -> Explanation:
    if "end of stream" in complaint.problem or "document indicator" in complaint.problem:
        return Explanation(
            message="the quote that opens here is never closed", help="close it on the same line", at_start=True
        )
    if "escape" in complaint.problem or "hexadecimal" in complaint.problem:
        return Explanation(
            message="a backslash in double quotes begins an escape that YAML does not know",
            help="use single quotes, in which a backslash is an ordinary character (regular expressions!)",
        )
    return Explanation(message=f"{complaint.problem} in the quoted text")


def _bad_key(complaint: Complaint) -> Explanation:
    before, here = complaint.text[: complaint.column], complaint.text[complaint.column :]
    if before.strip():
        return Explanation(
            message="there is text behind the end of a value",
            help="put the whole text in quotes",
        )
    if here.startswith(":"):
        return Explanation(message="a key is missing before the colon", help="write the key, or remove the line")
    if here.startswith(("- ", "-\n")) or here.strip() == "-":
        return Explanation(
            message=f"a list item among the keys of the mapping that begins on line {complaint.opened}",
            help="indent the list under its key, which needs a colon and no value of its own",
        )
    return Explanation(
        message=f"the indentation does not match the mapping that begins on line {complaint.opened}",
        help="align keys of the same level in the same column",
    )
