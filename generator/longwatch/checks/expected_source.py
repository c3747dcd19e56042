"""Nothing tells that a run should be there.

What: the sign named by `lifecycle.expected` is given by no exporter of the family, or it is the scheduler's word and
no `runs.name_pattern` tells this family's jobs from others.
Why: a run that never starts would be missed; without a name pattern every job of the cluster would be expected to
train.
What to do: add the exporter, choose another sign, or write `runs.name_pattern`.
"""

from __future__ import annotations

from collections.abc import Iterator

from longwatch.diagnostics import Diagnostic
from longwatch.plugins.front import Check
from longwatch.plugins.reading import HEARTBEATS
from longwatch.policy.model import Family, Policy

_NEEDS = {
    "phase": (("phase",), "the phase", "add an exporter that tells the phase, or expect the run by its scheduler"),
    "run-info": (
        ("run_info", *HEARTBEATS),
        "any series of a run",
        "add the exporter of the training process, or expect the run by its scheduler",
    ),
    "scheduler": (
        ("job_running",),
        "the scheduler's word on a running job",
        "add a scheduler's exporter, such as kube_state_metrics or slurm_soperator",
    ),
}


def run(policy: Policy) -> tuple[Diagnostic, ...]:
    return tuple(problem for family in policy.families for problem in _problems(family))


def _problems(family: Family) -> Iterator[Diagnostic]:
    expected, place = family.document.lifecycle.expected, family.origin.at("lifecycle", "expected")
    roles, what, remedy = _NEEDS[expected]
    if not any(role in family.readings for role in roles):
        yield Diagnostic(
            code="expected-source",
            message=f"no exporter of this family gives {what}",
            why="a run that never starts would not be noticed",
            help=remedy,
            origin=place,
        )
    elif expected == "phase" and "initialising" not in family.phases:
        yield Diagnostic(
            code="expected-source",
            message='the exporter\'s profile has no phase "initialising"',
            why="it tells the beginning of an attempt",
            help="add its value to `phases` of the profile, or expect the run by its scheduler",
            origin=place,
        )
    if expected == "scheduler" and family.document.runs.name_pattern is None:
        yield Diagnostic(
            code="expected-source",
            message="the scheduler also runs other families' jobs, and no name pattern tells them apart",
            why="every job of the cluster would be expected to train as this family",
            help="write `runs.name_pattern`, a regular expression that matches the names of this family's jobs",
            origin=place,
        )


CHECK = Check(run=run)
