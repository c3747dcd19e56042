"""Nothing tells that a run ended well.

What: `lifecycle.finished` is missing, or names a sign that no exporter of the family gives: the phase, the
scheduler's word, or a step that survives restarts.
Why: a run that ends as planned stops exporting, exactly as one that dies; without a sign every normal end would be
reported as a vanished run.
What to do: add a source (a scheduler's exporter and `finished: [scheduler]` is the usual one), or make the alerts on
vanished runs informational with `override: {RunVanished: {severity: info}}`.
"""

from __future__ import annotations

from collections.abc import Iterator

from longwatch.diagnostics import Diagnostic
from longwatch.plugins.front import Check
from longwatch.policy.document import Finish
from longwatch.policy.model import Family, Policy

_WHY = "a planned end and a crash look the same: every normal end would be reported as a vanished run"


def run(policy: Policy) -> tuple[Diagnostic, ...]:
    return tuple(problem for family in policy.families for problem in _problems(family))


def _problems(family: Family) -> Iterator[Diagnostic]:
    place = family.origin.at("lifecycle", "finished")
    finished = family.document.lifecycle.finished
    if not finished and any(s.detector == "vanished" and s.parameters.severity != "info" for s in family.settings):
        yield Diagnostic(
            code="finish-source",
            message="nothing tells that a run ended well: lifecycle.finished is missing",
            why=_WHY,
            help="add `finished: [scheduler]` or another source, or override RunVanished with `severity: info`",
            origin=place,
        )
    for index, source in enumerate(finished):
        if missing := _missing(family, source):
            yield Diagnostic(
                code="finish-source", message=missing[0], why=_WHY, help=missing[1], origin=place.at(index)
            )


def _missing(family: Family, source: str | Finish) -> tuple[str, str] | None:
    if isinstance(source, Finish):
        if "step" not in family.readings:
            return "no exporter of this family tells the step", "add an exporter with the role step, or another source"
        if "step" not in family.survives_restart:
            return (
                "the step of this family's exporters starts again with every attempt",
                "use the phase or the scheduler, or a step that survives restarts",
            )
        return None
    if source == "phase":
        if "phase" not in family.readings:
            return "no exporter of this family tells the phase", "add an exporter that does, or use the scheduler"
        if "finished" not in family.phases:
            return 'the exporter\'s profile has no phase "finished"', "add its value to `phases` of the profile"
        return None
    if "job_finished" not in family.readings:
        return (
            "no exporter of this family gives the scheduler's word on a finished job",
            "add a scheduler's exporter, such as kube_state_metrics or slurm_soperator",
        )
    return None


CHECK = Check(run=run)
