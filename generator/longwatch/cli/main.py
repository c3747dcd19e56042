"""The command line: a static table of verbs, and what each ending means.

Exit codes are a contract: 0 clean, 1 findings or failed tests, 2 usage, 3 internal error, 4 `--check` found drift, 5 a
tool is missing, too old or failed; 130 after Ctrl-C, 143 after SIGTERM, 141 when the reader of our output went away.
Findings and progress go to stderr, what programs read and what was asked for by name (explain, schema, doctor) to stdout.
This module imports click and no verb, so that `longwatch --help` is as fast as click.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import NoReturn

import click

from longwatch import __version__

VERBS: Mapping[str, str] = {
    "init": "Scaffold a repository of policies, in stage shadow, with CI.",
    "check": "Check the policies; fast, needs no other tool.",
    "build": "Compile the policies into out/, or compare with it (--check).",
    "test": "Compile in memory and let promtool and amtool prove it.",
    "explain": "Show a family or an alert: each value and where it came from.",
    "schema": "Print the JSON Schema of the policy language.",
    "doctor": "List the tools that longwatch uses, and how to get them.",
}
"""Verb → short help. The verb's module has its name, and exports `command`."""

_INTERRUPTED, _READER_GONE, _TERMINATED = 130, 141, 143


class _Verbs(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        command: click.Command = import_module(f"longwatch.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in VERBS and not name.startswith("-"):
            from longwatch.suggest import closest  # late: only a mistake needs it

            near = closest(name, VERBS)
            hint = f'did you mean "{near}"?' if near else f"verbs: {', '.join(VERBS)}"
            ctx.fail(f'no verb is called "{name}"; {hint}')
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


@click.group(
    cls=_Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Begin with `longwatch init`, or in a repository of policies with `longwatch check`.",
)
@click.version_option(__version__, message="longwatch %(version)s")
def longwatch() -> None:
    """Compile one policy per model family into everything that watches its training runs."""


def main() -> NoReturn:
    """The program."""
    gc.disable()  # a compile makes millions of objects that live to its end, and no cycles: same memory, half the time
    signal.signal(signal.SIGTERM, _terminated)  # so that tools which run for us end as well
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that cannot show × must not end the program
            stream.reconfigure(errors="backslashreplace")
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Carries out one command; the exit code."""
    if shell := os.environ.get("_LONGWATCH_COMPLETE"):
        from click.shell_completion import shell_complete  # a Tab in the user's shell

        return shell_complete(longwatch, {}, "longwatch", "_LONGWATCH_COMPLETE", shell)
    try:
        with longwatch.make_context("longwatch", list(arguments)) as context:
            code = longwatch.invoke(context)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as stop:  # --help, --version
        return stop.exit_code
    except click.ClickException as error:
        error.show(sys.stderr)
        return 2
    except (KeyboardInterrupt, click.Abort):
        return _INTERRUPTED
    except BrokenPipeError:
        _silence()
        return _READER_GONE
    except Exception as error:
        from longwatch.cli.ending import ending  # late: nothing of it is needed when all goes well

        return ending(error, arguments)


def _silence() -> None:
    """What is still buffered must not raise once more when the interpreter ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())


def _terminated(_number: int, _frame: object) -> NoReturn:
    raise SystemExit(_TERMINATED)
