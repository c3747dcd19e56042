"""A file to be written below out/, still in memory."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from longwatch.diagnostics import Origin


class Artifact(msgspec.Struct, frozen=True, kw_only=True):
    """`path` is relative to out/, with forward slashes; `target` is the emitter's name."""

    path: str
    text: str
    target: str
    sources: tuple[str, ...] = ()
    """Policy files that it was compiled from."""
    origins: Mapping[str, Origin] = {}
    """Stable key (alert name, scenario key) → the policy's place, to translate a tool's complaint."""
    subject: str = ""
    """The family, cluster or organisation that it describes."""
