"""The options that several verbs share, spelt once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

import typer

from actors.settings import Loaded, load

ConfigFile = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="TOML file of settings, read over the defaults.")
]
DataDir = Annotated[
    Path | None, typer.Option("--data-dir", metavar="DIR", help="Folder that holds everything Weft keeps.")
]
LogLevel = Annotated[
    Literal["debug", "info", "warning", "error"] | None,
    typer.Option("--log-level", help="The least level that is logged, to stderr."),
]
Json = Annotated[bool, typer.Option("--json", help="Write JSON, for programs.")]


def read(config: Path | None, data_dir: Path | None, log_level: str | None, /, **others: str | int | None) -> Loaded:
    """Read the settings as this command line wants them; `others` are further fields, None where not given.

    Raises:
        FaultError: CONFIG_INVALID.
    """
    overrides = {"data_dir": data_dir, "log_level": log_level, **others}
    return load(config_file=config, overrides=overrides, environ=os.environ)
