"""A real Prometheus loads the compiled rules, evaluates each without an error, and renders every message."""

from __future__ import annotations

import http.server
import json
import shutil
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from longwatch.compiler import Compiled, compile_policies
from longwatch.ir.model import Alert, Plan
from longwatch.load.source_tree import find_policies
from longwatch.render.yaml import dump
from longwatch.tools.toolbox import Toolbox
from longwatch.wire.prometheus import rule_file, texts

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0
"""Seconds; rules and scrapes run every second here."""

Ask = Callable[[str], Any]

EXPOSITION = """\
train_phase{job="recsys",cluster="c",run_id="recsys-daily"} 1
train_run_info{job="recsys",cluster="c",run_id="recsys-daily",model_size="small"} 1
train_last_step_timestamp_seconds{job="recsys",cluster="c",run_id="recsys-daily"} 1700000000
train_loss{job="recsys",cluster="c",run_id="recsys-daily",rank="0"} 0.14
train_loss{job="recsys",cluster="c",run_id="recsys-daily",rank="1"} NaN
train_grad_norm{job="recsys",cluster="c",run_id="recsys-daily"} 0.3
"""


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    files, _ = find_policies(str(ROOT / "policies"))
    return compile_policies(files)


@pytest.fixture(scope="module")
def prometheus(compiled: Compiled, tools: Toolbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    folder = tmp_path_factory.mktemp("prometheus")
    assert compiled.fleet is not None
    for plan in compiled.fleet.plans:
        groups = rule_file(plan)["groups"]
        assert isinstance(groups, list)
        (folder / f"{plan.name}.rules.yml").write_text(dump({"groups": [{**groups[0], "interval": "1s"}]}))
    (folder / "messages.rules.yml").write_text(dump(_messages(compiled.fleet.plans)))
    with _exporter() as target:
        config = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(folder / "*.rules.yml")],
            "scrape_configs": [
                {"job_name": "any", "honor_labels": True, "static_configs": [{"targets": [f"127.0.0.1:{target}"]}]}
            ],
        }
        (folder / "prometheus.yml").write_text(dump(config))
        port = _free_port()
        command = [
            tools["prometheus"].path,
            f"--config.file={folder / 'prometheus.yml'}",
            f"--storage.tsdb.path={folder / 'data'}",
            f"--web.listen-address=127.0.0.1:{port}",
        ]
        with (folder / "log").open("w") as log:
            process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
            try:
                _until(lambda: _get(f"http://127.0.0.1:{port}/-/ready") is not None, process, folder / "log")
                yield lambda path: json.loads(_get(f"http://127.0.0.1:{port}{path}") or "null")
            finally:
                process.terminate()
                process.wait(20)
                shutil.rmtree(folder / "data", ignore_errors=True)


def _messages(plans: tuple[Plan, ...]) -> dict[str, object]:
    """Each alert's own annotations on a condition that is always true, with every label that it keeps."""
    rules = []
    for plan in plans:
        for number, alert in enumerate(plan.alerts):
            expr = "vector(1.5)"
            for label in dict.fromkeys((*alert.identity, *(taken for join in alert.joins for taken in join.take))):
                expr = f'label_replace({expr}, "{label}", "some-{label}", "", "")'
            rules.append(
                {
                    "alert": f"message_{plan.name.replace('-', '_')}_{number}_{alert.name}",
                    "expr": expr,
                    "annotations": texts(alert),
                }
            )
    return {"groups": [{"name": "messages", "interval": "1s", "rules": rules}]}


class _exporter:
    """Serves EXPOSITION on a port of its own."""

    def __enter__(self) -> int:
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.end_headers()
                self.wfile.write(EXPOSITION.encode())

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self.server.server_port

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _get(url: str) -> str | None:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return str(answer.read().decode())
    except (urllib.error.URLError, OSError):
        return None


def _until(true: Callable[[], bool], process: subprocess.Popen[bytes] | None = None, log: Path | None = None) -> None:
    deadline = time.monotonic() + PATIENCE
    while not true():
        dead = process is not None and process.poll() is not None
        assert not dead and time.monotonic() < deadline, log.read_text() if log else "it did not happen in time"
        time.sleep(0.2)


def _rules(ask: Ask) -> list[dict[str, Any]]:
    return [rule for group in ask("/api/v1/rules")["data"]["groups"] for rule in group["rules"]]


def _firing(ask: Ask) -> dict[str, dict[str, Any]]:
    return {a["labels"]["alertname"]: a for a in ask("/api/v1/alerts")["data"]["alerts"] if a["state"] == "firing"}


def test_every_rule_is_evaluated_without_an_error(prometheus: Ask) -> None:
    _until(lambda: all(rule["health"] != "unknown" for rule in _rules(prometheus)))
    assert [(rule["name"], rule["lastError"]) for rule in _rules(prometheus) if rule["health"] != "ok"] == []


def test_a_nan_on_one_rank_fires_and_names_the_run(prometheus: Ask) -> None:
    _until(lambda: "LossNotFinite" in _firing(prometheus))
    alert = _firing(prometheus)["LossNotFinite"]
    assert alert["labels"]["run_id"] == "recsys-daily"
    assert alert["labels"]["owner"] == "ranking"
    assert "NaN or infinite on 1 series" in alert["annotations"]["description"]


def test_every_message_is_rendered(prometheus: Ask, compiled: Compiled) -> None:
    assert compiled.fleet is not None
    alerts: list[Alert] = [alert for plan in compiled.fleet.plans for alert in plan.alerts]
    _until(lambda: sum(name.startswith("message_") for name in _firing(prometheus)) == len(alerts))
    for name, alert in _firing(prometheus).items():
        if name.startswith("message_"):
            for key, text in alert["annotations"].items():
                assert "<error" not in text and "<no value>" not in text and "@panel@" not in text, (name, key, text)
                assert "{{" not in text, (name, key, text)


def test_every_dashboard_link_names_the_subject(compiled: Compiled) -> None:
    assert compiled.fleet is not None
    for plan in compiled.fleet.plans:
        for alert in plan.alerts:
            link = dict(alert.links)["dashboard_url"]
            assert all(f"var-{label}=" in link for label in alert.identity if label in ("cluster", "run_id", "node"))
