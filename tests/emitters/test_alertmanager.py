"""The emitted configuration, judged by the real amtool and lived through by a real Alertmanager."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import msgspec
import pytest
import yaml

from longwatch.diagnostics import Origin
from longwatch.emitters.alertmanager import EMITTER
from longwatch.ir.model import (
    Inhibition,
    LogSchema,
    MuteTime,
    Receiver,
    RouteFacts,
    SeverityRule,
    Shared,
    Summary,
    Team,
)
from longwatch.tools.toolbox import Toolbox

HERE = Origin(file="policies/organisation.yaml")
RUN = ("cluster", "run_id")


def receiver(name: str, integration: str, **settings: str | bool | int) -> Receiver:
    return Receiver(name=name, integration=integration, settings=settings, origin=HERE)


def team(name: str, notify: str, page: str) -> Team:
    return Team(name=name, title=name.title(), contact=f"{name}@example.org", notify=notify, page=page, origin=HERE)


SHARED = Shared(
    name="acme",
    teams=(team("models", "models-chat", "models-pager"), team("infra", "infra-mail", "infra-hook")),
    receivers=(
        receiver("last-resort", "webhook", url="http://127.0.0.1:9/last"),
        receiver("models-chat", "slack", channel="#models", api_url_file="/etc/secrets/slack"),
        receiver("models-pager", "pagerduty", routing_key_file="/etc/secrets/pagerduty"),
        receiver("infra-mail", "email", to="infra@example.org"),
        receiver("infra-hook", "webhook", url="http://127.0.0.1:9/infra", credentials_file="/etc/secrets/hook"),
        receiver("on-call", "opsgenie", api_key_file="/etc/secrets/opsgenie"),
    ),
    severities=(
        SeverityRule(name="critical", pages=True, repeat=3600, group_wait=30, group_interval=300),
        SeverityRule(name="warning", pages=False, repeat=14400, group_wait=60, group_interval=300),
        SeverityRule(name="info", pages=False, repeat=86400, group_wait=300, group_interval=900),
    ),
    mute_times=(
        MuteTime(
            name="weekend-nights",
            teams=("models",),
            severities=("warning", "info"),
            weekdays=("friday", "saturday"),
            start="22:00",
            end="06:00",
            location="Europe/Berlin",
            reason="Nobody acts on a warning at night.",
        ),
    ),
    default_receiver="last-resort",
    runbook_url="https://runbooks.example.org",
    grafana_url="https://grafana.example.org",
    prometheus_datasource="prometheus",
    loki_datasource="loki",
    logs=LogSchema(
        required=(),
        levels=("info",),
        stages=(),
        labels=(),
        structured_metadata=(),
        masks=(),
        debug_sample=0.1,
        paths=(),
        push_url="http://loki:3100/loki/api/v1/push",
        retention=86400,
    ),
    sources=("policies/organisation.yaml",),
    origin=HERE,
)


def facts(name: str, owner: str, severity: str, stage: str = "page") -> RouteFacts:
    return RouteFacts(name=name, owner=owner, severity=severity, stage=stage)


SUMMARIES = (
    Summary(
        name="llm",
        kind="family",
        title="LLM",
        owner="models",
        stage="page",
        sources=("policies/families/llm.yaml",),
        identity=RUN,
        name_pattern="^llm-[a-z0-9-]+$",
        selector={},
        alerts=(
            facts("TrainingStalled", "models", "critical"),
            facts("ThroughputDegraded", "models", "warning"),
            facts("LossSpike", "models", "critical", "notify"),
            facts("GradNormExploding", "models", "critical", "shadow"),
        ),
        inhibitions=(
            Inhibition(source="TrainingStalled", targets=("ThroughputDegraded",), equal=RUN, reason="no steps"),
        ),
    ),
    Summary(
        name="hall-a",
        kind="cluster",
        title="Hall A",
        owner="infra",
        stage="page",
        sources=("policies/clusters/hall-a.yaml",),
        identity=("cluster", "node", "gpu"),
        name_pattern="",
        selector={},
        alerts=(facts("GpuLost", "infra", "critical"), facts("GpuHot", "infra", "warning")),
        inhibitions=(
            Inhibition(source="GpuLost", targets=("GpuHot",), equal=("cluster", "node"), reason="the GPU is gone"),
        ),
    ),
)


def emit(folder: Path, shared: Shared = SHARED) -> Path:
    """Writes the artifacts below `folder` and returns the configuration's path."""
    assert EMITTER.fleet is not None
    for artifact in EMITTER.fleet(SUMMARIES, shared):
        file = folder / artifact.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(artifact.text, encoding="utf-8")
    return folder / "alertmanager" / "alertmanager.yml"


