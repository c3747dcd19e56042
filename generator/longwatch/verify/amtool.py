"""amtool on alertmanager.yml and on the notification templates that it uses."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from longwatch.artifact import Artifact
from longwatch.diagnostics import Diagnostic
from longwatch.tools.process import Command, Finished
from longwatch.tools.toolbox import Tool, broken
from longwatch.verify.verdict import FileVerdict

_TEMPLATED = re.compile(r"""^[ -]*\w+: (?P<value>'(?:[^']|'')*\{\{.*|"(?:[^"\\]|\\.)*\{\{.*|[^'"|>].*\{\{.*)$""", re.M)
_FAILED = re.compile(r"FAILED: (.*?)(?=\n\S|\n\n|\Z)", re.DOTALL)
_ALERT = {
    "status": "firing",
    "labels": {"alertname": "Example", "severity": "critical"},
    "annotations": {"summary": "An example"},
    "startsAt": "2024-01-01T00:00:00Z",
    "endsAt": "0001-01-01T00:00:00Z",
    "generatorURL": "http://localhost/graph",
    "fingerprint": "0123456789abcdef",
}
_RESOLVED = {**_ALERT, "status": "resolved", "endsAt": "2024-01-01T01:00:00Z"}
_NOTIFICATION = {
    "receiver": "example",
    "status": "firing",
    "alerts": [_ALERT, _RESOLVED],
    "groupLabels": _ALERT["labels"],
    "commonLabels": _ALERT["labels"],
    "commonAnnotations": _ALERT["annotations"],
    "externalURL": "http://localhost",
}


def check_config(tool: Tool, config: Artifact, folder: Path, environment: Mapping[str, str]) -> Command:
    return Command(
        argv=(tool.path, "check-config", str(folder / config.path)),
        environment=environment,
        merged=True,
        label=config.path,
    )


def render(tool: Tool, config: Artifact, folder: Path, environment: Mapping[str, str]) -> Command | None:
    """Renders every text of the configuration with one firing and one resolved alert; check-config only parses files.

    It reads the files that the configuration's own globs match, so that a glob that matches none is found too.

    None when the configuration holds no template.
    """
    texts = _inline(config.text)
    if not texts:
        return None
    data = folder / "notification.json"
    data.write_text(json.dumps(_NOTIFICATION), encoding="utf-8")
    place = (folder / config.path).parent
    globs = _globs(config.text) or ["none.tmpl"]  # amtool insists on one
    return Command(
        argv=(
            tool.path,
            "template",
            "render",
            *(f"--template.glob={place / glob}" for glob in globs),
            f"--template.data={data}",
            "--template.text=" + "\n".join(texts),
        ),
        environment=environment,
        merged=True,
        label=f"{config.path} templates",
    )


def judge_config(
    tool: Tool, config: Artifact, folder: Path, checked: Finished, rendered: Finished | None
) -> FileVerdict:
    """The verdict on alertmanager.yml, its templates included."""
    found: list[Diagnostic] = []
    if stopped := broken(tool, checked):
        found.append(stopped)
    elif not checked.ok:
        found += [_diagnostic("alertmanager-invalid", config, said) for said in _said(checked, folder)]
    if rendered is not None and (stopped := broken(tool, rendered)):
        found.append(stopped)
    elif rendered is not None and not rendered.ok:
        said = rendered.stdout.replace(f"{folder}/", "").replace("amtool: error: ", "")
        found.append(_diagnostic("template-invalid", config, " ".join(said.split())))
    return FileVerdict(
        path=config.path, target=config.target, subject=config.subject, diagnostics=tuple(dict.fromkeys(found))
    )


def _said(finished: Finished, folder: Path) -> list[str]:
    output = finished.stdout.replace(f"{folder}/", "")
    return [" ".join(match.split()) for match in _FAILED.findall(output)] or [" ".join(output.split())]


def _diagnostic(code: str, config: Artifact, said: str) -> Diagnostic:
    """At the origin whose name the message quotes; of several names the longest."""
    quoted = set(re.findall(r'"([^"]+)"', said))
    keys = sorted((key for key in config.origins if key.rpartition("/")[2] in quoted), key=len)
    return Diagnostic(code=code, message=f"{config.path}: {said}", origin=config.origins[keys[-1]] if keys else None)


def _globs(text: str) -> list[str]:
    listed = re.search(r"^templates:\n((?: *- .*\n?)+)", text, re.MULTILINE)
    return [line.strip(" -\"'") for line in listed[1].splitlines()] if listed else []


def _inline(text: str) -> list[str]:
    """The texts with a template in them, each once, as Alertmanager reads them."""
    return list(dict.fromkeys(_unquote(match["value"].strip()) for match in _TEMPLATED.finditer(text)))


def _unquote(value: str) -> str:
    if value.startswith("'"):
        return value.strip("'").replace("''", "'")
    if value.startswith('"'):
        try:
            return str(json.loads(value))
        except ValueError:  # an escape that only YAML has
            return value.strip('"')
    return value
