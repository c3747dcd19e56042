"""The whole pipeline on one screen: text → Document → Policy → Fleet → Artifacts.

Starts no process, reads no file, writes nothing. Every stage is a pure function; problems are collected, not raised.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from longwatch.artifact import Artifact
from longwatch.diagnostics import Diagnostic, Severity, Trouble
from longwatch.ir.model import Fleet, Plan, Shared, Summary
from longwatch.load.document import Document
from longwatch.load.yaml_source import read_text
from longwatch.lower.fleet import lower_cluster, lower_family, summary
from longwatch.lower.shared import lower_shared
from longwatch.plugins.back import emitters, fleet_checks
from longwatch.plugins.front import checks, detectors, exporters
from longwatch.policy.model import Cluster, Family, Organisation, Policy
from longwatch.policy.resolve import resolve
from longwatch.render.manifest import manifest
from longwatch.validate.documents import validate


class Front(msgspec.Struct, frozen=True, kw_only=True):
    """What the policies say. `policy` is None when they cannot be resolved."""

    documents: Mapping[str, Document]
    policy: Policy | None
    diagnostics: tuple[Diagnostic, ...]

    @property
    def ok(self) -> bool:
        return self.policy is not None and not any(d.severity is Severity.ERROR for d in self.diagnostics)


class Compiled(msgspec.Struct, frozen=True, kw_only=True):
    front: Front
    fleet: Fleet | None
    artifacts: tuple[Artifact, ...]
    """Empty when anything is in error."""
    diagnostics: tuple[Diagnostic, ...]
    """Of all stages, each with its span."""

    @property
    def ok(self) -> bool:
        return self.fleet is not None and not any(d.severity is Severity.ERROR for d in self.diagnostics)


Planner = Callable[[Organisation, Family | Cluster], Plan]
PlanEmitter = Callable[[Plan, Shared], tuple[Artifact, ...]]


def read(files: Sequence[tuple[str, bytes]]) -> Front:
    """Load, validate, resolve, check. All problems of all files."""
    documents: dict[str, Document] = {}
    found: list[Diagnostic] = []
    for name, raw in files:
        document, problems = read_text(name, raw)
        found += problems
        if document is not None:
            documents[name] = document
    parameters = {name: detector.parameters for name, detector in detectors().items()}
    unread = len(documents) < len(files)
    typed, problems = validate(tuple((name, document.value) for name, document in documents.items()), parameters)
    # A file that could not be read may be the organisation.
    found += [problem for problem in problems if not (unread and problem.code == "no-organisation")]
    policy = None
    try:
        policy, problems = resolve(typed, exporters(), parameters)
        found += problems
        if not any(d.severity is Severity.ERROR for d in found):
            found += [problem for check in checks().values() for problem in check.run(policy)]
    except Trouble as trouble:
        found += trouble.diagnostics
    return Front(documents=documents, policy=policy, diagnostics=placed(found, documents))


def plan_subject(organisation: Organisation, subject: Family | Cluster) -> Plan:
    """The IR of one family or cluster; depends on nothing else, so that a cache may stand in for it."""
    if isinstance(subject, Family):
        return lower_family(organisation, subject)
    return lower_cluster(organisation, subject)


def outline_subject(organisation: Organisation, subject: Family | Cluster) -> Plan:
    """The same without its scenarios, which no check reads."""
    if isinstance(subject, Family):
        return lower_family(organisation, subject, proofs=False)
    return lower_cluster(organisation, subject, proofs=False)


def plan(policy: Policy, one: Planner = plan_subject) -> Fleet:
    """The IR of everything."""
    organisation = policy.organisation
    return Fleet(shared=lower_shared(organisation), plans=tuple(one(organisation, s) for s in policy.subjects))


def judge(fleet: Fleet) -> tuple[Diagnostic, ...]:
    """The fleet checks."""
    return tuple(problem for check in fleet_checks().values() for problem in check.run(fleet))


def emit_plan(plan: Plan, shared: Shared) -> tuple[Artifact, ...]:
    return tuple(a for e in emitters().values() if e.plan is not None for a in e.plan(plan, shared))


def emit_fleet(summaries: tuple[Summary, ...], shared: Shared) -> tuple[Artifact, ...]:
    return tuple(a for e in emitters().values() if e.fleet is not None for a in e.fleet(summaries, shared))


def emit(fleet: Fleet, one: PlanEmitter = emit_plan) -> tuple[Artifact, ...]:
    """All artifacts, the manifest last."""
    artifacts = [artifact for plan in fleet.plans for artifact in one(plan, fleet.shared)]
    artifacts += emit_fleet(tuple(summary(p) for p in fleet.plans), fleet.shared)
    artifacts.sort(key=lambda artifact: artifact.path)
    return (*artifacts, manifest(artifacts))


def examine(front: Front, planner: Planner = plan_subject) -> tuple[Fleet | None, tuple[Diagnostic, ...]]:
    """What there is to say without a target: the checks and the fleet checks. No fleet when policies are in error."""
    if front.policy is None or not front.ok:
        return None, front.diagnostics
    fleet = plan(front.policy, planner)
    return fleet, (*front.diagnostics, *placed(judge(fleet), front.documents))


def finish(front: Front, planner: Planner = plan_subject, emitter: PlanEmitter = emit_plan) -> Compiled:
    """From what was read to the artifacts, in memory."""
    fleet, diagnostics = examine(front, planner)
    bad = fleet is None or any(d.severity is Severity.ERROR for d in diagnostics)
    artifacts = () if fleet is None or bad else emit(fleet, emitter)
    return Compiled(front=front, fleet=fleet, artifacts=artifacts, diagnostics=diagnostics)


def compile_policies(files: Sequence[tuple[str, bytes]]) -> Compiled:
    """Everything, in memory."""
    return finish(read(files))


def placed(diagnostics: Sequence[Diagnostic], documents: Mapping[str, Document]) -> tuple[Diagnostic, ...]:
    """Each diagnostic with the span of its origin."""
    return tuple(
        msgspec.structs.replace(d, span=documents[d.origin.file].span(d.origin.path, key=d.origin.key))
        if d.span is None and d.origin is not None and d.origin.file in documents
        else d
        for d in diagnostics
    )
