from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longwatch.diagnostics import Diagnostic, Origin, Severity, Span
from longwatch.report.diagnostics import in_order, render_github, render_json, render_text, summary

STRAGGLER = Diagnostic(
    code="unknown-detector",
    message='no detector is called "stragler"',
    help='did you mean "straggler"?',
    span=Span(file="policies/families/gpt.yaml", line=14, column=13, length=8, text="  - detect: stragler"),
)


def found(column: int = 1, *, code: str = "c", line: int = 1, file: str = "a.yaml", **more: object) -> Diagnostic:
    span = Span(file=file, line=line, column=column, length=1, text=str(more.pop("text", "abc")))
    return Diagnostic(code=code, message="m", span=span, **more)  # type: ignore[arg-type]


def excerpt(span: Span, width: int = 120) -> list[str]:
    return render_text([Diagnostic(code="c", message="m", span=span)], width=width).splitlines()[1:3]


# Text


def test_a_short_suggestion_stands_beside_the_carets() -> None:
    assert render_text([STRAGGLER]) == (
        'policies/families/gpt.yaml:14:13: error[unknown-detector]: no detector is called "stragler"\n'
        "14 |   - detect: stragler\n"
        '   |             ^^^^^^^^ did you mean "straggler"?\n'
        "\n"
        "1 error in 1 file\n"
    )


def test_why_and_help_follow_the_excerpt() -> None:
    assert render_text([found(why="first\nsecond", help="do it")]).splitlines()[:6] == [
        "a.yaml:1:1: error[c]: m",
        "1 | abc",
        "  | ^",
        "  why: first",
        "       second",
        "  help: do it",
    ]


def test_a_finding_about_a_whole_file_has_no_excerpt() -> None:
    problem = Diagnostic(code="empty-file", message="m", span=Span(file="a.yaml", line=1, column=1))
    assert render_text([problem]).splitlines()[0] == "a.yaml: error[empty-file]: m"


def test_a_finding_without_span_names_the_file_of_its_origin() -> None:
    problem = Diagnostic(code="c", message="m", origin=Origin(file="a.yaml", path=("b", 0)))
    assert render_text([problem]) == "a.yaml: error[c]: m\n\n1 error in 1 file\n"


def test_a_finding_about_no_file_stands_alone() -> None:
    assert render_text([Diagnostic(code="c", message="m")]) == "error[c]: m\n\n1 error\n"


def test_nothing_found_prints_nothing() -> None:
    assert (render_text([]), render_github([]), summary([])) == ("", "", "")


def test_colour_only_on_request() -> None:
    assert "\x1b" not in render_text([STRAGGLER])
    assert "\x1b[1;31merror[unknown-detector]\x1b[0m" in render_text([STRAGGLER], colour=True)


def test_findings_are_sorted_by_file_line_column_code() -> None:
    ordered = [
        found(1, code="a", line=2, file="a.yaml"),
        found(1, code="b", line=2, file="a.yaml"),
        found(3, code="a", line=2, file="a.yaml"),
        found(1, code="a", line=10, file="a.yaml"),
        found(1, code="a", line=1, file="b.yaml"),
    ]
    assert list(in_order(reversed(ordered))) == ordered


def test_the_closing_line_counts() -> None:
    problems = [
        found(),
        found(2),
        found(file="b.yaml", severity=Severity.WARNING),
        found(file="c.yaml", severity=Severity.NOTE),
    ]
    assert summary(problems) == "2 errors, 1 warning, 1 note in 3 files"


@pytest.mark.parametrize(
    ("text", "column", "length", "lines"),
    [
        ("\t- a: bc", 7, 2, ["7 |     - a: bc", "  |          ^^"]),
        ("模型: ab", 5, 2, ["7 | 模型: ab", "  |       ^^"]),
        ("a: 模型", 4, 2, ["7 | a: 模型", "  |    ^^^^"]),
        ("e\u0301: ab", 5, 2, ["7 | e\u0301: ab", "  |    ^^"]),
        ("a: b", 5, 1, ["7 | a: b", "  |     ^"]),
        ("", 1, 1, ["7 |", "  | ^"]),
    ],
)
def test_carets_stay_under_the_span(text: str, column: int, length: int, lines: list[str]) -> None:
    assert excerpt(Span(file="a", line=7, column=column, length=length, text=text)) == lines


