from __future__ import annotations

import time

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from longwatch.diagnostics import Diagnostic, Path
from longwatch.load import yaml_source
from longwatch.load.document import Document, Value
from longwatch.load.plain_scalar import read_plain
from longwatch.load.yaml_source import MAX_BYTES, MAX_DEPTH, read_text

POLICY = b"""\
# a comment
kind: ModelFamily
title: "Decoder-only: LLM"
runs:
  identity: [cluster, run_id]
  until: 2026-12-20
variants:
  - name: 2k
    ranks: 384
    empty:
    note: |
      two
      lines
"""


def read(text: str | bytes) -> Document:
    raw = text if isinstance(text, bytes) else text.encode()
    document, problems = read_text("policies/x.yaml", raw)
    assert problems == ()
    assert document is not None
    return document


def refused(text: str | bytes) -> list[tuple[str, int, int]]:
    return [(p.code, p.span.line, p.span.column) for p in problems_of(text) if p.span]


def problems_of(text: str | bytes) -> tuple[Diagnostic, ...]:
    return read_text("policies/x.yaml", text if isinstance(text, bytes) else text.encode())[1]


def shown(document: Document, path: Path, key: bool = False) -> str:
    span = document.span(path, key=key)
    return span.text[span.column - 1 : span.column - 1 + span.length]


# Values


def test_a_policy_becomes_plain_values() -> None:
    assert read(POLICY).value == {
        "kind": "ModelFamily",
        "title": "Decoder-only: LLM",
        "runs": {"identity": ["cluster", "run_id"], "until": "2026-12-20"},
        "variants": [{"name": "2k", "ranks": 384, "empty": None, "note": "two\nlines\n"}],
    }


@pytest.mark.parametrize(
    "written", ["2026-12-20", "2026-12-20T10:00:00Z", "2026-12-20 10:00:00", "97%", "40m", "1.2.3"]
)
def test_dates_and_quantities_stay_as_written(written: str) -> None:
    assert read(f"a: {written}").value == {"a": written}


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1.0e-3", 0.001),
        ("1.0E+6", 1e6),
        (".5", 0.5),
        ("1_000", 1000),
        ("0x1F", 31),
        ("0b101", 5),
        ("-7", -7),
        ("0", 0),
    ],
)
def test_numbers_of_yaml_1_1_are_numbers(written: str, value: float) -> None:
    assert read(f"a: {written}").value == {"a": value}


def test_keys_of_a_curve_stay_as_written() -> None:
    document = read("points: {1.0e+6: 0.142, 2e6: 0.135, 300000: 0.1}")
    assert document.value == {"points": {"1.0e+6": 0.142, "2e6": 0.135, "300000": 0.1}}
    assert shown(document, ("points", "2e6"), key=True) == "2e6"


def test_a_quoted_word_is_text() -> None:
    assert read("'on': \"1e-3\"\n\"<<\": 'yes'").value == {"on": "1e-3", "<<": "yes"}


def test_a_byte_order_mark_is_no_part_of_the_first_key() -> None:
    document = read(b"\xef\xbb\xbfkind: x")
    assert document.value == {"kind": "x"}
    assert document.span(("kind",), key=True).column == 1


# Places


@pytest.mark.parametrize(
    ("path", "value", "key"),
    [
        (("kind",), "ModelFamily", "kind"),
        (("title",), '"Decoder-only: LLM"', "title"),
        (("runs", "identity"), "[cluster, run_id]", "identity"),
        (("runs", "identity", 1), "run_id", "run_id"),
        (("variants", 0, "ranks"), "384", "ranks"),
        (("variants", 0), "name", "name"),
        (("variants", 0, "note"), "|", "note"),
        (("runs",), "identity", "runs"),
    ],
)
def test_a_span_points_at_the_value_or_at_its_key(path: Path, value: str, key: str) -> None:
    document = read(POLICY)
    assert (shown(document, path), shown(document, path, key=True)) == (value, key)


def test_an_empty_value_is_shown_by_its_key() -> None:
    assert shown(read(POLICY), ("variants", 0, "empty")) == "empty"


@pytest.mark.parametrize(
    ("path", "text"), [(("runs", "select"), "runs"), (("variants", 7, "ranks"), "variants"), (("kind", "x", 0), "kind")]
)
def test_a_missing_path_leads_to_the_key_of_the_nearest_parent(path: Path, text: str) -> None:
    assert shown(read(POLICY), path) == text


