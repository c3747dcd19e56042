"""promtool on rule files and on the tests beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from longwatch.artifact import Artifact
from longwatch.diagnostics import Diagnostic, Origin, Severity
from longwatch.tools.process import Command, Finished
from longwatch.tools.toolbox import Tool, broken
from longwatch.verify.cases import read, scenarios, silent_passes
from longwatch.verify.complaints import Report, case, named_rule, rule_reports, test_reports
from longwatch.verify.verdict import SCENARIO, Failure, FileVerdict

_MOST_FILES = 16  # per process: start-up costs up to 0.4 s (3.x), but one slow chunk must not hold up the rest


def check_rules(tool: Tool, rules: Sequence[Artifact], folder: Path, environment: Mapping[str, str]) -> Command:
    """One process for all rule files: they load in milliseconds."""
    return Command(
        argv=(tool.path, "check", "rules", *(str(folder / rule.path) for rule in rules)),
        environment=environment,
        timeout=60 + len(rules),
        merged=True,
        label="rules",
    )


def test_rules(
    tool: Tool, tests: Sequence[Artifact], folder: Path, environment: Mapping[str, str], timeout: float
) -> Command:
    """One process for these test files; `timeout` is the seconds that each may take."""
    return Command(
        argv=(tool.path, "test", "rules", *(str(folder / test.path) for test in tests)),
        environment=environment,
        timeout=timeout * len(tests),
        merged=True,
        label=", ".join(dict.fromkeys(test.subject or test.path for test in tests)),
    )


def chunks(tests: Sequence[Artifact], jobs: int) -> list[list[Artifact]]:
    """Test files shared out over processes, several for each core; the longest files start first."""
    size = max(1, min(_MOST_FILES, len(tests) // (4 * max(1, jobs))))
    ordered = sorted(tests, key=lambda test: (-len(test.text), test.path))
    return [list(ordered[start : start + size]) for start in range(0, len(ordered), size)]


def judge_rules(tool: Tool, rules: Sequence[Artifact], folder: Path, finished: Finished) -> list[FileVerdict]:
    """A verdict for each rule file."""
    if stopped := broken(tool, finished):
        return [_verdict(rule, diagnostics=(stopped,)) for rule in rules]
    reports = rule_reports(finished.stdout.replace(f"{folder}/", ""))
    origins = _origins(rules)
    return [_judge_rule_file(tool, rule, reports.get(rule.path), origins, finished) for rule in rules]


def judge_tests(
    tool: Tool, tests: Sequence[Artifact], rules: Sequence[Artifact], folder: Path, finished: Finished
) -> list[FileVerdict] | None:
    """A verdict for each test file; None when the answers cannot be told apart, and each file needs a process."""
    stopped = broken(tool, finished)
    reports = test_reports(finished.stdout.replace(f"{folder}/", ""))
    clear = len(reports) == len(tests) and (finished.returncode == 0) == all(report.passed for report in reports)
    if stopped or not clear:
        if len(tests) > 1:
            return None
        diagnostic = stopped or _unclear(tool, tests[0].path, finished)
        return [_verdict(tests[0], diagnostics=(diagnostic,))]
    origins = _origins(rules)
    return [_judge_test(test, rules, report, origins) for test, report in zip(tests, reports, strict=True)]


def _judge_rule_file(
    tool: Tool, rule: Artifact, report: Report | None, origins: Mapping[str, Mapping[str, Origin]], finished: Finished
) -> FileVerdict:
    if report is None or (not report.passed and not report.complaints):
        return _verdict(rule, diagnostics=(_unclear(tool, rule.path, finished),))
    found = [_rule_diagnostic(complaint, origins) for complaint in report.complaints]
    if report.passed and not report.rules:
        found.append(
            Diagnostic(code="rules-not-found", message=f"{rule.path} holds no rules", why="nothing would fire")
        )
    return _verdict(rule, rules=report.rules, diagnostics=tuple(found))


def _judge_test(
    test: Artifact, rules: Sequence[Artifact], report: Report, origins: Mapping[str, Mapping[str, Origin]]
) -> FileVerdict:
    keys = scenarios(test)
    messages: dict[str, list[str]] = {}
    found = [*silent_passes(test, rules)]
    found += [Diagnostic(code="test-warning", message=f"{test.path}: {warning}") for warning in report.warnings]
    for complaint in report.complaints:
        failed = case(complaint)
        if failed is None:
            found.append(_rule_diagnostic(complaint, origins, test=test))
            continue
        inside = next((key for key in keys if f'"{key}"' in complaint), "")  # as a label's value
        scenario = failed.scenario or inside or failed.group or test.path
        messages.setdefault(scenario, []).append(failed.message)
    if not report.passed and not report.complaints:
        found.append(Diagnostic(code="test-invalid", message=f"{test.path}: promtool failed it without a word"))
    failures = tuple(
        Failure(scenario=key, message="\n".join(texts), origin=test.origins.get(SCENARIO + key))
        for key, texts in messages.items()
    )
    # A complaint about a rule, or about a scenario that we do not know, leaves open which scenarios ran.
    doubtful = any(d.severity is Severity.ERROR for d in found) or not messages.keys() <= set(keys)
    proved = () if doubtful else tuple(key for key in keys if key not in messages)
    return _verdict(
        test, cases=read(test.text).cases, proved=proved, failures=failures, diagnostics=tuple(dict.fromkeys(found))
    )


def _origins(rules: Sequence[Artifact]) -> dict[str, Mapping[str, Origin]]:
    """Each rule file's origins and those of its family: a copy that only tests read brings none of its own."""
    of: dict[str, dict[str, Origin]] = {}
    for rule in rules:
        of.setdefault(rule.subject or rule.path, {}).update(rule.origins)
    return {rule.path: {**of[rule.subject or rule.path], **rule.origins} for rule in rules}


