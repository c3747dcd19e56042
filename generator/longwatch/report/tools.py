"""The tools that longwatch uses, as text and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from longwatch.diagnostics import Diagnostic, Severity
from longwatch.report.diagnostics import render_json
from longwatch.report.table import table
from longwatch.tools.toolbox import Status

USES: Mapping[str, str] = {
    "promtool": "longwatch test: rules and their scenarios",
    "amtool": "longwatch test: the Alertmanager configuration",
    "prometheus": "the tests of longwatch itself, no verb",
    "alertmanager": "the tests of longwatch itself, no verb",
}
NEEDED = ("promtool", "amtool")


class _Found(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    path: str
    version: str
    usable: bool
    used_by: str


def problems(found: Sequence[Status]) -> tuple[Diagnostic, ...]:
    """What is wrong with them; a tool that no verb needs is only a note."""
    return tuple(
        status.problem if status.name in NEEDED else msgspec.structs.replace(status.problem, severity=Severity.NOTE)
        for status in found
        if status.problem
    )


def render_text(found: Sequence[Status]) -> str:
    rows = [(s.name, s.version or "–", _state(s), s.path or "–", USES.get(s.name, "")) for s in found]
    return table(("tool", "version", "state", "path", "used by"), rows, left=5)


def _state(status: Status) -> str:
    if status.problem is None:
        return "ok"
    return status.problem.code.removeprefix("tool-").replace("-", " ")


def to_json(found: Sequence[Status]) -> str:
    """The diagnostics' document with `tools`."""
    document: Mapping[str, object] = msgspec.json.decode(render_json(problems(found)))
    tools = [
        _Found(name=s.name, path=s.path, version=s.version, usable=s.ok, used_by=USES.get(s.name, "")) for s in found
    ]
    return msgspec.json.format(msgspec.json.encode({**document, "tools": tools}), indent=2).decode() + "\n"
