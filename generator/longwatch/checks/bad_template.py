"""A text that Prometheus could not render, or would render with a hole.

What: `summary`, `remediation`, `causes` or `runbook` with `{{ }}` that are not balanced, an unknown function or
variable, or `$labels.x` of a label that the alert does not have.
Why: a notification would show an error, or an empty place, at three in the morning.
What to do: use the labels of the alert (for runs the family's identity), `$value`, and the functions of Prometheus'
template reference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from longwatch.diagnostics import Diagnostic, Origin
from longwatch.plugins.front import Check
from longwatch.policy.model import AlertSetting, Cluster, Family, Policy
from longwatch.promql.parse import Expression, parse
from longwatch.suggest import closest

_PROMETHEUS = (
    "args", "externalURL", "first", "graphLink", "humanize", "humanize1024", "humanizeDuration", "humanizePercentage",
    "humanizeTimestamp", "label", "match", "now", "parseDuration", "pathPrefix", "query", "reReplaceAll", "safeHtml",
    "sortByLabel", "stripDomain", "stripPort", "strvalue", "tableLink", "title", "tmpl", "toDuration", "toLower",
    "toTime", "toUpper", "urlQueryEscape", "value",
)  # fmt: skip
_GO = (
    "and", "call", "eq", "ge", "gt", "html", "index", "js", "le", "len", "lt", "ne", "not", "or", "print", "printf",
    "println", "slice", "urlquery",
)  # fmt: skip
_WORDS = (
    "block", "break", "continue", "define", "else", "end", "false", "if", "nil", "range", "template", "true", "with",
)  # fmt: skip
_VARIABLES = ("labels", "value", "externalLabels", "externalURL")
_OF_MACHINES = ("cluster", "node", "gpu", "mountpoint", "code", "run_id", "model_family", "run_owner")

_ACTION = re.compile(r"\{\{-?(.*?)-?\}\}", re.DOTALL)
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"|`[^`]*`|/\*.*?\*/', re.DOTALL)
_LABEL = re.compile(r"\$labels\.([A-Za-z_]\w*)")
_VARIABLE = re.compile(r"\$([A-Za-z_]\w*)")
_FUNCTION = re.compile(r"(?<![.$\w])[A-Za-z_]\w*")


def run(policy: Policy) -> tuple[Diagnostic, ...]:
    found = (p for s in policy.subjects for setting in s.settings for p in _problems(s, setting))
    return tuple(dict.fromkeys(found))


def _problems(subject: Family | Cluster, setting: AlertSetting) -> Iterator[Diagnostic]:
    for key, text in _texts(setting).items():
        if "{{" in text or "}}" in text:
            for message, remedy in _faults(subject, setting, text):
                yield _problem(f"{setting.name}: `{key.split('.')[0]}` {message}", remedy, _place(setting, key))


def _texts(setting: AlertSetting) -> Mapping[str, str]:
    parameters = setting.parameters
    named = {key: getattr(parameters, key) or "" for key in ("summary", "remediation", "runbook")}
    return {**named, **{f"causes.{index}": text for index, text in enumerate(parameters.causes or ())}}


def _place(setting: AlertSetting, key: str) -> Origin:
    name, _, index = key.partition(".")
    place = setting.place(name)
    return place.at(int(index)) if index and setting.written(name) else place


def _faults(subject: Family | Cluster, setting: AlertSetting, text: str) -> Iterator[tuple[str, str]]:
    outside = _ACTION.sub("", text)
    if "{{" in outside or "}}" in outside:
        yield "has braces that do not match", "close each {{ with }}"
        return
    declared = {
        name for action in _ACTION.findall(text) for name in re.findall(r"\$(\w+)(?:\s*,\s*\$\w+)?\s*:=", action)
    }
    depth = 0
    for action in _ACTION.findall(text):
        code = _TEXT.sub('""', action)
        words = _FUNCTION.findall(code)
        depth += sum(word in ("if", "range", "with", "define", "block") for word in words[:1])
        depth -= words[:1] == ["end"]
        for label in _LABEL.findall(code):
            known = _labels(subject, setting)
            if known is not None and label not in known:
                near = closest(label, known)
                yield (
                    f"reads the label {label}, which the alert does not have",
                    f'did you mean "{near}"?' if near else f"its labels: {', '.join(known)}",
                )
        for name in _VARIABLE.findall(code):
            if name not in _VARIABLES and name not in declared:
                yield f"reads ${name}, which does not exist", f"use one of {', '.join(f'${v}' for v in _VARIABLES)}"
        for name in words:
            if name not in (*_PROMETHEUS, *_GO, *_WORDS):
                near = closest(name, (*_PROMETHEUS, *_GO))
                yield (
                    f"calls {name}, which is no function of Prometheus' templates",
                    f'did you mean "{near}"?' if near else "such as humanizeDuration, humanizePercentage or printf",
                )
    if depth:
        yield "has an if, range or with without its end", "add {{ end }}"


def _labels(subject: Family | Cluster, setting: AlertSetting) -> tuple[str, ...] | None:
    """Labels that the alert can have; None when an expression keeps whatever its series have."""
    expression = getattr(setting.parameters, "expr", None)
    if expression is not None:
        parsed = parse(expression.strip())
        known = parsed.labels.only if isinstance(parsed, Expression) else None
        return tuple(sorted(known)) if known is not None else None
    if not isinstance(subject, Family):
        return _OF_MACHINES
    select = tuple(subject.document.runs.select) if setting.detector == "identity_missing" else ()
    return (*subject.identity, "variant", "model_family", *select)


def _problem(message: str, remedy: str, place: Origin) -> Diagnostic:
    return Diagnostic(
        code="bad-template",
        message=message,
        why="the notification would show an error or a hole",
        help=remedy,
        origin=place,
    )


CHECK = Check(run=run)