def _rule_diagnostic(
    complaint: str, origins: Mapping[str, Mapping[str, Origin]], test: Artifact | None = None
) -> Diagnostic:
    """A complaint at the policy's line: promtool names the rule, and mostly the file that holds it."""
    name = named_rule(complaint)
    path = next((path for path in origins if complaint.startswith(f"{path}:")), "")
    places = [origins[path]] if path else list(origins.values())
    keys = (f"alert/{name}", f"record/{name}")
    origin = next((place[key] for place in places for key in keys if key in place), None)
    evaluated = complaint.startswith("rule: ")
    code = "rule-evaluation-failed" if evaluated else "rule-invalid" if name or test is None else "test-invalid"
    where = "" if path or test is None else f"{test.path}: "
    why = "an error while a rule is evaluated ends the test, whichever alert it is about" if evaluated else ""
    return Diagnostic(code=code, message=f"{where}{' '.join(complaint.split())}", why=why, origin=origin)


def _unclear(tool: Tool, path: str, finished: Finished) -> Diagnostic:
    said = " ".join((finished.stdout + finished.stderr).split())[-400:]
    return Diagnostic(
        code="tool-unclear",
        message=f"{tool.name} {tool.release} did not say whether {path} is right (exit {finished.returncode}): {said}",
        help="longwatch is tested with promtool 2.42 to 3.5; please report this answer",
    )


def _verdict(
    artifact: Artifact,
    *,
    rules: int = 0,
    cases: int = 0,
    proved: tuple[str, ...] = (),
    failures: tuple[Failure, ...] = (),
    diagnostics: tuple[Diagnostic, ...] = (),
) -> FileVerdict:
    return FileVerdict(
        path=artifact.path,
        target=artifact.target,
        subject=artifact.subject,
        rules=rules,
        cases=cases,
        proved=proved,
        failures=failures,
        diagnostics=diagnostics,
    )
