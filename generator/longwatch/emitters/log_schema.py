"""The contract of one log line, as JSON Schema (2020-12).

## What it writes
`logs/schema.json`, for the whole organisation. Training code is tested against it, `longwatch logs` checks files with
it, and the log pipeline marks the lines that break its mandatory part.

## What a line must say
When (RFC 3339 with a zone), how bad (one of the declared levels), what, in which run of which family on which cluster,
in which stage, attempt and rank. A run's name must match its family's pattern: dashboards and alerts find it by that
name.

## What a line may say
Anything more. The names for steps, traces, checkpoints, lineage, hyperparameters and exceptions are reserved: they mean
the same thing, with the same type, in every family.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from longwatch.artifact import Artifact
from longwatch.ir.model import LogSchema, Shared, Summary
from longwatch.plugins.back import Emitter
from longwatch.render import json

_TARGET = "log_schema"

_TIME = (
    "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)"
    r"(\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"
)
_COUNT = {"type": "integer", "minimum": 0}
_NAME = {"type": "string", "minLength": 1, "maxLength": 256}


def _identifier(digits: int, what: str) -> dict[str, Any]:
    """W3C trace context: lower-case hexadecimal, and not all zeros, which means that there is none."""
    return {
        "type": "string",
        "pattern": f"^[0-9a-f]{{{digits}}}$",
        "not": {"const": "0" * digits},
        "description": f"{what}, {digits} hexadecimal digits in lower case (W3C Trace Context).",
    }


_RESERVED: Mapping[str, Mapping[str, Any]] = {
    "timestamp": {
        "type": "string",
        "format": "date-time",
        "pattern": _TIME,
        "description": "When it happened: RFC 3339 with a zone.",
        "examples": ["2026-12-01T09:30:00.123456Z", "2026-12-01T10:30:00+01:00"],
    },
    "message": {"type": "string", "minLength": 1, "description": "What happened, for people. No secrets."},
    "run_id": {**_NAME, "description": "The run. It keeps its name over restarts."},
    "cluster": {**_NAME, "description": "The cluster, as its metrics name it."},
    "attempt": {**_COUNT, "description": "How often the run was started before: 0 at first, one more per restart."},
    "rank": {**_COUNT, "description": "The global rank that writes; 0 for a line about the whole run."},
    "step": {**_COUNT, "description": "The optimiser step."},
    "trace_id": _identifier(32, "The trace that the line belongs to"),
    "span_id": _identifier(16, "The span inside the trace"),
    "checkpoint_id": {**_NAME, "description": "The checkpoint that is written or read."},
    "parent_checkpoint_id": {**_NAME, "description": "The checkpoint from which this attempt started."},
    "dataset_version": {**_NAME, "description": "The version of the data that is read."},
    "config_hash": {
        "type": "string",
        "pattern": "^([a-z0-9]+:)?[0-9a-f]{7,128}$",
        "description": "Hash of the resolved configuration, with or without the name of its algorithm.",
        "examples": ["sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"],
    },
    "code_revision": {**_NAME, "description": "The revision of the training code.", "examples": ["9f2c1ab"]},
    "hyperparameters": {"type": "object", "description": "What was chosen, once at the start of an attempt."},
    "exception": {
        "type": "object",
        "required": ["type", "message"],
        "properties": {
            "type": {"type": "string", "minLength": 1},
            "message": {"type": "string"},
            "stacktrace": {"type": "string", "description": "All of it in this one field, line ends as \\n."},
        },
        "description": "An error, whole in one line: the pipeline need not join anything.",
    },
}


def _properties(logs: LogSchema, families: Sequence[Summary]) -> dict[str, Any]:
    chosen: dict[str, Any] = {
        **_RESERVED,
        "level": {"type": "string", "enum": list(logs.levels), "description": "How bad it is."},
        "stage": {"type": "string", "enum": list(logs.stages), "description": "What the run is doing."},
        "model_family": {**_NAME, "description": "The model family, as its policy names it."},
    }
    if families:
        chosen["model_family"]["enum"] = [family.name for family in families]
    for name in (*logs.required, *logs.labels):
        chosen.setdefault(name, {**_NAME})
    return chosen


def anchored(pattern: str) -> str:
    """RE2 that must match a whole name → a JSON Schema pattern, which is searched for and written in ECMA's dialect."""
    whole = pattern.startswith("^") and pattern.endswith("$") and "|" not in pattern
    return (pattern if whole else f"^(?:{pattern})$").replace("(?P<", "(?<")


def _run_names(families: Sequence[Summary]) -> list[dict[str, Any]]:
    return [
        {
            "if": {"properties": {"model_family": {"const": family.name}}, "required": ["model_family"]},
            "then": {"properties": {"run_id": {"pattern": anchored(family.name_pattern)}}},
        }
        for family in families
        if family.name_pattern
    ]


def _example(logs: LogSchema, families: Sequence[Summary]) -> list[dict[str, Any]]:
    """One line, where a run's name that its family accepts can be guessed."""
    for family in families:
        first = family.name.split("-")[0]
        for name in (f"{family.name}-1", f"{first}-1", f"{first}-7b-a", f"{family.name}-7b-a", f"{first}-a"):
            try:
                accepted = not family.name_pattern or bool(re.search(family.name_pattern, name))
            except re.error:  # RE2 that Python cannot read
                accepted = False
            if accepted:
                return [_line(logs, family.name, name)]
    return []


def _line(logs: LogSchema, family: str, run: str) -> dict[str, Any]:
    known = {
        "timestamp": "2026-12-01T09:30:00.123456Z",
        "level": "info" if "info" in logs.levels else logs.levels[0],
        "message": "step 1200 ended",
        "run_id": run,
        "model_family": family,
        "cluster": "example",
        "stage": "training" if "training" in logs.stages else logs.stages[0],
        "attempt": 0,
        "rank": 0,
    }
    more = {"step": 1200, "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736", "span_id": "00f067aa0ba902b7"}
    return {**{name: known.get(name, "example") for name in logs.required}, **more}


def _schema(summaries: Sequence[Summary], shared: Shared) -> dict[str, Any]:
    logs = shared.logs
    families = sorted((s for s in summaries if s.kind == "family"), key=lambda family: family.name)
    schema: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:longwatch:{shared.name}:log-line",
        "$comment": f"Generated by Longwatch from {', '.join(shared.sources)} and the families' policies: do not edit.",
        "title": f"A log line of a training run of {shared.name}",
        "type": "object",
        "required": list(logs.required),
        "properties": _properties(logs, families),
        "dependentRequired": {"span_id": ["trace_id"]},
        "additionalProperties": True,
    }
    if names := _run_names(families):
        schema["allOf"] = names
    if example := _example(logs, families):
        schema["examples"] = example
    return schema


def _fleet(summaries: tuple[Summary, ...], shared: Shared) -> tuple[Artifact, ...]:
    families = [source for summary in summaries if summary.kind == "family" for source in summary.sources]
    return (
        Artifact(
            path="logs/schema.json",
            text=json.dump(_schema(summaries, shared)),
            target=_TARGET,
            sources=tuple(dict.fromkeys([*shared.sources, *families])),
            subject=shared.name,
        ),
    )


EMITTER = Emitter(title="JSON Schema of a log line", fleet=_fleet)
