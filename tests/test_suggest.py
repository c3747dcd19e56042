from __future__ import annotations

import pytest

from longwatch.suggest import closest


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("stragler", "straggler"),
        ("Straggler", "straggler"),
        ("grad-norm", "grad_norm"),
        ("loss", "loss"),
        ("gradnorm", "grad_norm"),
        ("zebra", None),
        ("", None),
    ],
)
def test_the_closest_name_is_suggested(word: str, expected: str | None) -> None:
    assert closest(word, ["loss", "straggler", "grad_norm", "throughput"]) == expected


def test_the_order_of_the_candidates_does_not_matter() -> None:
    names = ["loss_b", "loss_a", "loss_c"]
    assert closest("loss_x", names) == closest("loss_x", reversed(names)) == closest("loss_x", set(names))


def test_no_candidates_no_suggestion() -> None:
    assert closest("loss", []) is None
