"""Two families, or two clusters, of one name.

What: `name` of a policy is used by another policy of the same kind.
Why: the files, recorded series and dashboards of the two would overwrite each other.
What to do: rename one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from longwatch.diagnostics import Diagnostic
from longwatch.plugins.front import Check
from longwatch.policy.model import Cluster, Family, Policy


def run(policy: Policy) -> tuple[Diagnostic, ...]:
    return (*_problems("family", policy.families), *_problems("cluster", policy.clusters))


def _problems(kind: str, subjects: Sequence[Family | Cluster]) -> Iterator[Diagnostic]:
    first: dict[str, str] = {}
    for subject in subjects:
        if subject.name in first:
            yield Diagnostic(
                code="duplicate-name",
                message=f'a second {kind} is called "{subject.name}"; the first is {first[subject.name]}',
                why="their rules and dashboards would overwrite each other",
                help="rename one of them; one policy with variants is often what is meant",
                origin=subject.origin.at("name"),
            )
        else:
            first[subject.name] = subject.file


CHECK = Check(run=run)
