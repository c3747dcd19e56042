"""The Alloy pipeline: its structure, and its regular expressions on real log lines."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from longwatch.diagnostics import Origin
from longwatch.emitters.alloy import EMITTER, FIRST_LINE, UNBOUNDED, masking, quoted
from longwatch.ir.model import LogSchema, Shared, Summary

HERE = Origin(file="policies/organisation.yaml")
LINES = Path(__file__).parent.parent / "data" / "loglines.tsv"
LOGS = LogSchema(
    required=("timestamp", "level", "message", "run_id", "model_family", "cluster", "stage", "attempt", "rank"),
    levels=("debug", "info", "warning", "error", "critical"),
    stages=("data_ingestion", "preprocessing", "initialisation", "training", "validation", "checkpoint"),
    labels=("cluster", "model_family", "level", "stage"),
    structured_metadata=("run_id", "rank", "step", "attempt", "trace_id", "span_id", "checkpoint_id"),
    masks=(
        ("password", r'(?i)"password"\s*:\s*"([^"]*)"'),
        ("hugging-face-token", r"hf_[A-Za-z0-9]{8,}"),
        ("backtick", "`([^`]+)`"),
    ),
    debug_sample=0.1,
    paths=("/var/log/training/*.log", "/scratch/*/logs/*.jsonl"),
    push_url="https://loki.example.org/loki/api/v1/push",
    retention=2592000,
)
SHARED = Shared(
    name="acme",
    teams=(),
    receivers=(),
    severities=(),
    mute_times=(),
    default_receiver="x",
    runbook_url="https://runbooks",
    grafana_url="https://grafana",
    prometheus_datasource="prometheus",
    loki_datasource="loki",
    logs=LOGS,
    sources=("policies/organisation.yaml",),
    origin=HERE,
)


def summary(name: str) -> Summary:
    return Summary(
        name=name,
        kind="family",
        title=name,
        owner="models",
        stage="page",
        sources=(f"policies/families/{name}.yaml",),
        identity=("cluster", "run_id"),
        name_pattern="",
        selector={},
        alerts=(),
        inhibitions=(),
    )


def emitted(**changes: Any) -> str:
    assert EMITTER.fleet is not None
    shared = msgspec.structs.replace(SHARED, logs=msgspec.structs.replace(LOGS, **changes))
    (artifact,) = EMITTER.fleet((summary("llm"), summary("vision")), shared)
    assert artifact.path == "alloy/longwatch.alloy" and artifact.target == "alloy"
    return artifact.text


# --- a reader of just the Alloy that we write: blocks, and attributes that each start their own line ----------------

Block = tuple[str, str, dict[str, str], list[Any]]
_OPEN = re.compile(r'^([a-z_.]+)(?: "([A-Za-z_]\w*)")? \{$')
_ATTRIBUTE = re.compile(r"^([A-Za-z_]\w*)\s+= (.+)$")


def read(text: str) -> list[Block]:
    """Raises AssertionError on anything that Alloy's own parser would refuse in such a file."""
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line and not line.startswith("//")]
    stack: list[Block] = [("", "", {}, [])]
    position = 0
    while position < len(lines):
        line = lines[position]
        position += 1
        if opened := _OPEN.match(line):
            block: Block = (opened[1], opened[2] or "", {}, [])
            stack[-1][3].append(block)
            stack.append(block)
        elif line == "}":
            stack.pop()
            assert stack, "a block is closed that was never opened"
        else:
            attribute = _ATTRIBUTE.match(line)
            assert attribute, f"neither a block nor one attribute: {line}"
            name, value = attribute[1], attribute[2].split(" // ")[0]
            while _depth(value):
                value += "\n" + lines[position]
                position += 1
            assert name not in stack[-1][2], f"{name} is set twice"
            _one_value(value)
            stack[-1][2][name] = value
    assert len(stack) == 1, "a block stays open"
    return stack[0][3]


def _plain(value: str) -> str:
    """`value` without the inside of its strings."""
    return re.sub(r'`[^`]*`|"(\\.|[^"\\])*"', '""', value)


def _depth(value: str) -> int:
    plain = _plain(value)
    return sum(plain.count(c) for c in "{[(") - sum(plain.count(c) for c in "}])")


def _one_value(value: str) -> None:
    assert not re.search(r'""\s+\w+\s*=(?!=)', _plain(value).split("\n")[0]), f"two attributes on one line: {value}"
    assert value.count("`") % 2 == 0 or '"' in value


def text_of(value: str) -> str:
    return value[1:-1] if value.startswith("`") else str(json.loads(value))


