"""What every verb of `weft` hangs from: its name, its help and its exit codes."""

from __future__ import annotations

from typing import Annotated

import typer


def new_app() -> typer.Typer:
    """Return `weft` without any verb."""
    app = typer.Typer(
        name="weft",
        no_args_is_help=True,
        rich_markup_mode=None,  # plain help takes half the time
        pretty_exceptions_enable=False,  # it prints locals, and they may hold secrets
        context_settings={"help_option_names": ["-h", "--help"]},
        epilog="Exit codes: 0 done, 1 failed, 2 wrong usage, 3 no Weft runs, 4 done in part, 130 Ctrl-C.",
    )
    app.callback()(weft)
    return app


def _print_version(wanted: bool) -> None:  # noqa: FBT001 - typer passes it by place
    if wanted:
        from importlib.metadata import version  # noqa: PLC0415 - costs 20 ms

        typer.echo(f"weft {version('weft')}")
        raise typer.Exit


def weft(
    *,
    _version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version.")
    ] = False,
) -> None:
    """Let LLM agents read a web that they can trust.

    A page goes in; clean Markdown with a confidence on every field comes out, or an error with the next thing to try.
    """
