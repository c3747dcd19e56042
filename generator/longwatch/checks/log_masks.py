"""A mask that has not exactly one capture group.

What: `pattern` of a mask in `logs.masks` captures nothing, or several parts.
Why: what the group captures is replaced. Without a group nothing is masked, and the secret is stored.
What to do: put parentheses around the secret, and write (?:…) for groups that only group.
"""

from __future__ import annotations

import re

from longwatch.diagnostics import Diagnostic
from longwatch.plugins.front import Check
from longwatch.policy.model import Policy

_NOT_GROUPS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_GROUP = re.compile(r"\((?!\?)|\(\?P?<[A-Za-z_]")


def run(policy: Policy) -> tuple[Diagnostic, ...]:
    place = policy.organisation.origin.at("logs", "masks")
    return tuple(
        Diagnostic(
            code="log-masks",
            message=f'the mask "{mask.name}" captures {"nothing" if not groups else f"{groups} parts"}',
            why="what its one group captures is replaced; the rest is stored as it is",
            help="put parentheses around the secret, and write (?:…) for groups that only group",
            origin=place.at(index, "pattern"),
        )
        for index, mask in enumerate(policy.organisation.document.logs.masks)
        if (groups := len(_GROUP.findall(_NOT_GROUPS.sub("", mask.pattern)))) != 1
    )


CHECK = Check(run=run)
