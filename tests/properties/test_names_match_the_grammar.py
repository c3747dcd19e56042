"""Every name that Longwatch invents is one that Prometheus, Grafana and a file system accept."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longwatch.catalogue.packs import PACKS
from longwatch.catalogue.signals import SIGNALS
from longwatch.ir import names
from longwatch.promql.parse import Fault, parse

METRIC = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
POLICY_NAME = st.from_regex(r"[a-z0-9][a-z0-9-]{0,39}", fullmatch=True)
ALERT_NAME = st.from_regex(r"[A-Z][A-Za-z0-9]{2,59}", fullmatch=True)
TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
RECORDED = [value for key, value in vars(names).items() if key.isupper() and ":" in str(value)]


@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_series_has_a_valid_name_of_three_parts(name: str) -> None:
    assert METRIC.fullmatch(name)
    assert name.count(":") == 2


def test_the_label_of_the_family_is_valid() -> None:
    assert LABEL.fullmatch(names.FAMILY)


@pytest.mark.parametrize("role", SIGNALS)
@pytest.mark.parametrize("operation", ["max", "avg", "mean"])
def test_the_level_of_every_role_has_a_valid_name(role: str, operation: str) -> None:
    assert METRIC.fullmatch(names.level(role, operation))


@given(st.dictionaries(st.from_regex(LABEL, fullmatch=True), TEXT, max_size=4))
@settings(max_examples=150, deadline=None)
def test_a_selector_is_promql_whatever_its_values_hold(labels: dict[str, str]) -> None:
    labels.pop("__name__", None)
    assert not isinstance(parse(names.selector("lw_run:loss:max", labels)), Fault)


@given(TEXT)
@settings(max_examples=150, deadline=None)
def test_a_quoted_text_stays_on_one_line(text: str) -> None:
    quoted = names.quote(text)
    assert "\n" not in quoted
    assert not re.search(r'(?<!\\)(\\\\)*"', quoted[1:-1])


@given(POLICY_NAME)
@settings(max_examples=150, deadline=None)
def test_a_dashboards_uid_fits_grafana(name: str) -> None:
    assert re.fullmatch(r"[a-zA-Z0-9-]{1,40}", names.uid("families", name))


@given(POLICY_NAME, POLICY_NAME)
@settings(max_examples=150, deadline=None)
def test_two_names_have_two_uids(one: str, other: str) -> None:
    assert (names.uid("families", one) == names.uid("families", other)) == (one == other)


@given(POLICY_NAME)
@settings(max_examples=50, deadline=None)
def test_a_family_and_a_cluster_of_one_name_have_two_uids(name: str) -> None:
    assert names.uid("families", name) != names.uid("clusters", name)


@given(ALERT_NAME)
@settings(max_examples=150, deadline=None)
def test_an_alerts_name_in_a_path_is_lower_case_and_reads_back(name: str) -> None:
    kebab = names.kebab(name)
    assert re.fullmatch(r"[a-z0-9-]+", kebab)
    assert kebab.replace("-", "") == name.lower()


@given(TEXT)
@settings(max_examples=150, deadline=None)
def test_a_slug_is_safe_in_a_path(text: str) -> None:
    assert re.fullmatch(r"([a-z0-9]+(-[a-z0-9]+)*)?", names.slug(text))


def test_no_two_alerts_of_the_packs_share_a_path() -> None:
    paths = [names.kebab(alert.name) for pack in PACKS.values() for alert in pack.alerts]
    assert sorted(paths) == sorted(set(paths))
