"""What promtool and amtool make of the artifacts, as values."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from longwatch.diagnostics import Diagnostic, Origin, Severity

SCENARIO = "scenario/"
"""Prefix of a scenario's key in Artifact.origins; `alert/` and `record/` are those of rules."""


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """A scenario that did not come out as expected."""

    scenario: str
    message: str
    """What was expected and what came instead, one line for each case that failed."""
    origin: Origin | None = None

    @property
    def diagnostic(self) -> Diagnostic:
        return Diagnostic(
            code="scenario-failed",
            message=f"scenario {self.scenario} failed: {self.message}",
            why="the compiled alert does not do what its policy promises",
            help="`longwatch explain` shows the limit that it reads and why; the limit, a spread or a pause is off",
            origin=self.origin,
        )


class FileVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """The judgement on one artifact."""

    path: str
    target: str
    """prometheus, promtool or alertmanager."""
    subject: str
    """The family, cluster or organisation."""
    rules: int = 0
    """Rules that promtool read."""
    cases: int = 0
    """Assertions that promtool ran: entries of alert_rule_test and promql_expr_test."""
    proved: tuple[str, ...] = ()
    """Keys of the scenarios of which every case passed."""
    failures: tuple[Failure, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    """What kept the file from being judged, or what is wrong with it as a whole."""

    @property
    def ok(self) -> bool:
        return not self.failures and all(d.severity is not Severity.ERROR for d in self.diagnostics)


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """The judgement on all artifacts, in their order."""

    files: tuple[FileVerdict, ...]
    tools: Mapping[str, str]
    """Name → version of the tools that judged."""

    @property
    def ok(self) -> bool:
        return all(file.ok for file in self.files)

    @property
    def rules(self) -> int:
        return sum(file.rules for file in self.files)

    @property
    def cases(self) -> int:
        return sum(file.cases for file in self.files)

    @property
    def proved(self) -> int:
        return sum(len(file.proved) for file in self.files)

    @property
    def failures(self) -> tuple[Failure, ...]:
        return tuple(failure for file in self.files for failure in file.failures)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Everything to tell, failed scenarios included, each once: a broken rule fails the check and the test."""
        return tuple(
            dict.fromkeys(
                diagnostic
                for file in self.files
                for diagnostic in (*file.diagnostics, *(failure.diagnostic for failure in file.failures))
            )
        )