def run(*command: str | Path) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def labels(name: str, owner: str, severity: str, stage: str, **more: str) -> dict[str, str]:
    return {"alertname": name, "owner": owner, "severity": severity, "stage": stage, **more}


# --- what the artifacts are ---------------------------------------------------------------------------------------


def test_the_same_policies_give_the_same_bytes_and_say_where_they_come_from() -> None:
    assert EMITTER.fleet is not None
    first, second = EMITTER.fleet(SUMMARIES, SHARED), EMITTER.fleet(SUMMARIES, SHARED)
    assert first == second
    for artifact in first:
        assert artifact.target == "alertmanager"
        assert "Generated by Longwatch from policies/organisation.yaml: do not edit." in artifact.text
    assert "policies/families/llm.yaml" in first[0].sources
    assert first[0].origins["models-chat"] == HERE


def test_no_secret_stands_in_the_text(tmp_path: Path) -> None:
    config = yaml.safe_load(emit(tmp_path).read_text())
    forbidden = {"api_url", "routing_key", "service_key", "auth_password", "api_key", "password", "credentials"}

    def keys(node: object) -> Iterator[str]:
        if isinstance(node, dict):
            for key, value in node.items():
                yield key
                yield from keys(value)
        elif isinstance(node, list):
            for value in node:
                yield from keys(value)

    assert not forbidden & set(keys(config))


# --- amtool -------------------------------------------------------------------------------------------------------


def test_amtool_accepts_the_configuration(tools: Toolbox, tmp_path: Path) -> None:
    assert "SUCCESS" in run(tools["amtool"].path, "check-config", emit(tmp_path))


def _declared() -> Iterator[tuple[str, dict[str, str], str]]:
    pager = {"models": "models-pager", "infra": "infra-hook"}
    channel = {"models": "models-chat", "infra": "infra-mail"}
    for summary in SUMMARIES:
        for alert in summary.alerts:
            for subject in ({"cluster": "a", "run_id": "llm-1"}, {"cluster": "a", "node": "n1", "gpu": "3"}, {}):
                given = labels(alert.name, alert.owner, alert.severity, alert.stage, **subject)
                expected = channel[alert.owner]
                if alert.stage == "shadow":
                    expected = "shadow"
                elif alert.severity == "critical" and alert.stage == "page":
                    expected = pager[alert.owner]
                yield f"{alert.name}-{len(subject)}", given, expected
    yield "nobody", labels("X", "", "critical", "page"), "last-resort"
    yield "unknown-team", labels("X", "strangers", "critical", "page"), "last-resort"
    yield "unknown-severity", labels("X", "models", "catastrophe", "page"), "models-chat"
    yield "shadow-of-nobody", labels("X", "", "critical", "shadow"), "shadow"


@pytest.mark.parametrize(
    ("given", "expected"), [case[1:] for case in _declared()], ids=[case[0] for case in _declared()]
)
def test_each_alert_reaches_exactly_its_receiver(
    tools: Toolbox, tmp_path: Path, given: dict[str, str], expected: str
) -> None:
    pairs = [f"{key}={value}" for key, value in given.items() if value]  # an empty label is an absent one
    config = f"--config.file={emit(tmp_path)}"
    assert run(tools["amtool"].path, "config", "routes", "test", config, *pairs).strip() == expected


NOTIFICATION = {
    "receiver": "models-chat",
    "status": "firing",
    "externalURL": "http://alertmanager",
    "groupLabels": {"owner": "models", "alertname": "TrainingStalled", "cluster": "a", "run_id": "llm-7b-1"},
    "commonLabels": labels("TrainingStalled", "models", "critical", "page", cluster="a", run_id="llm-7b-1"),
    "commonAnnotations": {},
    "alerts": [
        {
            "status": "firing",
            "labels": labels("TrainingStalled", "models", "critical", "page", cluster="a", run_id="llm-7b-1"),
            "annotations": {
                "summary": "llm-7b-1 makes no progress",
                "description": "Seen: no step for 12 minutes.\nExpected: a step every 105 s.",
                "remediation": "Look for the rank that stopped first.",
                "runbook_url": "https://runbooks.example.org/TrainingStalled",
                "dashboard_url": "https://grafana.example.org/d/x?viewPanel=3",
            },
            "startsAt": "2026-12-01T10:00:00+01:00",
            "endsAt": "0001-01-01T00:00:00Z",
            "generatorURL": "http://prometheus",
            "fingerprint": "0a",
        }
    ],
}


