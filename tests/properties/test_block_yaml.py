"""The fast writer of YAML writes what PyYAML's C dumper writes, byte for byte, or leaves the document to it."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from longwatch.render.block import written
from longwatch.render.yaml import dump, general, must_be_quoted

SYNTAX = st.text(st.sampled_from("ab-:#? '\"\n,[]{}&*!|>%@`.1+~=<ex_é×\t "), max_size=10)
ANY = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
TELLING = st.sampled_from(
    ["-", "- a", "-a", "?a", ":a", "a:", "a: b", "a :b", "a #b", "a#b", "---", "---a", "...x", "\ufeff", "\u2028",
     "a\x85b", "\t", "\x7f", "\r\n", "x\n y", "x\n\ny\n", "x \ny", "x\n\n", " x\ny", "0x", "1e3", "0b1", "12:30", "=",
     "<<", "~", ".", "..", "2026-1-1 x", "NULL", "nullx", "", " ", "it's", "\U0001f600", "a" * 120]
)  # fmt: skip
TEXT = SYNTAX | ANY | TELLING
DOCUMENT = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(DOCUMENT)
@settings(max_examples=300, deadline=None)
def test_a_document_is_written_as_pyyaml_writes_it_or_left_to_pyyaml(value: object) -> None:
    assert written(value, must_be_quoted) in (None, general(value))


@given(TEXT)
@settings(max_examples=300, deadline=None)
def test_a_text_is_written_as_pyyaml_writes_it_or_left_to_pyyaml(text: str) -> None:
    value = {"a": [{"b": text, "c": [[text]]}]}
    assert written(value, must_be_quoted) in (None, general(value))


@given(DOCUMENT)
@settings(max_examples=200, deadline=None)
def test_a_document_loads_back_equal(value: object) -> None:
    assert yaml.safe_load(dump(value)) == value


@pytest.mark.parametrize(
    "value",
    [
        {"groups": [{"name": "g", "rules": [{"alert": "A", "expr": "a\n  > 1", "labels": {"severity": "critical"}}]}]},
        {"values": "0+90x21 _x3 stale", "at": "1h30m", "title": "×2.3 – “loss”", "none": None, "yes": True, "n": 1.5},
        {"a": [[1, 2], [], {}], "b": {}, "c": {"d": {"e": []}}},
        {"quoted": "count (x) # scenario: y", "number": "1e-3", "empty": "", "colon": "Owner: team"},
    ],
    ids=["rules", "scalars", "nesting", "quotes"],
)
def test_ordinary_documents_go_the_fast_way(value: object) -> None:
    assert written(value, must_be_quoted) == general(value)
