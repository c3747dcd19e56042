"""An identity that changes while the run lives.

What: `runs.identity` contains a step, a value, an attempt, a rank or a process, or the same label twice.
Why: a run would be another one after every restart, on every rank, or at every step: nothing could be seen to vanish,
and each step would be a series of its own.
What to do: name the labels that one run keeps from its first attempt to its last, such as cluster and run_id; the
run's own label comes last.
"""

from __future__ import annotations

from collections.abc import Iterator

from longwatch.diagnostics import Diagnostic
from longwatch.plugins.front import Check
from longwatch.policy.model import Policy

_CHANGING = {
    "attempt": "after every restart",
    "restart": "after every restart",
    "step": "at every step",
    "iteration": "at every step",
    "epoch": "at every epoch",
    "value": "with every value",
    "rank": "on every rank",
    "local_rank": "on every rank",
    "gpu": "on every GPU",
    "pid": "after every restart",
    "pod": "after every restart",
    "instance": "after every move",
}


def run(policy: Policy) -> tuple[Diagnostic, ...]:
    return tuple(_problems(policy))


def _problems(policy: Policy) -> Iterator[Diagnostic]:
    for family in policy.families:
        for index, label in enumerate(family.identity):
            twice = label in family.identity[:index]
            if label in _CHANGING or twice:
                yield Diagnostic(
                    code="run-identity",
                    message=f'"{label}" is named twice' if twice else f'"{label}" cannot name a run',
                    why="" if twice else f"the run would be another one {_CHANGING[label]}",
                    help="keep labels that a run has from its first attempt to its last, such as cluster and run_id",
                    origin=family.origin.at("runs", "identity", index),
                )


CHECK = Check(run=run)
