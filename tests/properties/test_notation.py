"""Series in promtool's notation read back as they were, however they are compressed."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longwatch.notation import Sample, compress, expand

STEPS = st.lists(st.tuples(st.sampled_from([0.0, 1.0, 1.0, -2.0, 0.5]), st.integers(1, 5)), max_size=5)
LEVEL = st.integers(-1000, 1000).map(float) | st.sampled_from([0.5, 2.199, 1e-7, 86000.0, 1e16])
ODD = st.sampled_from([None, "stale", math.nan, math.inf, -math.inf])


@st.composite
def series(draw: st.DrawFn) -> list[Sample]:
    """Levels, stairs, gaps and odd values, as runs show them."""
    samples: list[Sample] = []
    for _ in range(draw(st.integers(0, 4))):
        value = draw(LEVEL)
        for step, times in draw(STEPS):
            for _ in range(times):
                samples.append(value)
                value += step
        samples += [draw(ODD)] * draw(st.integers(0, 3))
    return samples


def same(left: Sequence[Sample], right: Sequence[Sample]) -> bool:
    return len(left) == len(right) and all(map(one_and_the_same, left, right))


def one_and_the_same(left: Sample, right: Sample) -> bool:
    """Numbers are written with twelve digits."""
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=1e-11) or (math.isnan(left) and math.isnan(right))
    return left == right


def marked(samples: Sequence[Sample]) -> list[Sample]:
    """What a scrape makes of a series that ends."""
    return [
        "stale" if sample is None and index and samples[index - 1] is not None else sample
        for index, sample in enumerate(samples)
    ]


@given(series())
@settings(max_examples=300, deadline=None)
def test_a_compressed_series_expands_to_itself(samples: list[Sample]) -> None:
    assert same(expand(compress(samples)), samples)


@given(series())
@settings(max_examples=300, deadline=None)
def test_an_ended_series_has_a_marker_at_each_gap(samples: list[Sample]) -> None:
    assert same(expand(compress(samples, ended=True)), marked(samples))


@given(st.lists(st.integers(-(10**12), 10**12), max_size=20))
@settings(max_examples=100, deadline=None)
def test_whole_numbers_are_kept_to_the_last_digit(values: list[int]) -> None:
    assert list(expand(compress([float(value) for value in values]))) == values


@pytest.mark.parametrize(
    ("samples", "text"),
    [
        ([], ""),
        ([1.0], "1"),
        ([1.0, 1.0, 1.0], "1x2"),
        ([0.0, 1.0, 2.0, 3.0], "0+1x3"),
        ([3.0, 2.0, 1.0], "3-1x2"),
        ([1.0, 2.0, 3.0, 3.0, 3.0], "1 2 3x2"),
        ([0.0, 1.0, 2.0, 3.0, 5.0, 7.0, 9.0], "0+1x3 5+2x2"),
        ([0.5, 1.5, 2.5, 3.5], "0.5 1.5 2.5 3.5"),
        ([None, None, 1.0], "_x2 1"),
        ([1.0, None, "stale", math.nan, math.nan], "1 _ stale NaN NaN"),
        ([math.inf, -math.inf], "Inf -Inf"),
    ],
    ids=str,
)
def test_a_series_is_as_short_as_people_would_write_it(samples: list[Sample], text: str) -> None:
    assert compress(samples) == text


def test_the_end_of_a_scraped_series_is_marked_once() -> None:
    assert compress([None, 1.0, 1.0, None, None, None, 2.0, None], ended=True) == "_ 1x1 stale _x2 2 stale"


@pytest.mark.parametrize("text", ["1x", "x4", "1+x3", "one", "1,2", "_x", "stalex2", "1x-1", "--1"])
def test_what_promtool_refuses_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not in promtool's notation"):
        expand(text)


@pytest.mark.parametrize("text", ["1x100000", "_x100001", "1x99999 2"])
def test_a_series_has_an_end(text: str) -> None:
    with pytest.raises(ValueError, match="more than 100000 samples"):
        expand(text)
