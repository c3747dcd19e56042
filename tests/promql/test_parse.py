"""What the compiler knows about PromQL without asking Prometheus."""

from __future__ import annotations

import subprocess
import sys

import pytest

from longwatch.promql.parse import Expression, Fault, parse, regex_fault

RUN = ("cluster", "run_id")


def labels(text: str) -> tuple[frozenset[str] | None, frozenset[str]]:
    result = parse(text)
    assert isinstance(result, Expression), result
    return result.labels.only, result.labels.lost


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("loss", "vector"),
        ("loss[5m]", "range"),
        ("loss[1h:5m]", "range"),
        ("5", "scalar"),
        ("time() - 5", "scalar"),
        ('"text"', "string"),
        ("(-loss)", "vector"),
        ("rate(steps[5m]) * 60", "vector"),
        ("scalar(loss)", "scalar"),
        ("vector(1)", "vector"),
        ("time() - loss", "vector"),
    ],
)
def test_the_type_of_a_result(text: str, kind: str) -> None:
    result = parse(text)
    assert isinstance(result, Expression)
    assert result.type == kind


@pytest.mark.parametrize(
    ("text", "only"),
    [
        ("max by (cluster, run_id) (loss)", {*RUN}),
        ("sum(loss)", set()),
        ("max by (run_id) (sum by (run_id, rank) (loss))", {"run_id"}),
        ("max by (run_id, rank) (sum by (run_id) (loss))", {"run_id"}),
        ('count_values by (run_id) ("code", xid)', {"run_id", "code"}),
        ("topk by (cluster) (3, max by (cluster, run_id) (loss))", {*RUN}),
        ("max by (run_id) (a) / on (run_id) b", {"run_id"}),
        ("a / on (run_id) b", {"run_id"}),
        ("a > on (run_id) b", {"run_id"}),
        ("max by (run_id) (a) * on (run_id) group_left (owner) b", {"run_id", "owner"}),
        ("max by (run_id) (a) * on (run_id) group_left (owner) max by (run_id) (b)", {"run_id"}),
        ("max by (run_id) (a) * on (run_id) group_right (owner) max by (run_id, node) (b)", {"run_id", "node"}),
        ("max by (run_id) (a) or max by (node) (b)", {"run_id", "node"}),
        ("max by (run_id) (a) and on (run_id) b", {"run_id"}),
        ("max by (run_id) (a) unless b", {"run_id"}),
        ('label_replace(max by (id) (a), "run_id", "$1", "id", "(.+)")', {"id", "run_id"}),
        ('label_join(max by (a) (x), "run_id", "-", "a")', {"a", "run_id"}),
        ('absent(loss{run_id="a", cluster=~"b"})', {"run_id"}),
        ('absent_over_time(loss{run_id="a"}[5m])', {"run_id"}),
        ("absent(sum(loss))", set()),
        ("vector(1)", set()),
        ("hour()", set()),
        ("3 * max by (run_id) (a)", {"run_id"}),
        ("predict_linear(max by (run_id) (a)[1h:1m], 60)", {"run_id"}),
        ("histogram_quantile(0.9, sum by (le, run_id) (rate(a_bucket[5m])))", {"run_id"}),
    ],
)
def test_the_labels_that_a_result_can_carry(text: str, only: set[str]) -> None:
    assert labels(text) == (only, frozenset())


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        ("loss", set()),
        ("rate(steps[5m])", set()),
        ("sum without (run_id) (loss)", {"run_id"}),
        ("a / ignoring (rank) b", {"rank"}),
        ('loss{run_id=""}', {"run_id"}),
        ("(sum without (run_id) (a)) or b", set()),
        ("sum without (run_id) (a) or max by (run_id) (b)", set()),
        ('label_replace(sum without (run_id) (a), "run_id", "$1", "id", "(.+)")', set()),
        ("a * on (x) group_left (y) b", set()),
        ("info(sum(a))", set()),
    ],
)
def test_of_a_plain_series_only_the_lost_labels_are_known(text: str, lost: set[str]) -> None:
    assert labels(text) == (None, lost)


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("max by (run_id) (loss", 16),
        ("1 + lossrate(loss)", 4),
        ('loss{run_id=~"("}', 14),
        ("loss)", 4),
        ("", 0),
        ("(" * 300, 0),
        ("x" * 20_000, 0),
        ("1 > 2", 0),
    ],
)
def test_what_is_no_promql_is_explained(text: str, position: int) -> None:
    result = parse(text)
    assert isinstance(result, Fault)
    assert result.message
    assert result.position == position


@pytest.mark.parametrize(
    "pattern",
    ["llm-[0-9]+b", "^a|b$", "(?i)x", r"a\.b", r"\d+", "", 'a"b', "(?P<n>x)", "a{1000}", "a+?", r"\*+", "[*+]+"],
)
def test_a_valid_regular_expression(pattern: str) -> None:
    assert regex_fault(pattern) == ""


@pytest.mark.parametrize(
    "pattern",
    ["(", "a)", "[a", "[z-a]", "(?=a)", "(?<!a)", r"(a)\1", "a{1001}", "a{2,5000}", "(?x)a", "[a&&b]", "*a", "a**"],
)
def test_an_invalid_regular_expression_is_explained(pattern: str) -> None:
    assert regex_fault(pattern)


def test_the_parser_is_loaded_only_when_it_is_needed() -> None:
    code = "import sys, longwatch.promql.parse; sys.exit('promql_parser' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
