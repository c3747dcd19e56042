"""A Grafana Alloy pipeline that brings training logs to Loki.

## What it writes
`alloy/longwatch.alloy`, for Alloy 1.9 and later, one for all machines. `LONGWATCH_CLUSTER` in Alloy's environment names
the cluster of lines that do not name it themselves.

## What happens to a line
Tracebacks and other lines that are not JSON are joined. The organisation's masks are applied before anything is read.
Then the fields are read, the time is taken from `timestamp`, and the level is brought to one of the declared levels.
A line that breaks the log schema is kept, marked `schema="violated"` in its structured metadata and counted in
`longwatch_log_schema_violations_total`; one whose time cannot be read keeps the time of arrival (`clock="arrival"`).
Debug lines are sampled after they were counted.

## Labels
Only bounded ones. Runs, ranks, steps, traces and file names are structured metadata: as labels, each would open a
stream of its own and Loki would refuse the tenant's logs.

## What can be lost
Lines that Loki cannot take for about an hour, and what Loki refuses (other than 429): see
`loki_write_dropped_entries_total`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

from longwatch.artifact import Artifact
from longwatch.ir.model import LogSchema, Shared, Summary
from longwatch.plugins.back import Emitter
from longwatch.render import text
from longwatch.units import number

_TARGET = "alloy"

UNBOUNDED = frozenset(
    {
        "attempt", "checkpoint_id", "code_revision", "config_hash", "dataset_version", "exception", "filename",
        "message", "rank", "run_id", "span_id", "step", "timestamp", "trace_id",
    }
)  # fmt: skip
"""Never a label, whatever a policy says."""

# Where an entry that is not JSON begins. All else is joined to what stands before: RE2 cannot say "not an exception's
# last line", so the beginnings are listed.
FIRST_LINE = (
    r"^(\[[^\]]*\]:? ?)?("
    r"Traceback \(most recent call last\)"  # also behind [rank0]:
    r"|\[?\d{4}-\d{2}-\d{2}[ T]"  # dates
    r"|\[?[IWEF]\d{3,4} "  # glog and absl, PyTorch's C++ side
    r"|\S+:\d+:\d+ \[\d+\] NCCL "
    r"|(kernel: )?NVRM: |nvidia-\w+: SXid|INFO: task "
    r"| ?iteration +\d+/"  # Megatron
    r"|Watchdog |terminate called|Fatal Python error|srun: |slurmstepd: "
    r"|(DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|FATAL)\b)"
)

_TIME = r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$"
_XID = r"NVRM: Xid \(PCI:(?P<pci>[0-9a-fA-F:.]+)\): (?P<xid>\d+)"
_LEVELS = (
    ("trace", "debug", "verbose"),
    ("notice", "info", "information"),
    ("warn", "warning"),
    ("err", "error"),
    ("critical", "crit", "fatal", "panic", "emerg", "alert"),
)
"""Words that loggers use for the same level."""


def quoted(value: str) -> str:
    """`value` as an Alloy string; raw where escapes would make a regular expression unreadable."""
    raw = ("\\" in value or '"' in value) and "`" not in value and "\n" not in value
    return f"`{value}`" if raw else json.dumps(value, ensure_ascii=False)


def masking(pattern: str) -> str:
    """`pattern` with a capture group: Alloy replaces groups only, so that one without would mask nothing."""
    try:
        return pattern if re.compile(pattern).groups else f"({pattern})"
    except re.error:  # RE2 that Python cannot read; the policy's check has seen its group
        return pattern


def _words(values: Iterable[str]) -> str:
    return " ".join(json.dumps(value) for value in values)


def _level(levels: Sequence[str]) -> str:
    """A Go template: the declared level that the line's word stands for, else unknown."""
    cases = [f"{{{{ if eq $l {_words(levels)} }}}}{{{{ $l }}}}"] if levels else ["{{ if false }}"]
    for group in _LEVELS:
        target = next((level for level in levels if level in group), "")
        others = [word for word in group if word not in levels]
        if target and others:
            cases.append(f"{{{{ else if eq $l {_words(others)} }}}}{target}")
    if "error" in levels:
        cases.append('{{ else if regexMatch "Traceback \\\\(most recent call last\\\\)" .Entry }}error')
    return '{{ $l := ToLower (or .Value "") }}' + "".join(cases) + "{{ else }}unknown{{ end }}"