def test_a_long_line_is_clipped_around_the_span() -> None:
    span = Span(file="a", line=7, column=201, length=4, text="x" * 200 + "here" + "y" * 200)
    assert excerpt(span, width=30) == ["7 | …xxxxxxxxxxhereyyyyyyyyyy…", "  |            ^^^^"]


@pytest.mark.parametrize(
    ("column", "lines"),
    [(1, ["7 | abcdefghijklmnopqrs…", "  | ^^"]), (25, ["7 | …hijklmnopqrstuvwxyz", "  |                   ^^"])],
)
def test_a_clipped_line_uses_the_room_at_its_ends(column: int, lines: list[str]) -> None:
    got = excerpt(Span(file="a", line=7, column=column, length=2, text="abcdefghijklmnopqrstuvwxyz"), width=24)
    assert got[0][4:].strip("…") in "abcdefghijklmnopqrstuvwxyz"
    caret = got[1].index("^")
    assert got[0][caret : caret + 2] == "abcdefghijklmnopqrstuvwxyz"[column - 1 : column + 1]


def test_a_span_longer_than_the_line_has_room_for_is_clipped_too() -> None:
    lines = excerpt(Span(file="a", line=7, column=5, length=300, text="key: " + "x" * 300), width=40)
    assert all(len(line) <= 40 for line in lines)


def test_text_of_a_policy_cannot_steer_the_terminal() -> None:
    problem = Diagnostic(
        code="c",
        message="bad \x1b[2J",
        help="\x9b",
        span=Span(file="a\x07", line=1, column=1, length=1, text="\x1b[31m\u202e"),
    )
    assert not set(render_text([problem])) & set("\x1b\x9b\x07\u202e")


@given(st.text(max_size=300), st.integers(1, 320), st.integers(0, 320), st.integers(10, 120))
def test_any_span_on_any_line_has_an_excerpt_of_two_lines(text: str, column: int, length: int, width: int) -> None:
    text = "".join(text.splitlines()) + "."
    span = Span(file="a", line=1, column=column, length=length, text=text)
    rendered = render_text([Diagnostic(code="c", message="m", span=span)], width=width)
    assert len(rendered.split("\n")) == 6
    assert "^" in rendered.split("\n")[2]


# JSON


def test_json_has_stable_keys_and_the_span() -> None:
    problem = Diagnostic(code="c", message="m", severity=Severity.WARNING, origin=Origin(file="b.yaml", path=("x", 0)))
    assert json.loads(render_json([problem, STRAGGLER])) == {
        "version": 1,
        "diagnostics": [
            {
                "code": "c",
                "severity": "warning",
                "message": "m",
                "why": "",
                "help": "",
                "span": {"file": "b.yaml", "line": 1, "column": 1, "length": 0, "text": ""},
                "path": ["x", 0],
            },
            {
                "code": "unknown-detector",
                "severity": "error",
                "message": 'no detector is called "stragler"',
                "why": "",
                "help": 'did you mean "straggler"?',
                "span": {
                    "file": "policies/families/gpt.yaml",
                    "line": 14,
                    "column": 13,
                    "length": 8,
                    "text": "  - detect: stragler",
                },
                "path": None,
            },
        ],
        "counts": {"errors": 1, "warnings": 1, "notes": 0, "files": 2},
    }


def test_json_of_nothing_is_a_document_too() -> None:
    assert json.loads(render_json([]))["diagnostics"] == []


# GitHub


def test_github_gets_a_command_with_the_place() -> None:
    assert render_github([STRAGGLER]) == (
        "::error file=policies/families/gpt.yaml,line=14,col=13,endColumn=21,title=unknown-detector"
        '::no detector is called "stragler"%0Ahelp: did you mean "straggler"?\n'
    )


def test_github_properties_and_message_are_escaped() -> None:
    problem = Diagnostic(
        code="c", severity=Severity.NOTE, message="97%: a,\r\nb", span=Span(file="a,b:c%.yaml", line=1, column=1)
    )
    assert render_github([problem]) == "::notice file=a%2Cb%3Ac%25.yaml,title=c::97%25: a,%0D%0Ab\n"


def test_github_takes_a_finding_about_no_file() -> None:
    assert render_github([Diagnostic(code="c", message="m")]) == "::error title=c::m\n"
