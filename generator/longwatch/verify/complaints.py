"""Reads what promtool prints about rules and tests, on every version from 2.42."""

from __future__ import annotations

import re

import msgspec

from longwatch.verify.cases import SCENARIO_COMMENT

_VERDICT = re.compile(r"^  (SUCCESS|FAILED)\b.*$")
_WARNING = re.compile(r"^  WARNING: ")
_HEADER = re.compile(r"^Unit Testing: ")
_CHECKING = re.compile(r"^Checking (.+)$")
_RULES_FOUND = re.compile(r"SUCCESS: (\d+) rules? found")
_HEAD = re.compile(r"^    (?:name: |alertname: |expr: |rule: )|^\S")
_CASE = re.compile(
    r"(?:name: (?P<name>.*?),\s+)?"
    r'(?:alertname: (?P<alert>\w+)|expr: "(?P<expr>(?:[^"\\]|\\.)*)"), time: (?P<time>\w+),'
    r"(?:\s*exp: ?(?P<expected>.*?),?\s*got: ?(?P<got>.*)|\s*(?P<error>.*))$",
    re.DOTALL,
)
_NAMED_RULE = re.compile(r'rule \d+, "(?P<read>[^"]+)"|\brule: (?P<evaluated>[^,\s]+), time:')
_LONGEST = 600  # characters; a whole fleet of unexpected alerts helps nobody


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What promtool said about one file."""

    passed: bool
    warnings: tuple[str, ...] = ()
    complaints: tuple[str, ...] = ()
    rules: int = 0


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One assertion that failed."""

    scenario: str
    """From the expression's comment; empty when there is none."""
    group: str
    """The test group's name; empty when promtool did not print it."""
    message: str


def test_reports(output: str) -> list[Report]:
    """One report for each file of `promtool test rules`, in the order of the arguments.

    Since 2.55 promtool names no files: only the order of the answers, with stderr merged into stdout, tells which is
    which.
    """
    reports: list[Report] = []
    warnings: list[str] = []
    lines: list[str] | None = None
    passed = False

    def finish() -> None:
        if lines is not None:
            reports.append(Report(passed=passed, warnings=tuple(warnings), complaints=_blocks(lines)))
            warnings.clear()

    for line in output.splitlines():
        if match := _VERDICT.match(line):
            finish()
            lines, passed = [], match[1] == "SUCCESS"
        elif _WARNING.match(line) or _HEADER.match(line):
            finish()
            lines = None
            if _WARNING.match(line):
                warnings.append(line.strip().removeprefix("WARNING: "))
        elif lines is not None:
            lines.append(line)
    finish()
    return reports


def rule_reports(output: str) -> dict[str, Report]:
    """Path → report, from `promtool check rules` with stderr merged into stdout."""
    reports: dict[str, Report] = {}
    path, lines = "", list[str]()
    for line in (*output.splitlines(), "Checking end"):
        if match := _CHECKING.match(line):
            if path:
                text = "\n".join(lines)
                found = _RULES_FOUND.search(text)
                reports[path] = Report(
                    passed=found is not None and "  FAILED:" not in lines,
                    complaints=_rule_complaints(path, lines),
                    rules=int(found[1]) if found else 0,
                )
            path, lines = match[1], []
        else:
            lines.append(line)
    return reports


def case(complaint: str) -> Case | None:
    """The failed assertion in a complaint; None when the complaint is about something else."""
    match = _CASE.match(complaint)
    if match is None:
        return None
    expr = match["expr"] or ""
    key = SCENARIO_COMMENT.search(expr)
    what = match["alert"] or _unquote(expr)
    if match["error"]:
        outcome = match["error"].removeprefix("err: ")
    else:
        outcome = f"expected {_flat(match['expected'])}, got {_flat(match['got'])}"
    return Case(
        scenario=key[1] if key else "", group=match["name"] or "", message=f"{what} at {match['time']}: {outcome}"
    )


def named_rule(complaint: str) -> str:
    """The alert or recording rule that a complaint is about; empty when it names none."""
    match = _NAMED_RULE.search(complaint)
    return (match["read"] or match["evaluated"]) if match else ""


def _blocks(lines: list[str]) -> tuple[str, ...]:
    """Complaints are set apart by blank lines; a block without a known beginning belongs to the one above."""
    out: list[str] = []
    for block in re.split(r"\n\s*\n", "\n".join(lines)):
        if not block.strip():
            continue
        if out and not _HEAD.match(block.lstrip("\n")):
            out[-1] += "\n" + block
        else:
            out.append(block)
    return tuple(block.strip() for block in out)


def _rule_complaints(path: str, lines: list[str]) -> tuple[str, ...]:
    """A complaint begins with the file's path; lines that do not belong to the one above (lint prints several)."""
    out: list[str] = []
    for line in lines:
        if out and line.strip() and not line.startswith(f"{path}:"):
            out[-1] += " " + line.strip()
        elif line.strip() and not _VERDICT.match(line):
            out.append(line.strip())
    return tuple(out)


def _unquote(expr: str) -> str:
    """An expression as it was written, on one line, without the comment that names the scenario."""
    text = expr.replace("\\n", "\n").replace("\\t", " ").replace('\\"', '"').replace("\\\\", "\\")
    return _shorten(" ".join(SCENARIO_COMMENT.sub("", text).split()), 200)


def _flat(answer: str) -> str:
    """promtool's several lines for an answer, as one."""
    text = re.sub(r"\[\s*\]", "nothing", " ".join(answer.split()))
    text = re.sub(r"\b\d+: Labels:", "", text).replace(" Annotations:", " ")
    text = re.sub(r"^nil$", "nothing", text.strip())
    return _shorten(text, _LONGEST)


def _shorten(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}… ({len(text) - longest} more characters)"