def component(blocks: list[Block], name: str, label: str) -> Block:
    return next(block for block in blocks if block[:2] == (name, label))


def stages(blocks: list[Block], name: str) -> list[Block]:
    return [block for block in component(blocks, "loki.process", "training")[3] if block[0] == name]


# --- structure ----------------------------------------------------------------------------------------------------


def test_it_names_its_source_and_is_the_same_twice() -> None:
    assert emitted() == emitted()
    assert emitted().startswith("// Generated by Longwatch from policies/organisation.yaml: do not edit.\n")


def test_every_line_leads_to_a_component_that_exists() -> None:
    blocks = read(emitted())
    there = {f"{name}.{label}" for name, label, _, _ in blocks}
    targets = [
        target for _, _, attributes, _ in blocks for target in re.findall(r"[\w.]+", attributes.get("forward_to", ""))
    ]
    assert len(targets) == 4
    for target in targets:
        assert target.removesuffix(".receiver") in there
    assert component(blocks, "loki.source.file", "training")[2]["targets"] == "local.file_match.training.targets"


def test_masks_come_before_anything_is_read_and_after_the_join() -> None:
    names = [block[0] for block in component(read(emitted()), "loki.process", "training")[3]]
    join, first_mask = names.index("stage.match"), names.index("stage.replace")
    last_mask = len(names) - 1 - names[::-1].index("stage.replace")
    assert join < first_mask <= last_mask < names.index("stage.json")
    assert "stage.regex" not in names[:last_mask]


def test_no_label_is_unbounded_even_if_the_policy_asks() -> None:
    blocks = read(emitted(labels=(*LOGS.labels, "run_id", "rank")))
    kept = re.findall(r'"(\w+)"', stages(blocks, "stage.label_keep")[0][2]["values"])
    made = re.findall(r"(\w+)\s+=", stages(blocks, "stage.labels")[0][2]["values"])
    assert kept == made == list(LOGS.labels)
    metadata = re.findall(r"(\w+)\s+=", stages(blocks, "stage.structured_metadata")[0][2]["values"])
    assert {"run_id", "rank", "trace_id", "filename", "schema", "clock"} <= set(metadata)
    assert len(metadata) == len(set(metadata)) and not UNBOUNDED & set(made)


def test_labels_are_dropped_before_metadata_is_taken_from_them() -> None:
    # otherwise Alloy writes each twice: once from the labels, once from the extracted values
    names = [block[0] for block in component(read(emitted()), "loki.process", "training")[3]]
    assert names.index("stage.label_keep") < names.index("stage.structured_metadata")


def test_the_schema_is_judged_before_gaps_are_filled() -> None:
    sources = [text_of(block[2]["source"]) for block in stages(read(emitted()), "stage.template")]
    assert sources.index("level") < sources.index("schema")
    assert max(sources.index("clock"), sources.index("schema")) < sources.index("cluster")
    assert sources[-2:] == ["stage", "model_family"]


def test_every_mandatory_field_is_demanded() -> None:
    (template,) = [b[2]["template"] for b in stages(read(emitted()), "stage.template") if "schema" in b[2]["source"]]
    for field in LOGS.required:
        assert f" .{field}" in template
    assert '(eq .model_family "llm" "vision")' in template


def test_a_time_that_cannot_be_read_keeps_the_time_of_arrival_and_is_counted() -> None:
    blocks = read(emitted())
    (timestamp,) = stages(blocks, "stage.timestamp")
    assert timestamp[2] == {"source": '"timestamp"', "format": '"RFC3339Nano"', "action_on_failure": '"skip"'}
    (metrics,) = stages(blocks, "stage.metrics")
    counters = {text_of(c[2]["name"]): c[2] for c in metrics[3]}
    assert counters["timestamp_failures_total"]["value"] == '"arrival"'
    assert counters["schema_violations_total"]["value"] == '"violated"'
    assert {c["action"] for c in counters.values()} == {'"inc"'}


@pytest.mark.parametrize(("sample", "expected"), [(0.1, "0.1"), (1.0, None), (0.0, "drop")])
def test_debug_lines_are_sampled_after_they_were_counted(sample: float, expected: str | None) -> None:
    blocks = read(emitted(debug_sample=sample))
    names = [block[0] for block in component(blocks, "loki.process", "training")[3]]
    last = component(blocks, "loki.process", "training")[3][-1]
    if expected is None:
        assert names[-1] == "stage.metrics"
    elif expected == "drop":
        assert last[2]["action"] == '"drop"'
    else:
        assert last[3][0][0] == "stage.sampling" and last[3][0][2]["rate"] == expected
        assert names.index("stage.metrics") < len(names) - 1


