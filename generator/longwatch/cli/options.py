"""Options that several verbs share."""

from __future__ import annotations

import click

policies = click.option(
    "--policies", "directory", default="policies", show_default=True, metavar="DIR", help="Where the policies are."
)
form = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "github"]),
    default="text",
    show_default=True,
    help="text on stderr for people; json or GitHub's workflow commands on stdout.",
)
colour = click.option("--color/--no-color", "colour", default=None, help="Colour; by default on a terminal only.")
