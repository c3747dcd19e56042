"""`longwatch build`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from longwatch.artifact import Artifact
from longwatch.cli import options
from longwatch.cli.cache import Cache
from longwatch.cli.ending import DRIFT, code
from longwatch.cli.partial import only
from longwatch.cli.planning import planned
from longwatch.cli.sources import sources
from longwatch.cli.terminal import Terminal
from longwatch.compiler import emit, emit_plan, plan_subject
from longwatch.diagnostics import Diagnostic, Severity
from longwatch.report.build import Figures, Outcome, drifted, figures, render_text, to_json
from longwatch.report.diagnostics import render_github
from longwatch.report.diagnostics import render_text as render_diagnostics
from longwatch.writer import drift, write


@click.command(epilog="Example: longwatch build --check")
@options.policies
@click.option("--out", default="out", show_default=True, metavar="DIR", help="Where the output goes.")
@click.option("--check", "check", is_flag=True, help="Write nothing; exit 4 if the output is out of date.")
@click.option("--family", metavar="NAME", help="Only this family or cluster, and what all of them share.")
@options.form
@options.colour
def command(directory: str, out: str, check: bool, family: str | None, form: str, colour: bool | None) -> int:
    """Compile the policies into rules, tests, dashboards, log pipelines and routes.

    Nothing is written when a policy is in error, and the output is never left half written. What did not change since
    the last build is taken from .longwatch/ beside the output; delete it whenever you like. --check does not use it.
    """
    if not out.strip():
        raise click.BadParameter("name a directory", param_hint="--out")
    terminal = Terminal.of(colour)
    read = sources(directory)
    chosen = read.subject(family, "--family").name if family and read.front.ok else None
    cache = None if check else Cache(read, Path(out))
    planner, emitter = (cache.plan, cache.emit) if cache else (plan_subject, emit_plan)
    fleet, found = planned(read, terminal, planner)
    policy = read.front.policy
    if fleet is None or policy is None or code(found):
        _tell(found, (), None, form, terminal)
        return code(found)
    artifacts = only(chosen, fleet, Path(out), emitter) if chosen else emit(fleet, emitter)
    outcome = _compared(artifacts, out) if check else _written(artifacts, out, cache)
    plans = [plan for plan in fleet.plans if chosen in (None, plan.name)]
    _tell((*found, *drifted(out, outcome.drift)), figures(plans, policy), outcome, form, terminal)
    return DRIFT if outcome.drift else 0


def _compared(artifacts: Sequence[Artifact], out: str) -> Outcome:
    found = tuple((path, how.value) for path, how in drift(artifacts, Path(out)))
    orphans = sum(how == "orphan" for _, how in found)
    return Outcome(out=out, checked=True, drift=found, unchanged=len(artifacts) - len(found) + orphans)


def _written(artifacts: Sequence[Artifact], out: str, cache: Cache | None) -> Outcome:
    done = write(artifacts, Path(out))
    if cache:
        cache.keep()
    return Outcome(
        out=out,
        checked=False,
        changed=done.changed,
        deleted=done.deleted,
        unchanged=done.unchanged,
        reused=cache.reused if cache else 0,
    )


def _tell(
    found: Sequence[Diagnostic], made: Sequence[Figures], outcome: Outcome | None, form: str, terminal: Terminal
) -> None:
    if form == "json":
        terminal.put(to_json(found, made, outcome))
        return
    if form == "github":
        terminal.put(render_github(found))
    else:
        serious = [d for d in found if d.severity is not Severity.NOTE]  # `check` shows the notes
        terminal.say(render_diagnostics(serious, colour=terminal.colour, width=terminal.width))
        terminal.say("\n" if serious and outcome else "")
    if outcome:
        terminal.say(render_text(made, outcome))
