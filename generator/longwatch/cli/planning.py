"""Plans all policies, with progress, and lists every finding as the user calls the files."""

from __future__ import annotations

from longwatch.cli.sources import Sources
from longwatch.cli.terminal import Progress, Terminal
from longwatch.compiler import Planner, examine, plan_subject
from longwatch.diagnostics import Diagnostic
from longwatch.ir.model import Fleet, Plan
from longwatch.policy.model import Cluster, Family, Organisation


def planned(
    read: Sources, terminal: Terminal, planner: Planner = plan_subject
) -> tuple[Fleet | None, tuple[Diagnostic, ...]]:
    """No fleet when the policies are in error."""
    total = len(read.front.policy.subjects) if read.front.policy else 0
    done = 0

    def counted(organisation: Organisation, subject: Family | Cluster) -> Plan:
        nonlocal done
        made = planner(organisation, subject)
        done += 1
        progress(done, total, subject.name)
        return made

    with Progress(terminal, "compiling") as progress:
        fleet, found = examine(read.front, counted)
    return fleet, read.shown(found)