@pytest.fixture
def wording(tools: Toolbox, tmp_path: Path) -> Callable[..., str]:
    """Renders one of our templates with the real Alertmanager's template engine."""

    def render(name: str, **changes: object) -> str:
        data = tmp_path / "data.json"
        data.write_text(json.dumps({**NOTIFICATION, **changes}))
        glob = emit(tmp_path).parent / "templates" / "*.tmpl"
        text = f'{{{{ template "longwatch.{name}" . }}}}'
        return run(
            tools["amtool"].path,
            "template",
            "render",
            f"--template.glob={glob}",
            f"--template.text={text}",
            f"--template.data={data}",
        )

    return render


def test_a_notification_says_all_that_people_need(wording: Callable[..., str]) -> None:
    assert wording("title").strip() == "[CRITICAL] TrainingStalled: run llm-7b-1 on a"
    assert wording("text").strip().splitlines() == [
        "llm-7b-1 makes no progress",
        "About: cluster a, run_id llm-7b-1",
        "Seen: no step for 12 minutes.",
        "Expected: a step every 105 s.",
        "Since: 2026-12-01 09:00:00 UTC",
        "First: Look for the rank that stopped first.",
        "Runbook: https://runbooks.example.org/TrainingStalled",
        "Panel: https://grafana.example.org/d/x?viewPanel=3",
    ]
    assert wording("severity").strip() == "critical"
    assert wording("panel").strip() == "https://grafana.example.org/d/x?viewPanel=3"
    assert wording("runbook").strip() == "https://runbooks.example.org/TrainingStalled"
    assert "<h2>[CRITICAL] TrainingStalled" in wording("html")


def test_the_end_is_told_as_an_end(wording: Callable[..., str]) -> None:
    over = {**NOTIFICATION["alerts"][0], "status": "resolved", "endsAt": "2026-12-01T10:30:00Z"}  # type: ignore[index]
    assert wording("title", status="resolved", alerts=[over]).strip().startswith("[OVER] TrainingStalled")
    text = wording("text", status="resolved", alerts=[over])
    assert text.startswith("No longer firing: llm-7b-1") and "Over: 2026-12-01 10:30:00 UTC" in text


def test_a_notification_without_labels_and_alerts_still_renders(wording: Callable[..., str]) -> None:
    bare = {"alerts": [], "groupLabels": {}, "commonLabels": {}}
    assert "no run named" in wording("title", **bare)
    for name in ("text", "html", "panel", "runbook", "severity"):
        wording(name, **bare)


def test_many_alerts_are_cut_short(wording: Callable[..., str]) -> None:
    text = wording("text", alerts=NOTIFICATION["alerts"] * 9)  # type: ignore[operator]
    assert text.count("makes no progress") == 5 and "only the first 5 of 9" in text


# --- a real Alertmanager on loopback ------------------------------------------------------------------------------