def _schema(logs: LogSchema, families: Sequence[str]) -> str:
    """A Go template: nothing for a line that carries every mandatory field with an allowed value, else `violated`."""
    demands = [f".{field}" for field in logs.required]
    if "timestamp" in logs.required:
        demands.append(f"(regexMatch `{_TIME}` .timestamp)".replace("`", '"').replace("\\", "\\\\"))
    if "level" in logs.required:
        demands.append('(ne .level "unknown")')
    if "stage" in logs.required and logs.stages:
        demands.append(f"(eq .stage {_words(logs.stages)})")
    if "model_family" in logs.required and families:
        demands.append(f"(eq .model_family {_words(families)})")
    return f"{{{{ if and true {' '.join(demands)} }}}}{{{{ else }}}}violated{{{{ end }}}}"


def _bounded(field: str, allowed: Sequence[str]) -> dict[str, str]:
    known = f'{{{{ if eq (or .Value "") {_words(allowed)} }}}}{{{{ .Value }}}}{{{{ else }}}}unknown{{{{ end }}}}'
    return {"source": quoted(field), "template": quoted(known)}


def _fallbacks(logs: LogSchema, families: Sequence[str]) -> list[dict[str, str]]:
    """What keeps labels bounded: a stage or family that nobody declared is `unknown`."""
    filled = []
    if "cluster" in logs.labels:
        filled.append({"source": quoted("cluster"), "template": quoted("{{ or .cluster .host_cluster }}")})
    for field, allowed in (("stage", logs.stages), ("model_family", families)):
        if field in logs.labels and allowed:
            filled.append(_bounded(field, allowed))
    return filled


def _sampled(logs: LogSchema) -> dict[str, str] | None:
    if logs.debug_sample >= 1 or "debug" not in logs.levels or "level" not in logs.labels:
        return None
    rate = number(max(logs.debug_sample, 0.0))
    kept = "No debug line is kept." if rate == "0" else f"Of debug lines, {number(logs.debug_sample * 100)} % are kept."
    return {"rate": rate, "selector": quoted('{level="debug"}'), "comment": kept}


def _table(names: Iterable[str]) -> list[str]:
    """Entries of a map that takes each name from the field of that name, aligned as `alloy fmt` aligns them."""
    keys = [(name, name if re.fullmatch(r"[A-Za-z_]\w*", name) else json.dumps(name)) for name in names]
    width = max((len(key) for _, key in keys), default=0)
    # An empty value means the key; other names must be quoted for JMESPath too.
    values = ('""' if key == name else quoted(json.dumps(name)) for name, key in keys)
    return [f"{key:{width}} = {value}" for (_, key), value in zip(keys, values, strict=True)]


def _fleet(summaries: tuple[Summary, ...], shared: Shared) -> tuple[Artifact, ...]:
    logs = shared.logs
    families = sorted(summary.name for summary in summaries if summary.kind == "family")
    labels = [label for label in logs.labels if label not in UNBOUNDED]
    own = [*logs.structured_metadata, *(label for label in logs.labels if label in UNBOUNDED)]
    metadata = [name for name in dict.fromkeys([*own, "node", "filename", "schema", "clock"]) if name not in labels]
    fields = dict.fromkeys(["timestamp", "level", *logs.required, *own, *labels])
    header = f"Generated by Longwatch from {', '.join(shared.sources)}: do not edit."
    body = text.render(
        "alloy/longwatch.alloy",
        header=(header,),
        organisation=quoted(shared.name),
        paths=[quoted(path) for path in logs.paths],
        not_json=quoted(r'{node=~".+"} !~ "^\\s*\\{"'),
        firstline=quoted(FIRST_LINE),
        masks=[{"name": name, "expression": quoted(masking(pattern))} for name, pattern in logs.masks],
        fields=_table(fields),
        clock=quoted(
            '{{ if and .timestamp (regexMatch "' + _TIME.replace("\\", "\\\\") + '" .timestamp) }}'
            "{{ else }}arrival{{ end }}"
        ),
        level=quoted(_level(logs.levels)),
        schema=quoted(_schema(logs, families)),
        fallbacks=_fallbacks(logs, families),
        labels=labels,
        label_table=_table(labels),
        metadata=_table(metadata),
        sampled=_sampled(logs),
        xid=quoted(_XID),
        push_url=quoted(logs.push_url),
    )
    sources = tuple(dict.fromkeys([*shared.sources, *(s for summary in summaries for s in summary.sources)]))
    path = f"{_TARGET}/longwatch.alloy"
    return (Artifact(path=path, text=body, target=_TARGET, sources=sources, subject=shared.name),)


EMITTER = Emitter(title="Grafana Alloy log pipeline", fleet=_fleet)