def test_a_missing_key_at_the_top_leads_to_the_first_line_with_content() -> None:
    span = read(POLICY).span(("apiVersion",))
    assert (span.file, span.line, span.column, span.text) == ("policies/x.yaml", 2, 1, "kind: ModelFamily")


def test_columns_count_characters() -> None:
    assert read("größe: {模型: x}").span(("größe", "模型")).column == 13


# Problems. One bad file for each code stands in tests/diagnostics.


def test_all_problems_of_a_file_are_reported_in_the_order_of_their_places() -> None:
    assert refused("a: yes\nb: 1e3\nb: 2\nc: &x 1\nd: *x\ne: f: g\n") == [
        ("boolean-word", 1, 4),
        ("number-as-text", 2, 4),
        ("duplicate-key", 3, 1),
        ("anchor", 4, 4),
        ("anchor", 5, 4),
        ("yaml-syntax", 6, 5),
    ]


def test_doubtful_spellings_come_with_their_likely_value() -> None:
    document, problems = read_text("x", b"a: 1e-3\nb: yes\nc: 1\nc: 2\n")
    assert document is not None
    assert document.value == {"a": 0.001, "b": True, "c": 1}
    assert len(problems) == 3


def test_nothing_comes_of_a_file_whose_meaning_is_unclear() -> None:
    assert read_text("x", b"a: &x 1\nb: *x")[0] is None


def test_a_duplicate_names_the_line_of_the_first() -> None:
    assert "line 1" in problems_of("name: a\nx: 1\nname: b")[0].message


@pytest.mark.parametrize(
    ("written", "spelling"),
    [("1e-3", "1.0e-3 or 0.001"), ("2.5e6", "2.5e+6 or 2500000"), ("-.5", "-0.5"), ("1E30", "1.0e+30,")],
)
def test_help_spells_the_number_so_that_it_is_one(written: str, spelling: str) -> None:
    assert f"write {spelling}" in problems_of(f"a: {written}")[0].help


@given(st.from_regex(r"[-+]?([0-9]{1,4}(\.[0-9]{0,4})?|\.[0-9]{1,4})([eE][-+]?[0-9]{1,2})?", fullmatch=True))
def test_the_spellings_in_the_help_are_the_same_number(written: str) -> None:
    value, trap = read_plain(written)
    assume(trap is not None and trap.code == "number-as-text")
    assert trap is not None
    spellings = trap.help.removeprefix("write ").split(", or")[0].split(" or ")
    assert (
        [float(yaml.safe_load(spelling)) for spelling in spellings]
        == [float(written)] * len(spellings)
        == [value] * len(spellings)
    )
    assert not any(isinstance(yaml.safe_load(spelling), str) for spelling in spellings)


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("a: b: c", 1, 5, "second colon"),
        ("a: 1\n  b: 2", 2, 4, "does not fit"),
        ("a:\n\t- b", 2, 1, "tab"),
        ("a: 'x\nb: 2\n", 1, 4, "never closed"),
        ("a: [1,\nb: 2", 2, 5, "line 1 is not closed"),
        ("a: @x", 1, 4, "`@` may not begin"),
        ('a: "\\d"', 1, 5, "backslash"),
        ("x: 1\ny\nz: 2\n", 2, 1, "neither `key: value`"),
        ("a:\n  - x\n b: 2", 3, 2, "indentation"),
        ("a: 1\n- b", 2, 1, "list item"),
        ("a: 'x' y", 1, 8, "behind the end"),
        (": y", 1, 1, "key is missing"),
    ],
)
def test_syntax_errors_are_explained_at_their_place(text: str, line: int, column: int, words: str) -> None:
    (problem,) = problems_of(text)
    assert problem.span is not None
    assert (problem.code, problem.span.line, problem.span.column) == ("yaml-syntax", line, column)
    assert words in problem.message


def test_a_no_break_space_is_named() -> None:
    assert "no-break space" in problems_of("a:\xa0b\nc: d\n")[0].help


def test_a_template_without_quotes_gets_advice_on_quotes() -> None:
    assert "{{ }} in quotes" in problems_of("summary: {{ $labels.run }}")[0].help


def test_bytes_that_are_no_utf_8_are_located() -> None:
    (problem,) = problems_of(b"\xef\xbb\xbfa: b\n# caf\xe9 au lait\n")
    assert problem.span is not None
    assert "byte 13" in problem.message
    assert (problem.span.line, problem.span.column, problem.span.text) == (2, 6, "# caf\ufffd au lait")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_utf_16_is_recognised(encoding: str) -> None:
    assert "UTF-16" in problems_of("kind: x".encode(encoding))[0].message


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "---\n", "---\n...\n", b"\xef\xbb\xbf"])
def test_a_file_without_content_is_refused(text: str | bytes) -> None:
    assert [p.code for p in problems_of(text)] == ["empty-file"]