def test_writing_states_its_batches_and_retries() -> None:
    write = component(read(emitted()), "loki.write", "training")
    (endpoint,) = write[3]
    assert text_of(endpoint[2]["url"]) == LOGS.push_url
    for name in ("batch_wait", "batch_size", "min_backoff_period", "max_backoff_period", "max_backoff_retries"):
        assert name in endpoint[2]
    assert write[2]["external_labels"].count("=") == 1


def test_nothing_experimental_is_switched_on() -> None:
    assert "wal" not in {block[0] for block in component(read(emitted()), "loki.write", "training")[3]}


@pytest.mark.parametrize("broken", ['a "b" {\n', "}\n", 'a "b" {\nc = "1" d = "2"\n}\n', 'a "b" {\nc\n}\n'])
def test_the_reader_of_this_test_refuses_broken_alloy(broken: str) -> None:
    with pytest.raises(AssertionError):
        read(broken)


@pytest.mark.parametrize("value", ["plain", r"\d+", 'a "b"', "`tick`", "two\nlines", r"`\d`"])
def test_strings_survive_quoting(value: str) -> None:
    assert text_of(quoted(value)) == value


# --- the regular expressions, on real lines -----------------------------------------------------------------------

REAL = list(csv.DictReader(LINES.open(encoding="utf-8"), delimiter="\t", quoting=csv.QUOTE_NONE))
_TAIL = re.compile(r"^(\[rank\d+\]: )?[\w.]*(Error|Exception): |^loss_scale ")


@pytest.mark.parametrize("row", REAL, ids=[f"{n}-{row['category']}" for n, row in enumerate(REAL)])
def test_an_entry_begins_at_a_log_line_and_not_inside_a_traceback(row: dict[str, str]) -> None:
    begins = re.search(FIRST_LINE, row["line"]) is not None
    assert begins is not bool(_TAIL.match(row["line"])), row["line"]


@pytest.mark.parametrize(
    "line", ['  File "train.py", line 3, in main', "    loss.backward()", "", "^^^^", "RuntimeError: x"]
)
def test_a_traceback_stays_one_entry(line: str) -> None:
    assert not re.search(FIRST_LINE, line)
    assert not re.search(FIRST_LINE, f"[rank0]: {line}")


def test_a_traceback_begins_an_entry_with_and_without_its_rank() -> None:
    assert re.search(FIRST_LINE, "Traceback (most recent call last):")
    assert re.search(FIRST_LINE, "[rank0]: Traceback (most recent call last):")


def test_only_lines_that_are_not_json_are_joined() -> None:
    (selector,) = [
        text_of(b[2]["selector"]) for b in stages(read(emitted()), "stage.match") if not b[3][0][0].endswith("ing")
    ]
    pattern = json.loads(selector.split("!~ ")[1])
    assert re.search(pattern, '{"level":"info"}') and re.search(pattern, '  {"level":"info"}')
    assert not any(re.search(pattern, row["line"]) for row in REAL)


def _masked(line: str) -> str:
    """What stage.replace does: every capture group of every match becomes the replacement."""
    for mask in stages(read(emitted()), "stage.replace"):
        expression, replacement = text_of(mask[2]["expression"]), text_of(mask[2]["replace"])

        def hide(match: re.Match[str], replacement: str = replacement) -> str:
            whole = match[0]
            for group in filter(None, match.groups()):
                whole = whole.replace(group, replacement, 1)
            return whole

        line = re.sub(expression, hide, line)
    return line


def test_secrets_are_masked_and_the_line_stays_json() -> None:
    line = json.dumps({"message": "login hf_abcdefgh12345", "password": "geheim", "rank": 3})
    assert json.loads(_masked(line)) == {"message": "login ***", "password": "***", "rank": 3}


def test_a_mask_without_a_group_is_given_one_since_it_would_mask_nothing() -> None:
    assert masking("abc") == "(abc)" and masking("a(b)c") == "a(b)c" and masking("(?:a)") == "((?:a))"


@pytest.mark.parametrize("row", REAL, ids=[f"{n}-{row['category']}" for n, row in enumerate(REAL)])
def test_real_lines_without_secrets_pass_unchanged(row: dict[str, str]) -> None:
    assert _masked(row["line"]) == row["line"]


def test_the_kernels_xid_is_read() -> None:
    kernel = component(read(emitted()), "loki.process", "kernel")
    pattern = text_of(kernel[3][0][2]["expression"])
    found = {row["category"]: re.search(pattern, row["line"]) for row in REAL if row["category"].startswith("xid")}
    assert {name: match and match["xid"] for name, match in found.items()} == {"xid79": "79", "xid145_nvlink": "145"}
