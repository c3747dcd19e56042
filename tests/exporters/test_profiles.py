"""Every name that a profile reads stands in a recorded sample, or cites the file and commit where it was read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from longwatch.catalogue.signals import SIGNALS
from longwatch.plugins.discovery import discover
from longwatch.policy.exporter import Exporter, Label, Metric

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "tests" / "data" / "exporters"
CITATION = re.compile(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}:[\w./-]+")
SERIES = re.compile(r"^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+$")
PAIR = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
TARGET_LABELS = {"instance": "gpu-001:9100", "cluster": "north", "run_id": "recsys-a"}
"""What the scrape configuration adds and no exporter carries."""

PROFILES = discover("longwatch.exporters", "EXPORTER", Exporter)
METRICS = [
    pytest.param(profile, role, metric, id=f"{name}-{role}-{number}")
    for name, (profile, _) in PROFILES.items()
    for role, metrics in profile.metrics.items()
    for number, metric in enumerate(metrics)
]
WITHOUT_SAMPLE = ("canonical", "dcgm")
"""docs/signals.md is the source of the first; the second needs a GPU to be recorded."""
SAMPLED = [param for param in METRICS if param.values[0].name not in WITHOUT_SAMPLE]  # type: ignore[attr-defined]
SCALES = {"ms": 0.001, "%": 0.01}


def sample_of(profile: Exporter) -> list[tuple[str, dict[str, str]]]:
    path = SAMPLES / f"{profile.name}.prom"
    found = []
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            match = SERIES.match(line)
            assert match, f"{path.name}: not a series: {line}"
            found.append((match[1], TARGET_LABELS | dict(PAIR.findall(match[2] or ""))))
    return found


def names_of(metric: Metric) -> list[str]:
    return (
        [f"{metric.name}_{part}" for part in ("bucket", "sum", "count")]
        if metric.type == "histogram"
        else [metric.name]
    )


def labels_of(profile: Exporter, metric: Metric) -> list[Label]:
    labels = {**profile.labels, **metric.labels}.values()
    return [label for label in labels if metric.through is None or label.label != metric.through.take]


def plays(metric: Metric, series: dict[str, str]) -> bool:
    return all(re.fullmatch(pattern, series.get(label, "")) for label, pattern in metric.matchers.items())


def test_the_shipped_profiles_are_found() -> None:
    expected = "canonical dcgm kube_state_metrics megatron node_exporter prime_rl slurm_soperator"
    assert set(expected.split()) <= set(PROFILES)


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_is_named_after_its_module_and_has_a_manual(name: str) -> None:
    profile, manual = PROFILES[name]
    assert profile.name == name
    assert "Which label carries the run" in manual
    assert "Pitfalls:" in manual
    assert set(profile.survives_restart) <= set(profile.metrics)
    assert ("phase" in profile.metrics) == bool(profile.phases)


@pytest.mark.parametrize(("profile", "role", "metric"), METRICS)
def test_a_metric_is_well_formed(profile: Exporter, role: str, metric: Metric) -> None:
    assert role in SIGNALS
    assert metric.scale == SCALES.get(metric.unit, 1.0)
    assert metric.default_on or metric.note, "what is off by default says how to switch it on"
    through = (metric.through.take, *metric.through.on) if metric.through else ()
    labels = {**profile.labels, **metric.labels}
    for label in (*labels, *(label.label for label in labels.values()), *metric.matchers, *through):
        assert re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_]*", label)
    for pattern in (*(label.pattern for label in labels.values()), *metric.matchers.values()):
        re.compile(pattern)
    assert all(re.compile(label.pattern).groups == 1 for label in labels.values())


@pytest.mark.parametrize(("profile", "role", "metric"), METRICS)
def test_a_name_cites_where_it_was_read(profile: Exporter, role: str, metric: Metric) -> None:
    if profile.name == "canonical":
        assert f"`{metric.name}`" in (ROOT / "docs" / "signals.md").read_text()
    else:
        assert CITATION.fullmatch(metric.source)


@pytest.mark.parametrize(("profile", "role", "metric"), SAMPLED)
def test_the_sample_has_every_name_and_label_that_the_profile_reads(
    profile: Exporter, role: str, metric: Metric
) -> None:
    sample = sample_of(profile)
    for name in names_of(metric):
        playing = [labels for found, labels in sample if found == name and plays(metric, labels)]
        assert playing, f"{name} with {dict(metric.matchers)} is not in the sample"
        for label in labels_of(profile, metric):
            assert all(re.fullmatch(label.pattern, series.get(label.label, "")) for series in playing)
        if metric.through:
            keys = [tuple(series[label] for label in metric.through.on) for series in playing]
            known = [
                labels for found, labels in sample if found == metric.through.metric and labels[metric.through.take]
            ]
            assert set(keys) <= {tuple(series[label] for label in metric.through.on) for series in known}


def test_a_histogram_is_named_without_its_endings() -> None:
    for profile, _ in PROFILES.values():
        for metric in (metric for metrics in profile.metrics.values() for metric in metrics):
            assert metric.type != "histogram" or not metric.name.endswith(("_bucket", "_sum", "_count"))


def test_the_page_of_signals_and_the_canonical_profile_name_the_same_roles() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \|", (ROOT / "docs" / "signals.md").read_text(), re.MULTILINE)
    assert dict(rows) == {role: metrics[0].name for role, metrics in PROFILES["canonical"][0].metrics.items()}


def test_a_port_is_no_part_of_a_node() -> None:
    pattern = PROFILES["node_exporter"][0].labels["node"].pattern
    for instance in ("gpu-001", "gpu-001:9100", "gpu-001.example.com:9100", "10.0.0.1:9100"):
        match = re.fullmatch(pattern, instance)
        assert match and match[1] == instance.split(":")[0]
