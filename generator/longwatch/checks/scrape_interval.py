"""Intervals at which Prometheus cannot work.

What: `scrape.interval` or `scrape.rules` is zero, or longer than two minutes.
Why: Prometheus forgets a sample after five minutes; with sparser samples or evaluations, series blink and alerts
resolve themselves.
What to do: write the intervals that your Prometheus really uses, two minutes at most.
"""

from __future__ import annotations

from longwatch.diagnostics import Diagnostic
from longwatch.plugins.front import Check
from longwatch.policy.model import Policy
from longwatch.units import promql_duration

_LONGEST = 120.0


def run(policy: Policy) -> tuple[Diagnostic, ...]:
    scrape, place = policy.organisation.document.scrape, policy.organisation.origin.at("scrape")
    return tuple(
        Diagnostic(
            code="scrape-interval",
            message=f"`{key}` cannot be {promql_duration(value)}",
            why="Prometheus forgets a sample after five minutes, so sparse series blink and alerts resolve themselves",
            help="write the interval of your Prometheus, more than 0s and at most 2m",
            origin=place.at(key),
        )
        for key, value in (("interval", scrape.interval), ("rules", scrape.rules))
        if not 0 < value <= _LONGEST
    )


CHECK = Check(run=run)
