"""Counting cases must agree with what YAML says, for everything that our own dumper writes."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from longwatch.render.yaml import dump
from longwatch.verify.cases import read

_TEXTS = st.sampled_from(
    [
        "plain",
        "two\nlines",
        "- alertname: X\n  eval_time: 5m",
        "promql_expr_test:\n- expr: x",
        "quoted: 'text'",
        "  - leading",
        "# scenario: other",
        "tests:\n- name: inner",
        "",
    ]
)
_PROMQL_CASES = st.builds(
    lambda expr, key: {"expr": f"{expr} # scenario: {key}", "eval_time": "5m", "exp_samples": []},
    st.sampled_from(["up", "up\nor up", 'up{a="b"}', "up == 'x'"]),
    st.sampled_from(["a", "gpt/loss-high.1", "b_c"]),
)
_ALERT_CASES = st.builds(
    lambda text: {
        "eval_time": "5m",
        "alertname": "A",
        "exp_alerts": [{"exp_labels": {"a": "b"}, "exp_annotations": {"summary": text, "other": text}}],
    },
    _TEXTS,
)
_GROUPS = st.fixed_dictionaries(
    {
        "name": st.sampled_from(["group one", "yes", "5"]),
        "interval": st.just("1m"),
        "input_series": st.lists(
            st.fixed_dictionaries({"series": st.just("up"), "values": st.just("1x5")}), max_size=2
        ),
    },
    optional={
        "alert_rule_test": st.lists(_ALERT_CASES, max_size=3),
        "external_labels": st.dictionaries(st.sampled_from(["a", "b"]), _TEXTS),
        "promql_expr_test": st.lists(_PROMQL_CASES, max_size=3),
    },
)


@given(st.lists(_GROUPS, max_size=4), st.lists(st.sampled_from(["a.yml", "b/*.yml"]), max_size=2, unique=True))
def test_the_counts_are_those_of_the_data(groups: list[dict[str, Any]], files: list[str]) -> None:
    suite = read(dump({"rule_files": files, "evaluation_interval": "1m", "tests": groups}, ["From gpt.yaml"]))

    assert suite.rule_files == tuple(files)
    assert [group.name for group in suite.groups] == [group["name"] for group in groups]
    assert [group.cases for group in suite.groups] == [
        len(group.get("alert_rule_test", [])) + len(group.get("promql_expr_test", [])) for group in groups
    ]
    for found, group in zip(suite.groups, groups, strict=True):
        keys = {case["expr"].rpartition(" ")[2] for case in group.get("promql_expr_test", [])}
        assert keys <= found.scenarios


def test_flow_style_is_not_believed() -> None:
    assert read("rule_files: [a.yml]\ntests: [{promql_expr_test: [{expr: up}]}]\n").cases == 0
