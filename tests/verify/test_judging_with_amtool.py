"""alertmanager.yml and its templates before the real amtool."""

from __future__ import annotations

import pytest

from longwatch.artifact import Artifact
from longwatch.diagnostics import Origin
from longwatch.tools.toolbox import Toolbox
from longwatch.verify.judge import judge, needed
from longwatch.verify.verdict import Verdict

TEAM = Origin(file="policies/organisation.yaml", path=("teams", "training"))
CONFIG = """\
# Compiled from policies/organisation.yaml
templates:
- templates/*.tmpl
route:
  receiver: training
receivers:
- name: training
  slack_configs:
  - api_url: http://localhost/
    channel: '#training'
    title: '{{ template "title" . }}'
    text: '{{ range .Alerts.Firing }}{{ .Labels.alertname }} isn''t well{{ end }}'
"""
TEMPLATE = '{{ define "title" }}{{ .CommonLabels.alertname }}{{ end }}\n'


def verdict(tools: Toolbox, config: str = CONFIG, template: str = TEMPLATE) -> Verdict:
    artifacts = (
        Artifact(
            path="alertmanager/alertmanager.yml",
            text=config,
            target="alertmanager",
            origins={"receiver/training": TEAM, "receiver/trainingg": TEAM},
        ),
        Artifact(path="alertmanager/templates/longwatch.tmpl", text=template, target="alertmanager"),
    )
    assert needed(artifacts) == ("amtool",)
    return judge(artifacts, tools, jobs=2)


def test_a_right_configuration_passes(tools: Toolbox) -> None:
    found = verdict(tools)

    assert (found.ok, found.diagnostics) == (True, ())
    assert [file.path for file in found.files] == ["alertmanager/alertmanager.yml"]


def test_an_undefined_receiver_points_at_what_named_it(tools: Toolbox) -> None:
    (found,) = verdict(tools, CONFIG.replace("receiver: training\n", "receiver: trainingg\n")).diagnostics

    assert (found.code, found.origin) == ("alertmanager-invalid", TEAM)
    assert found.message == 'alertmanager/alertmanager.yml: undefined receiver "trainingg" used in route'


@pytest.mark.parametrize(
    ("config", "template", "what"),
    [
        (CONFIG.replace('template "title"', 'template "tilte"'), TEMPLATE, 'template "tilte" not defined'),
        (CONFIG.replace("*.tmpl", "*.template"), TEMPLATE, 'template "title" not defined'),
        (CONFIG.replace(".Labels.alertname }}", ".Lables.alertname }}"), TEMPLATE, "can't evaluate field Lables"),
        (CONFIG.replace("{{ end }}'", "'"), TEMPLATE, "unexpected EOF"),
        (CONFIG, TEMPLATE.replace("CommonLabels", "CommonLables"), "can't evaluate field CommonLables"),
    ],
    ids=["undefined", "glob without a match", "field", "unclosed", "field in a file"],
)
def test_template_mistakes_that_check_config_lets_pass_are_found(
    tools: Toolbox, config: str, template: str, what: str
) -> None:
    found = verdict(tools, config, template).diagnostics

    assert [diagnostic.code for diagnostic in found] == ["template-invalid"]
    assert what in found[0].message


def test_a_template_file_that_does_not_parse_is_refused(tools: Toolbox) -> None:
    assert not verdict(tools, template='{{ define "title" }}{{ .X {{ end }}').ok


def test_a_configuration_without_templates_passes(tools: Toolbox) -> None:
    plain = "route:\n  receiver: nobody\nreceivers:\n- name: nobody\n"

    assert verdict(tools, plain).diagnostics == ()
