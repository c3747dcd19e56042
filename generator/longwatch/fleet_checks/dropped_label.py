"""A text that names a label which the alert's expression has dropped.

What: the summary, the description, the remediation or a link of an alert uses `$labels.x`, and x is neither part of the
alert's identity, nor one of its static labels, nor taken from a join.
Why: Prometheus renders a missing label as nothing: "run  is stalled", and a link that opens the wrong dashboard.
What to do: use a label of the identity; or keep the label in the expression, and declare it as identity or join.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from longwatch.diagnostics import Diagnostic
from longwatch.ir import names
from longwatch.ir.model import Alert, Fleet
from longwatch.plugins.back import FleetCheck
from longwatch.suggest import closest

_LABEL = re.compile(r"\$labels\.([A-Za-z_][A-Za-z0-9_]*)")
_EVERY_RULE = ("alertname", "severity", "owner", "stage")
_OF = {"family": names.FAMILY, "cluster": "machines"}


def run(fleet: Fleet) -> tuple[Diagnostic, ...]:
    return tuple(
        problem for plan in fleet.plans for alert in plan.alerts for problem in _problems(alert, _OF[plan.kind])
    )


def _problems(alert: Alert, scope: str) -> Iterator[Diagnostic]:
    kept = {
        *alert.identity,
        *alert.labels,
        *(label for join in alert.joins for label in join.take),
        *_EVERY_RULE,
        scope,
    }
    texts = (alert.summary, alert.description, alert.remediation, *(text for _, text in alert.links))
    if kept.issuperset(_LABEL.findall("\n".join(texts))):  # nearly always: a fleet has ten thousand alerts
        return
    named = ("summary", "description", "remediation", *(name for name, _ in alert.links))
    for where, text in zip(named, texts, strict=True):
        for label in dict.fromkeys(_LABEL.findall(text)):
            if label not in kept:
                near = closest(label, kept)
                yield Diagnostic(
                    code="dropped-label",
                    message=f"the {where} of {alert.name} reads the label {label}, which its expression does not keep",
                    why="Prometheus would render nothing in its place",
                    help=f'did you mean "{near}"?' if near else f"its labels: {', '.join(sorted(kept))}",
                    origin=alert.origin,
                )


CHECK = FleetCheck(run=run)
