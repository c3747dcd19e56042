"""What the compiler has to say about a policy, as values; printing is report's job."""

from __future__ import annotations

from enum import StrEnum

import msgspec

Path = tuple[str | int, ...]
"""Keys and indices from the top of a document to a value, e.g. ("variants", 0, "ranks")."""


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """A place in a file; lines and columns count from 1, length in characters (0: the whole file)."""

    file: str
    line: int
    column: int
    length: int = 0
    text: str = ""
    """The source line, for the excerpt under the message."""


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """Where a value was written: a file and the path inside it; `key` points at the key, not the value."""

    file: str
    path: Path = ()
    key: bool = False

    def at(self, *more: str | int, key: bool = False) -> Origin:
        return Origin(file=self.file, path=(*self.path, *more), key=key)


class Diagnostic(msgspec.Struct, frozen=True, kw_only=True):
    """One finding. `code` is a name (kebab-case) and equals the file name of the check that made it."""

    code: str
    severity: Severity = Severity.ERROR
    message: str
    """What is wrong, with the offending value."""
    why: str = ""
    help: str = ""
    """What to do about it."""
    origin: Origin | None = None
    span: Span | None = None
    """Filled by the compiler from `origin`; set directly only by the loader."""


class Trouble(Exception):
    """Users' mistakes that end a stage; carries all of them. Never raised for our own bugs."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__("; ".join(d.message for d in diagnostics))
        self.diagnostics = diagnostics
