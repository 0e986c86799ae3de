"""The entry point of `weft`: its verbs, and what an error or Ctrl-C ends in."""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated

import typer

from actors.cli.answers import ask, pull, summarize
from actors.cli.approvals import app as approvals
from actors.cli.artifact import artifact
from actors.cli.browse import browse
from actors.cli.collections import app as collections
from actors.cli.conversations import conversations
from actors.cli.crawl import crawl, map_site
from actors.cli.do import do
from actors.cli.doctor import doctor
from actors.cli.extension import extension
from actors.cli.extract import extract
from actors.cli.flows import app as flows
from actors.cli.keys import app as keys
from actors.cli.nats import nats
from actors.cli.patterns import app as patterns
from actors.cli.providers import app as providers
from actors.cli.replay import export, replay
from actors.cli.report import report
from actors.cli.routes import app as routes
from actors.cli.runs import app as runs
from actors.cli.runs import run as run_template
from actors.cli.runs import templates
from actors.cli.sessions import app as sessions
from actors.cli.tap import schema, tap
from actors.cli.terminal import Exit, exit_code, first, show
from actors.cli.texts import search, sources, texts, transform
from actors.cli.tools import tool, tools
from actors.cli.up import mcp, status, up
from protocol.faults import FaultError

app = typer.Typer(
    name="weft",
    no_args_is_help=True,
    rich_markup_mode=None,  # plain help takes half the time
    pretty_exceptions_enable=False,  # it prints locals, and they may hold secrets
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done, 1 failed, 2 wrong usage, 3 no Weft runs, 4 done in part, 130 Ctrl-C.",
)


def _print_version(wanted: bool) -> None:  # noqa: FBT001 - typer passes it by place
    if wanted:
        from importlib.metadata import version  # noqa: PLC0415 - costs 20 ms

        typer.echo(f"weft {version('weft')}")
        raise typer.Exit


@app.callback()
def weft(
    *,
    _version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version.")
    ] = False,
) -> None:
    """Let LLM agents read a web that they can trust.

    A page goes in; clean Markdown with a confidence on every field comes out, or an error with the next thing to try.
    """


for _verb in (up, browse, extract):
    app.command(no_args_is_help=_verb is browse)(_verb)
for _question in (summarize, ask, pull):
    app.command(no_args_is_help=True)(_question)
app.command(no_args_is_help=True)(do)
app.command()(conversations)
app.command()(export)
app.command(no_args_is_help=True)(replay)
app.command(no_args_is_help=True)(report)
app.command(no_args_is_help=True)(search)
app.command()(transform)
app.command()(tools)
app.command(no_args_is_help=True)(tool)
app.command()(templates)
app.command("run", no_args_is_help=True)(run_template)
app.command(no_args_is_help=True)(crawl)
app.command("map", no_args_is_help=True)(map_site)
app.command(no_args_is_help=True)(artifact)
app.command()(extension)
for _other in (status, tap, mcp, doctor, schema, nats):
    app.command()(_other)
app.add_typer(collections, name="collections", help="Collect pages and notes, and look after what was read.")
app.add_typer(sources, name="sources", help="Print what was read of a source, read it anew, delete it.")
app.add_typer(texts, name="texts", help="List, print, share and delete the texts that you keep.")
app.add_typer(approvals, name="approvals", help="List the calls that wait for you, allow or deny them.")
app.add_typer(runs, name="runs", help="List runs, look at one, stop it, go on with it.")
app.add_typer(flows, name="flows", help="Record what is done in a browser, and do it again.")
app.add_typer(routes, name="routes", help="List which models are asked, say so, and tell why.")
app.add_typer(patterns, name="patterns", help="List, check, forget and exchange what was learned of APIs.")
app.add_typer(keys, name="keys", help="Give out, list and revoke keys.")
app.add_typer(providers, name="providers", help="Store, list, test and remove keys of models.")
app.add_typer(sessions, name="sessions", help="List, import, renew and forget saved logins.")


def main() -> None:
    """Run the command line of this process and exit."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a page may say what the terminal's encoding cannot
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code."""
    try:
        app(arguments, prog_name="weft")
    except SystemExit as done:
        return _flushed(done.code if isinstance(done.code, int) else 0)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except Exception as error:
        if failure := first(error, FaultError):
            show(failure.fault, as_json="--json" in arguments)
            return exit_code(failure)
        if not first(error, BrokenPipeError):
            raise
    return _flushed(Exit.OK)


def _flushed(code: int) -> int:
    """Flush stdout; whoever closed it (as `head` does) has read enough."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code
