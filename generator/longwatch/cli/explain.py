"""`longwatch explain`."""

from __future__ import annotations

import click

from longwatch.cli import options
from longwatch.cli.ending import code
from longwatch.cli.planning import planned
from longwatch.cli.sources import Sources, sources, tell
from longwatch.cli.terminal import Terminal
from longwatch.diagnostics import Origin, Path
from longwatch.load.document import Value
from longwatch.policy.model import Cluster, Family
from longwatch.report.explain import alert_text, family_text
from longwatch.suggest import closest


@click.command(epilog="Example: longwatch explain llm-pretraining/TrainingStalled")
@click.argument("what", metavar="FAMILY[/ALERT]")
@options.policies
@options.colour
def command(what: str, directory: str, colour: bool | None) -> int:
    """Show a family, cluster or alert after packs, organisation and policy were merged.

    Each value comes with the layer that set it and the line where it was written. An alert also comes with its PromQL, its
    windows and why they are so, what absence and NaN do to it, who is told, and the scenarios that prove it.
    """
    terminal = Terminal.of(colour)
    read = sources(directory)
    if not read.front.ok:
        tell(read.shown(read.front.diagnostics), "text", terminal)
        return code(read.front.diagnostics)
    name, slash, alert = what.partition("/")
    subject = read.subject(name, "FAMILY")
    if slash:
        _known(subject, alert)
    fleet, found = planned(read.narrowed(subject), terminal)
    if fleet is None:
        tell(found, "text", terminal)
        return code(found)
    plan = fleet.plans[0]

    def place(origin: Origin) -> str:
        return _place(read, origin)

    def paint(heading: str) -> str:
        return f"\x1b[1m{heading}\x1b[0m" if terminal.colour_out else heading

    if slash:
        terminal.put(alert_text(subject, plan, fleet.shared, alert, place, paint))
    else:
        terminal.put(family_text(subject, plan, fleet.shared, place, paint))
    return 0


def _known(subject: Family | Cluster, alert: str) -> None:
    names = [setting.name for setting in subject.settings]
    if alert not in names:
        near = closest(alert, names)
        hint = f'did you mean "{near}"?' if near else f"there are: {', '.join(names) or 'none'}"
        raise click.BadParameter(f'{subject.name} has no alert "{alert}"; {hint}', param_hint="ALERT")


def _place(read: Sources, origin: Origin) -> str:
    document = read.front.documents.get(origin.file)
    if document is None:
        return read.path(origin.file)
    if not _written(document.value, origin.path):
        return "by default"
    span = document.span(origin.path, key=origin.key)
    return f"{read.path(span.file)}:{span.line}:{span.column}"


def _written(value: Value, path: Path) -> bool:
    for step in path:
        match value, step:
            case dict(), str() if step in value:
                value = value[step]
            case list(), int() if step < len(value):
                value = value[step]
            case _:
                return False
    return True
