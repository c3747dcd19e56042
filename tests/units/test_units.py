"""What people write becomes base units, and nothing is guessed."""

from __future__ import annotations

import pytest

from longwatch.units import Duration, Percent, Threshold, decode, json_schema, number, parse_duration, parse_threshold
from longwatch.units import promql_duration as shown


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("40m", 2400), ("1h30m", 5400), ("7d", 604800), ("1w", 604800), ("200ms", 0.2), ("1.5h", 5400)],
)
def test_a_duration_is_seconds(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "90", "1 m", "-5m", "5M", "1y", "m5", "5m ", "1h-30m", "5 minutes"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(5400, "1h30m"), (0, "0s"), (0.25, "250ms"), (3630, "1h30s"), (86400 * 8, "8d"), (90061.5, "1d1h1m1s500ms")],
)
def test_a_duration_is_written_as_short_as_promql_allows(seconds: float, text: str) -> None:
    assert shown(seconds) == text


@pytest.mark.parametrize(
    ("written", "value", "relative"),
    [("97%", 0.97, True), ("130%", 1.3, True), ("-5%", -0.05, True), ("10GiB", 10 * 2**30, False), ("1.5TB", 1.5e12, False), ("30m", 1800, False), (2.5, 2.5, False), (3, 3, False)],
)  # fmt: skip
def test_a_threshold_is_relative_absolute_or_plain(written: str | float, value: float, relative: bool) -> None:
    threshold = parse_threshold(written)
    assert threshold == pytest.approx(value)
    assert threshold.relative == relative


@pytest.mark.parametrize("written", ["97%", "10GiB", "1h30m"])
def test_a_threshold_remembers_how_it_was_written(written: str) -> None:
    assert parse_threshold(written).written == written


@pytest.mark.parametrize("written", ["97", "ten", "10gib", "10 GiB", "%", "97%%", ""])
def test_a_text_without_a_known_unit_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        parse_threshold(written)


@pytest.mark.parametrize(
    ("kind", "raw"),
    [(Duration, 90), (Duration, "90"), (Percent, 0.97), (Percent, "0.97"), (Threshold, True), (Threshold, None)],
)
def test_a_value_of_the_wrong_kind_is_refused(kind: type, raw: object) -> None:
    with pytest.raises(ValueError, match="is not a"):
        decode(kind, raw)


@pytest.mark.parametrize("kind", [Duration, Percent, Threshold])
def test_every_unit_tells_editors_what_it_looks_like(kind: type) -> None:
    schema = json_schema(kind)
    assert schema["pattern"]
    assert schema["description"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(900.0, "900"), (0.97, "0.97"), (1e-7, "1e-07"), (1e15, "1e+15"), (-2.0, "-2"), (1 / 3, "0.333333333333")],
)
def test_a_number_is_written_as_people_read_it(value: float, text: str) -> None:
    assert number(value) == text
