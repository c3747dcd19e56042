"""JSON that is the same every time, and that people can review."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longwatch.render.json import dump

_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(_VALUES)
def test_it_loads_back_equal(value: object) -> None:
    assert json.loads(dump(value)) == value


@given(st.dictionaries(st.text(), st.integers(-9, 9)))
def test_the_order_of_keys_does_not_matter(value: dict[str, int]) -> None:
    assert dump(value) == dump(dict(reversed(value.items())))


def test_it_is_indented_sorted_readable_and_ends_with_a_newline() -> None:
    assert dump({"b": (1, 2.5), "a": "80 % → é"}) == '{\n  "a": "80 % → é",\n  "b": [\n    1,\n    2.5\n  ]\n}\n'


def test_what_json_cannot_hold_is_refused() -> None:
    with pytest.raises(TypeError):
        dump({"a": object()})
