"""The records that know a run's life, for each of the three lifecycles.

The goldens are in lifecycles/. `UPDATE_GOLDENS=1 pytest tests/lower` rewrites them; review the difference.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import pytest

from longwatch.ir import names
from longwatch.ir.model import Record
from longwatch.lower.lifecycle import level_records, lifecycle_records
from longwatch.plugins.reading import FamilyReader
from longwatch.policy.document import Lifecycle
from longwatch.promql.parse import Fault, parse

GOLDENS = Path(__file__).parent / "lifecycles"
LIFECYCLES = ("phase", "run-info", "scheduler")
FamilyOf = Callable[[str], FamilyReader]


def shown(records: Sequence[Record]) -> str:
    """As in the goldens: one record a paragraph."""
    return "\n".join(
        f"{names.selector(record.name, record.labels)}\n# {record.reason}\n{record.expr}\n" for record in records
    )


@pytest.mark.parametrize("lifecycle", LIFECYCLES)
def test_the_records_of_a_lifecycle_are_as_reviewed(family_of: FamilyOf, lifecycle: str) -> None:
    golden, text = GOLDENS / f"{lifecycle}.promql", shown(lifecycle_records(family_of(lifecycle)))
    if os.environ.get("UPDATE_GOLDENS") and not os.environ.get("CI"):
        golden.write_text(text)
    assert text == golden.read_text()


def test_every_golden_belongs_to_a_lifecycle() -> None:
    assert {path.stem for path in GOLDENS.iterdir()} == set(LIFECYCLES)


@pytest.mark.parametrize("lifecycle", LIFECYCLES)
def test_every_record_is_promql(family_of: FamilyOf, lifecycle: str) -> None:
    faults = [r.name for r in lifecycle_records(family_of(lifecycle)) if isinstance(parse(r.expr), Fault)]
    assert faults == []


@pytest.mark.parametrize("lifecycle", LIFECYCLES)
def test_a_record_reads_only_what_stands_above_it_or_its_own_past(family_of: FamilyOf, lifecycle: str) -> None:
    """One group evaluates its rules in order; what stands below would be a minute old, which only the memory may be."""
    above: set[str] = set()
    for record in lifecycle_records(family_of(lifecycle)):
        now = re.sub(r"last_over_time\(lw_run:[a-z_:]+", "", record.expr)
        assert set(re.findall(r"lw_run:[a-z_]+:[a-z_]+", now)) <= above, record.name
        assert set(re.findall(r"last_over_time\((lw_run:[a-z_:]+)", record.expr)) <= {
            *above,
            record.name,
            names.SEEN,
        }, record.name
        above.add(record.name)


@pytest.mark.parametrize("lifecycle", LIFECYCLES)
def test_a_record_reads_its_own_family_only(family_of: FamilyOf, lifecycle: str) -> None:
    reader = family_of(lifecycle)
    for record in lifecycle_records(reader):
        own = record.expr.count(f'{{model_family="{reader.family.name}"}}')
        assert own == len(re.findall(r"lw_run:[a-z_]+:[a-z_]+", record.expr)), record.name


@pytest.mark.parametrize("lifecycle", LIFECYCLES)
def test_every_variant_has_a_record(family_of: FamilyOf, lifecycle: str) -> None:
    reader = family_of(lifecycle)
    written = [r.labels["variant"] for r in lifecycle_records(reader) if r.name == names.VARIANT]
    assert written == [variant.name for variant in reader.family.variants]


def test_without_a_sign_of_the_end_no_run_is_ever_over(family_of: FamilyOf) -> None:
    reader = family_of("run-info")
    document = msgspec.structs.replace(reader.family.document, lifecycle=Lifecycle(expected="run-info"))
    endless = FamilyReader(msgspec.structs.replace(reader.family, document=document))
    assert {names.FINISHED, names.OVER} & {record.name for record in lifecycle_records(endless)} == set()


def test_a_level_is_recorded_in_its_base_unit(family_of: FamilyOf) -> None:
    [record] = level_records(family_of("run-info"), ("mfu",))
    assert record.name == "lw_run:mfu:avg"
    assert record.expr.endswith("* 0.01)")


def test_a_level_that_gets_worse_upwards_is_the_worst_ranks(family_of: FamilyOf) -> None:
    [record] = level_records(family_of("run-info"), ("loss",))
    assert record.name == "lw_run:loss:max"
    assert record.expr.startswith("max by (cluster, run_id)")


def test_a_histogram_is_recorded_as_its_mean(family_of: FamilyOf) -> None:
    [record] = level_records(family_of("phase"), ("step_time",))
    assert record.name == "lw_run:step_time:mean"
    assert "train_step_duration_seconds_sum" in record.expr
    assert "train_step_duration_seconds_count" in record.expr


def test_a_role_that_is_asked_for_twice_is_recorded_once(family_of: FamilyOf) -> None:
    assert len(level_records(family_of("run-info"), ("loss", "grad_norm", "loss"))) == 2
