"""`longwatch schema`."""

from __future__ import annotations

import click

from longwatch.cli.terminal import Terminal
from longwatch.plugins.front import detectors
from longwatch.policy.document import DOCUMENTS
from longwatch.render.json import dump
from longwatch.validate.documents import schema


@click.command(epilog="Example: longwatch schema --kind ModelFamily")
@click.option("--kind", type=click.Choice(list(DOCUMENTS)), help="Accept only this kind of policy.")
def command(kind: str | None) -> int:
    """Print the JSON Schema (2020-12) of the policy language, for editors and other checkers.

    Save it as policies/longwatch.schema.json and begin each policy with a modeline:
    `# yaml-language-server: $schema=../longwatch.schema.json`.
    """
    whole = schema({name: detector.parameters for name, detector in detectors().items()})
    if kind:
        whole["properties"]["kind"] = {"const": kind}
    Terminal.of(None).put(dump(whole))
    return 0
