"""What is written in PromQL reads back as the number that it was."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from longwatch.units import (
    DURATION_PATTERN,
    Threshold,
    decode,
    number,
    parse_duration,
    parse_threshold,
    promql_duration,
)

PROMQL_DURATION = re.compile(r"([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?")
"""Units from large to small, each once: what Prometheus accepts."""
UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}


@given(st.integers(0, 10**12))
@settings(max_examples=200, deadline=None)
def test_a_duration_reads_back_to_the_millisecond(milliseconds: int) -> None:
    assert round(parse_duration(promql_duration(milliseconds / 1000)) * 1000) == milliseconds


@given(st.floats(0, 1e8))
@settings(max_examples=200, deadline=None)
def test_a_duration_is_one_that_prometheus_accepts(seconds: float) -> None:
    text = promql_duration(seconds)
    assert text
    assert PROMQL_DURATION.fullmatch(text)
    assert re.fullmatch(DURATION_PATTERN, text)


@given(st.floats(0, 1e8))
@settings(max_examples=100, deadline=None)
def test_writing_a_duration_twice_changes_nothing(seconds: float) -> None:
    once = promql_duration(seconds)
    assert promql_duration(parse_duration(once)) == once


@given(st.lists(st.tuples(st.integers(0, 999), st.sampled_from(sorted(UNITS))), min_size=1, max_size=4))
@settings(max_examples=100, deadline=None)
def test_the_parts_of_a_duration_add_up(parts: list[tuple[int, str]]) -> None:
    text = "".join(f"{count}{unit}" for count, unit in parts)
    assert abs(parse_duration(text) - sum(count * UNITS[unit] for count, unit in parts)) < 1e-6


@given(st.floats(allow_nan=False, allow_infinity=False))
@settings(max_examples=300, deadline=None)
def test_a_number_reads_back_to_twelve_digits(value: float) -> None:
    assert float(number(value)) == float(f"{value:.12g}") or float(number(value)) == value


@given(st.integers(-(10**15) + 1, 10**15 - 1))
@settings(max_examples=100, deadline=None)
def test_a_whole_number_is_written_with_all_its_digits(value: int) -> None:
    assert number(float(value)) == str(value)


@given(st.floats(allow_nan=False, allow_infinity=False))
@settings(max_examples=200, deadline=None)
def test_a_number_is_one_that_promql_accepts(value: float) -> None:
    assert re.fullmatch(r"-?[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?", number(value))


@given(st.integers(-999_999, 999_999).map(lambda n: n / 100))
@settings(max_examples=100, deadline=None)
def test_a_percentage_is_a_ratio_and_remembers_how_it_was_written(percent: float) -> None:
    text = f"{percent:g}%"
    threshold = parse_threshold(text)
    assert abs(threshold - percent / 100) < 1e-6
    assert (threshold.relative, threshold.written) == (True, text)


@given(st.floats(-1e6, 1e6))
@settings(max_examples=100, deadline=None)
def test_a_plain_number_is_a_threshold_in_the_signals_unit(value: float) -> None:
    threshold = decode(Threshold, value)
    assert (threshold, threshold.relative) == (value, False)