class Inbox:
    """Stands for every receiver: remembers who was told about which alert."""

    def __init__(self) -> None:
        self.seen: set[tuple[str, str, str]] = set()
        inbox = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                for alert in body["alerts"]:
                    subject = alert["labels"].get("run_id") or alert["labels"].get("node", "")
                    inbox.seen.add((self.path.strip("/"), alert["labels"]["alertname"], subject))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def wait_for(self, *expected: tuple[str, str, str]) -> None:
        deadline = time.monotonic() + 20
        while not set(expected) <= self.seen:
            assert time.monotonic() < deadline, f"missing {set(expected) - self.seen}, seen {self.seen}"
            time.sleep(0.1)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def alertmanager(tools: Toolbox, tmp_path: Path) -> Iterator[tuple[Inbox, Callable[..., None]]]:
    """A running Alertmanager with the emitted configuration, whose receivers all lead to one inbox."""
    inbox = Inbox()
    quick = tuple(msgspec.structs.replace(s, group_wait=0.5, group_interval=1, repeat=60) for s in SHARED.severities)
    hooks = tuple(receiver(r.name, "webhook", url=f"{inbox.url}/{r.name}") for r in SHARED.receivers)
    config = emit(tmp_path, msgspec.structs.replace(SHARED, receivers=hooks, severities=quick, mute_times=()))
    url = f"http://127.0.0.1:{_free_port()}"
    command = [
        str(tools["alertmanager"].path),
        f"--config.file={config}",
        f"--web.listen-address={url.removeprefix('http://')}",
        "--cluster.listen-address=",
        f"--storage.path={tmp_path / 'storage'}",
    ]
    with (tmp_path / "log").open("w") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            _wait_until_ready(url, process, tmp_path / "log")

            def post(*alerts: dict[str, str]) -> None:
                body = json.dumps([{"labels": alert} for alert in alerts]).encode()
                request = urllib.request.Request(
                    f"{url}/api/v2/alerts", data=body, headers={"Content-Type": "application/json"}
                )
                with urllib.request.urlopen(request, timeout=10) as answer:
                    assert answer.status == 200

            yield inbox, post
        finally:
            process.terminate()
            inbox.server.shutdown()
            inbox.server.server_close()


def _wait_until_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 20
    while True:
        try:
            with urllib.request.urlopen(f"{url}/-/ready", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            if process.poll() is not None and "open /usr/share/prometheus/alertmanager/" in log.read_text():
                explained = "Debian's alertmanager reads /usr/share/prometheus/alertmanager: install its package"
                (pytest.fail if os.environ.get("CI") else pytest.skip)(explained)
            assert process.poll() is None and time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)


def test_people_are_told_what_concerns_them_and_nothing_else(
    alertmanager: tuple[Inbox, Callable[..., None]],
) -> None:
    inbox, post = alertmanager
    cause, effect = (
        ("TrainingStalled", "models", "critical", "page"),
        ("ThroughputDegraded", "models", "warning", "page"),
    )
    post(labels(*cause, cluster="a", run_id="one"), labels(*cause), labels("GpuLost", "infra", "critical", "page"))
    time.sleep(0.3)  # the causes are in before their effects could be told
    post(
        labels(*effect, cluster="a", run_id="one"),
        labels(*effect, cluster="a", run_id="two"),
        labels(*effect, cluster="b", run_id="one"),
        labels(*effect),
        labels("GradNormExploding", "models", "critical", "shadow", cluster="a", run_id="hidden"),
        labels("LossSpike", "models", "critical", "notify", cluster="a", run_id="one"),
        labels("GpuHot", "infra", "warning", "page", cluster="a", node="n1"),
        labels("Orphan", "strangers", "critical", "page", run_id="nobody"),
    )
    inbox.wait_for(
        ("models-pager", "TrainingStalled", "one"),
        ("models-pager", "TrainingStalled", ""),
        ("models-chat", "ThroughputDegraded", "two"),
        ("models-chat", "ThroughputDegraded", ""),  # the cause without a run does not silence a stranger without one
        ("models-chat", "LossSpike", "one"),
        ("infra-hook", "GpuLost", ""),
        ("infra-mail", "GpuHot", "n1"),
        ("last-resort", "Orphan", "nobody"),
    )
    time.sleep(2)
    told = {(who, name) for who, name, _ in inbox.seen}
    assert "GradNormExploding" not in {name for _, name in told}
    assert ("models-pager", "LossSpike") not in told
    assert not [seen for seen in inbox.seen if seen[0] == "shadow"]


def test_a_cause_silences_its_effect_in_the_same_run_only(
    alertmanager: tuple[Inbox, Callable[..., None]],
) -> None:
    inbox, post = alertmanager
    cause, effect = (
        ("TrainingStalled", "models", "critical", "page"),
        ("ThroughputDegraded", "models", "warning", "page"),
    )
    post(labels(*cause, cluster="a", run_id="one"))
    inbox.wait_for(("models-pager", "TrainingStalled", "one"))
    post(labels(*effect, cluster="a", run_id="one"), labels(*effect, cluster="a", run_id="two"))
    inbox.wait_for(("models-chat", "ThroughputDegraded", "two"))
    time.sleep(2)
    assert ("models-chat", "ThroughputDegraded", "one") not in inbox.seen