def test_a_file_that_is_too_large_is_refused_before_it_is_read() -> None:
    started = time.perf_counter()
    assert [p.code for p in problems_of(b"a: &b [*b]\n" * 500_000)] == ["file-too-large"]
    assert time.perf_counter() - started < 0.1


def test_a_file_of_the_largest_size_is_read() -> None:
    text = "a: '" + "x" * (MAX_BYTES - 5) + "'"
    assert len(text) == MAX_BYTES
    assert problems_of(text) == ()


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? "])
def test_nesting_without_end_ends_no_process(opening: str) -> None:
    assert "nesting-too-deep" in [p.code for p in problems_of(opening * (MAX_BYTES // len(opening)))]


def test_the_deepest_nesting_is_read() -> None:
    assert problems_of("[" * MAX_DEPTH + "]" * MAX_DEPTH) == ()
    assert refused("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1)) == [("nesting-too-deep", 1, MAX_DEPTH + 1)]


@pytest.mark.parametrize("digits", ["9223372036854775808", "9" * 5000, "-0x" + "f" * 300])
def test_integers_beyond_64_bits_are_refused(digits: str) -> None:
    assert refused(f"a: {digits}") == [("number-too-large", 1, 4)]


# Properties

_texts = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=12)
_scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _texts
)
_documents = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_texts, inner, max_size=4),
    max_leaves=25,
)


class _WithoutAliases(yaml.SafeDumper):
    def ignore_aliases(self, data: object) -> bool:
        return True


def _dump(value: object, flow: bool | None) -> str:
    return yaml.dump(
        value, Dumper=_WithoutAliases, default_flow_style=flow, width=10**6, allow_unicode=True, sort_keys=False
    )


def _trapped(value: Value) -> bool:
    """The dumper leaves texts such as 1e3 and 08 without quotes; those are ours to refuse."""
    if isinstance(value, dict):
        return any(_trapped(key) or _trapped(item) for key, item in value.items())
    if isinstance(value, list):
        return any(_trapped(item) for item in value)
    return isinstance(value, str) and value != "" and value[0] in "+-.0123456789"


@given(value=_documents, flow=st.sampled_from([True, False, None]))
def test_values_equal_those_of_safe_load(value: Value, flow: bool | None) -> None:
    assume(not _trapped(value) and value not in (None, ""))
    text = _dump(value, flow)
    assert read(text).value == yaml.safe_load(text) == value


@given(value=_documents, flow=st.sampled_from([True, False, None]))
def test_spans_point_at_the_text_of_the_value_and_of_the_key(value: Value, flow: bool | None) -> None:
    assume(not _trapped(value) and value not in (None, ""))
    document = read(_dump(value, flow))

    def walk(item: Value, path: Path) -> None:
        text = shown(document, path)
        if isinstance(item, dict) and item:
            for key, child in item.items():
                assert yaml.safe_load(shown(document, (*path, key), key=True).removeprefix("? ")) == key
                walk(child, (*path, key))
        elif isinstance(item, list) and item:
            for index, child in enumerate(item):
                walk(child, (*path, index))
        else:
            assert yaml.safe_load(text) == item

    walk(value, ())


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_end_in_a_document_or_in_diagnostics(raw: bytes) -> None:
    document, problems = read_text("x", raw)
    assert (document is not None) or problems
    assert all(problem.span and problem.message for problem in problems)


_PIECES = [*"a: \n[]{},'\"#!|>?%\t", "  ", "- ", "&a", "*a", "1e3", "<<", "---", "yes", "\\x07"]


@given(st.lists(st.sampled_from(_PIECES), max_size=40).map("".join))
def test_any_soup_of_yaml_signs_ends_in_a_document_or_in_diagnostics(text: str) -> None:
    document, problems = read_text("x", text.encode())
    assert (document is not None) or problems
    for problem in problems:
        assert problem.span is not None
        assert problem.code == "empty-file" or 0 <= problem.span.column - 1 <= len(problem.span.text)


def test_the_parser_without_libyaml_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"a: yes\nb: [1e3, &x 1, *x]\nb: !t 2\nc: d: e\n"
    fast = read_text("x", text)
    monkeypatch.setattr(yaml_source, "_PARSER", yaml.SafeLoader)
    assert read_text("x", text) == fast
    assert read_text("x", POLICY)[1] == ()
