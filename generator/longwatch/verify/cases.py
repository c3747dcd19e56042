"""Counts the cases of a promtool test file, since promtool passes in silence what it did not run.

Reads the block style that our own emitter writes, by indentation; what it cannot see counts as absent, so that an
unexpected layout is refused instead of believed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from posixpath import dirname, join, normpath

import msgspec

from longwatch.artifact import Artifact
from longwatch.diagnostics import Diagnostic
from longwatch.verify.verdict import SCENARIO

SCENARIO_COMMENT = re.compile(r"""# scenario: ([^\s"'\\]+)""")
"""Ends each promql_expr_test expression; promtool repeats the expression, but not the test group's name."""

_SECTIONS = ("alert_rule_test:", "promql_expr_test:")
_ALERTNAME_KEY = re.compile(r"""^(?:- )?alertname: ["']?(\w+)""")
_ALERTNAME_MATCHER = re.compile(r"""\balertname=~?\\?"([\w|]+)""")
_RULE_ALERT = re.compile(r"""^ *(?:- )?alert: ["']?(\w+)""", re.MULTILINE)


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of `tests:`."""

    name: str
    cases: int
    scenarios: frozenset[str]
    """Named in its expressions."""


class Suite(msgspec.Struct, frozen=True, kw_only=True):
    """What a test file holds."""

    rule_files: tuple[str, ...]
    groups: tuple[Group, ...]
    alerts: frozenset[str]
    """Alerts that its cases look at."""

    @property
    def cases(self) -> int:
        return sum(group.cases for group in self.groups)


def read(text: str) -> Suite:
    """The suite in a test file's text."""
    top = _top_level(text)
    groups = tuple(_group(lines) for lines in _items(top.get("tests", [])))
    cases = [line for lines in _items(top.get("tests", [])) for case in _cases(lines) for line in case]
    named = (match[1] for line in cases if (match := _ALERTNAME_KEY.match(line.strip())))
    matched = (name for line in cases for names in _ALERTNAME_MATCHER.findall(line) for name in names.split("|"))
    return Suite(
        rule_files=tuple(_scalar(lines[0]) for lines in _items(top.get("rule_files", []))),
        groups=groups,
        alerts=frozenset((*named, *matched)) - {""},
    )


def scenarios(test: Artifact) -> tuple[str, ...]:
    """Keys of the scenarios that the artifact promises to run, in order."""
    return tuple(key.removeprefix(SCENARIO) for key in test.origins if key.startswith(SCENARIO))


def silent_passes(test: Artifact, rules: Iterable[Artifact]) -> tuple[Diagnostic, ...]:
    """What promtool would call a success without having tested it."""
    suite = read(test.text)
    found: list[Diagnostic] = []
    known: set[str] = set()
    if not suite.rule_files:
        found.append(_refuse("rules-not-found", test, "names no rule_files, so promtool would test nothing"))
    for pattern in suite.rule_files:
        place = normpath(join(dirname(test.path), pattern))
        matching = [rule for rule in rules if fnmatchcase(rule.path, place)]
        known.update(alert for rule in matching for alert in _RULE_ALERT.findall(rule.text))
        if not matching:
            found.append(_refuse("rules-not-found", test, f"tests {pattern}, which matches no compiled rule file"))
    if not suite.groups:
        found.append(_refuse("test-without-cases", test, "has an empty `tests:`"))
    for number, group in enumerate(suite.groups, 1):
        if not group.cases:
            what = f"test group {group.name or number} has no alert_rule_test and no promql_expr_test"
            found.append(_refuse("test-without-cases", test, what))
    ran = frozenset(key for group in suite.groups for key in (group.name, *group.scenarios) if group.cases)
    for key in scenarios(test):
        if key not in ran:
            refusal = _refuse("scenario-not-run", test, f"has no case for scenario {key}")
            found.append(msgspec.structs.replace(refusal, origin=test.origins[SCENARIO + key]))
    for alert in sorted(suite.alerts - known) if known else ():
        found.append(_refuse("alert-unknown", test, f"looks for alert {alert}, which its rule files do not define"))
    return tuple(found)


def _refuse(code: str, test: Artifact, what: str) -> Diagnostic:
    return Diagnostic(
        code=code,
        message=f"{test.path} {what}",
        why="promtool reports success for it all the same",
        help="this is longwatch's mistake, not yours: please report it",
    )


def _top_level(text: str) -> dict[str, list[str]]:
    """Lines below each top-level key of a block mapping."""
    out: dict[str, list[str]] = {}
    current: list[str] = []
    for line in text.splitlines():
        if match := re.match(r"([a-z_]+):", line):
            current = out.setdefault(match[1], [])
        elif line.strip() and not line.startswith("#"):
            current.append(line)
    return out


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _items(lines: list[str]) -> list[list[str]]:
    """A block sequence's items; the dash of each is replaced by a space."""
    out: list[list[str]] = []
    for line in lines:
        if line.lstrip(" ").startswith("- ") and _indent(line) == _indent(lines[0]):
            out.append([line.replace("-", " ", 1)])
        elif out:
            out[-1].append(line)
    return out


def _cases(group: list[str]) -> Iterator[list[str]]:
    """The entries of both sections of a test group."""
    level = _indent(group[0])
    section: list[str] = []
    inside = False
    for line in (*group, " " * level + "end:"):
        if _indent(line) == level and not line.lstrip(" ").startswith("- "):
            yield from _items(section)
            section, inside = [], line.strip() in _SECTIONS
        elif inside:
            section.append(line)


def _group(lines: list[str]) -> Group:
    cases = list(_cases(lines))
    level = _indent(lines[0])
    names = [_scalar(line.split(":", 1)[1]) for line in lines if line[level:].startswith("name:")]
    return Group(
        name=names[0] if names else "",
        cases=len(cases),
        scenarios=frozenset(key for case in cases for line in case for key in SCENARIO_COMMENT.findall(line)),
    )


def _scalar(text: str) -> str:
    return text.strip().strip("\"'")
