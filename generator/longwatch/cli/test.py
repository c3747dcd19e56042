"""`longwatch test`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from longwatch.artifact import Artifact
from longwatch.cli import options
from longwatch.cli.ending import code
from longwatch.cli.planning import planned
from longwatch.cli.sources import Sources, sources
from longwatch.cli.terminal import Progress, Terminal
from longwatch.compiler import emit, emit_plan, placed
from longwatch.diagnostics import Diagnostic, Severity
from longwatch.ir.model import Fleet, Plan
from longwatch.report.diagnostics import render_github
from longwatch.report.diagnostics import render_text as render_diagnostics
from longwatch.report.verdict import Results, render_text, results, to_json
from longwatch.suggest import closest
from longwatch.tools.process import cores
from longwatch.tools.toolbox import require
from longwatch.verify.judge import judge, needed

_PATIENCE = 600.0
"""Seconds that one test file may take; a shared CI machine is slow."""


@click.command(epilog="Example: longwatch test --family llm-pretraining --alert TrainingStalled")
@options.policies
@click.option("--family", metavar="NAME", help="Only this family or cluster.")
@click.option("--alert", metavar="NAME", help="Only the scenarios that prove this alert.")
@options.form
@options.colour
def command(directory: str, family: str | None, alert: str | None, form: str, colour: bool | None) -> int:
    """Compile in memory, and let promtool and amtool prove what the alerts do.

    Every alert is played against the failure that it watches and against its nearest harmless neighbour. promtool and
    amtool are looked for in PROMTOOL and AMTOOL, on PATH, and in .tools/bin; `longwatch doctor` tells what was found.
    """
    terminal = Terminal.of(colour)
    read = sources(directory)
    if family and read.front.ok:
        read = read.narrowed(read.subject(family, "--family"))
    fleet, found = planned(read, terminal)
    if fleet is None or code(found):
        _tell(found, None, form, terminal)
        return code(found)
    if alert:
        fleet = _proving(fleet, alert)
    artifacts = _artifacts(fleet, whole=not (family or alert))
    toolbox = require(needed(artifacts), environment=os.environ, tools_dir=Path(".tools").absolute())
    with Progress(terminal, "testing") as progress:
        verdict = judge(artifacts, toolbox, jobs=cores(), progress=progress, timeout=_PATIENCE)
    found = (*found, *_shown(verdict.diagnostics, read))
    outcome = results(fleet.plans, verdict, sum(artifact.target == "grafana" for artifact in artifacts), alert)
    _tell(found, outcome, form, terminal)
    return code(found)


def _artifacts(fleet: Fleet, *, whole: bool) -> Sequence[Artifact]:
    """A part of the fleet has no routes worth judging."""
    return emit(fleet) if whole else [a for plan in fleet.plans for a in emit_plan(plan, fleet.shared)]


def _proving(fleet: Fleet, alert: str) -> Fleet:
    """The plans that have the alert, with the scenarios that expect it. Raises a usage error when none has."""
    names = {a.name for plan in fleet.plans for a in plan.alerts}
    if alert not in names:
        near = closest(alert, names)
        hint = f'did you mean "{near}"?' if near else "`longwatch explain FAMILY` lists a family's alerts"
        raise click.BadParameter(f'no alert is called "{alert}"; {hint}', param_hint="--alert")
    plans = tuple(_only(plan, alert) for plan in fleet.plans if any(a.name == alert for a in plan.alerts))
    return msgspec.structs.replace(fleet, plans=plans)


def _only(plan: Plan, alert: str) -> Plan:
    scenarios = (s for s in plan.scenarios if alert in (s.alert, *(firing.alert for firing in s.firing)))
    return msgspec.structs.replace(plan, scenarios=tuple(scenarios))


def _shown(diagnostics: Sequence[Diagnostic], read: Sources) -> tuple[Diagnostic, ...]:
    return read.shown(placed(diagnostics, read.front.documents))


def _tell(found: Sequence[Diagnostic], outcome: Results | None, form: str, terminal: Terminal) -> None:
    if form == "json":
        terminal.put(to_json(found, outcome))
        return
    if form == "github":
        terminal.put(render_github(found))
    if outcome:
        terminal.say(render_text(outcome))
    if form == "text":
        serious = [d for d in found if d.severity is not Severity.NOTE]  # `check` shows the notes
        text = render_diagnostics(serious, colour=terminal.colour, width=terminal.width)
        terminal.say(f"\n{text}" if text and outcome else text)
