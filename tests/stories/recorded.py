"""Public logs of real runs, laid on the grid of scrapes under the canonical names or an exporter's own.

The rows are in tests/data/runs/, whose README gives their sources and licences. A published gauge is held while its
target is up. What a log does not hold and a story has to fill in, the story says.
"""

from __future__ import annotations

import csv
import math
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path

from lives import series

from longwatch.notation import Sample

RUNS = Path(__file__).parents[1] / "data" / "runs"

Row = dict[str, float]


def rows(name: str) -> list[Row]:
    """The cells that were logged; NaN was logged, a blank cell was not."""
    with (RUNS / f"{name}.csv").open() as file:
        return [{key: float(text) for key, text in row.items() if text} for row in csv.DictReader(file)]


def held(at: Sequence[float], values: Sequence[float], every: float, until: float) -> list[Sample]:
    """One sample per scrape up to `until`: the newest value that was published by then, nothing before the first."""
    made: list[Sample] = []
    for tick in range(math.floor(until / every) + 1):
        index = bisect_right(at, tick * every + 1e-6) - 1
        made.append(values[index] if index >= 0 else None)
    return made


def column(
    given: Sequence[Row], name: str, every: float, until: float, at: str = "at", scale: float = 1.0
) -> list[Sample]:
    """A column of the rows that hold it, held between them."""
    having = [row for row in given if name in row]
    return held([row[at] for row in having], [row[name] * scale for row in having], every, until)


class Canonical:
    """The canonical series of one run, made of its rows."""

    def __init__(self, job: str, run: str, model: str, every: float, until: float) -> None:
        self.label = {"job": job, "cluster": "replayed", "run_id": run}
        self.every, self.until = every, until
        self.series: dict[str, list[Sample]] = {}
        self.put("train_run_info", [1.0] * (math.floor(until / every) + 1), model_size=model)

    def put(self, name: str, values: list[Sample], **labels: str) -> None:
        self.series[series(name, **self.label, **labels)] = values

    def show(self, name: str, given: Sequence[Row], column_name: str) -> None:
        self.put(name, column(given, column_name, self.every, self.until))

    def goes(self, gone: float) -> None:
        """The target is gone from then on."""
        upto = math.floor(gone / self.every)
        for values in self.series.values():
            if len(values) > upto:
                values[upto:] = ["stale"]
