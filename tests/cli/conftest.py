"""A small repository of policies, and a way to run one command in it."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

import pytest

from longwatch.cli.main import run

ORGANISATION = """\
apiVersion: longwatch/v1
kind: Organisation
name: lab
teams:
  models: {title: Models, contact: '#models', notify: chat, page: pager, escalation: machines}
  machines: {title: Machines, contact: '#machines', notify: chat, page: pager}
receivers:
  chat: {slack: {channel: training, api_url_file: /etc/longwatch/slack}}
  pager: {pagerduty: {routing_key_file: /etc/longwatch/pagerduty}}
default_receiver: chat
links: {runbooks: https://example.org/runbooks, grafana: https://grafana.example.org}
logs: {paths: [/var/log/train/*.jsonl], push_url: https://loki.example.org/loki/api/v1/push}
"""

FAMILY = """\
apiVersion: longwatch/v1
kind: ModelFamily
name: gpt
title: GPT
owner: models
stage: page
exporters: [canonical]
runs: {select: {job: gpt}, name_pattern: 'gpt-[0-9]+', examples: [gpt-1, gpt-2]}
lifecycle: {expected: phase, finished: [phase], pauses: {initialising: {limit: 20m}}}
variants:
  - {name: small, ranks: 64, step_time: 5s, log_every: 10}
alerts: {packs: [loss]}
"""

CLUSTER = """\
apiVersion: longwatch/v1
kind: Cluster
name: pod
title: Pod
owner: machines
exporters: [node_exporter]
select: {cluster: pod}
alerts: {packs: [storage]}
"""


class Ended(NamedTuple):
    code: int
    out: str
    err: str


Longwatch: TypeAlias = Callable[[str], Ended]


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory: one organisation, one family, one cluster."""
    for path, text in {"organisation": ORGANISATION, "families/gpt": FAMILY, "clusters/pod": CLUSTER}.items():
        file = tmp_path / "policies" / f"{path}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_COLOR", raising=False)
    return tmp_path


@pytest.fixture
def longwatch(capsys: pytest.CaptureFixture[str]) -> Longwatch:
    """Runs `longwatch …` in this process."""

    def command(line: str) -> Ended:
        capsys.readouterr()
        code = run(shlex.split(line))
        return Ended(code, *capsys.readouterr())

    return command


def process(
    line: str, cwd: Path, environment: Mapping[str, str] = {}, stdout: int = subprocess.PIPE
) -> subprocess.Popen[str]:
    """`longwatch …` as a process of its own."""
    argv = [sys.executable, "-m", "longwatch", *shlex.split(line)]
    env = {**os.environ, **environment}
    return subprocess.Popen(argv, cwd=cwd, env=env, stdout=stdout, stderr=subprocess.PIPE, text=True)


def contents(out: Path) -> dict[str, bytes]:
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}
