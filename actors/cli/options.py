"""The options of the commands, spelt once, and the settings that those of every command make."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

import typer

from actors.settings import Loaded, load
from protocol.browse import MAX_EXCERPT_CHARS, MAX_LATENCY_MS, MAX_PAGES, MIN_EXCERPT_CHARS, Freshness
from protocol.runs.states import ArtifactType
from protocol.tiers import RenderTier

MAX_RUN_TIMEOUT_MS = 86_400_000


def named_place(text: str) -> Path:
    """Read the name of a file or folder; an empty one, as an unset variable gives, would be the current folder.

    Raises:
        typer.BadParameter: it is empty.
    """
    if not text:
        raise typer.BadParameter("it is empty: name a place, or leave the option out")
    return Path(text)


# -- of every command --------------------------------------------------------------------------------------------------

ConfigFile = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="TOML file of settings, read over the defaults.")
]
DataDir = Annotated[
    str | None, typer.Option("--data-dir", metavar="DIR", help="Folder that holds everything Weft keeps.")
]
"""A text, as a variable has it: an empty one is refused, where an empty path would be the current folder."""
LogLevel = Annotated[
    Literal["debug", "info", "warning", "error"] | None,
    typer.Option("--log-level", help="The least level that is logged, to stderr."),
]
Json = Annotated[bool, typer.Option("--json", help="Write JSON, for programs.")]

# -- of what reads a page ----------------------------------------------------------------------------------------------

Trace = Annotated[bool, typer.Option("--trace", help="Show which tiers and selectors were tried.")]
Html = Annotated[bool, typer.Option("--html", help="Print the HTML of the page instead of Markdown.")]
MaxTier = Annotated[RenderTier, typer.Option("--max-tier", help="The most expensive tier allowed.")]
Tier = Annotated[RenderTier | None, typer.Option("--tier", help="Use this tier and no other.")]
SavedLogin = Annotated[
    str | None, typer.Option("--profile", help="The saved login to use, by its name; see: weft sessions.")
]
WaitFor = Annotated[str | None, typer.Option("--wait-for", metavar="CSS", help="Wait until the page has this element.")]
Scroll = Annotated[bool, typer.Option("--scroll", help="Scroll until no more of the page comes.")]
Overlays = Annotated[
    bool, typer.Option("--dismiss-overlays", help="Refuse consent banners, close what covers the page.")
]
Attempt = Annotated[
    list[str] | None,
    typer.Option("--attempt", metavar="ACTION", help="What was tried before, as an error says; may be repeated."),
]
Pages = Annotated[int, typer.Option("--pages", min=1, max=MAX_PAGES, help="Add the pages that follow, so many in all.")]
MaxLatency = Annotated[
    int, typer.Option("--max-latency-ms", min=1, max=MAX_LATENCY_MS, help="Milliseconds that the answer may take.")
]
Fresh = Annotated[
    Freshness,
    typer.Option(
        "--fresh", help="realtime: ask the site; cached: anything stored will do; any: stored while it is fresh."
    ),
]
MaxChars = Annotated[
    int | None,
    typer.Option("--max-chars", min=MIN_EXCERPT_CHARS, max=MAX_EXCERPT_CHARS, help="Characters of Markdown."),
]
Cursor = Annotated[str | None, typer.Option("--cursor", help="Go on where an excerpt ended.")]
SectionName = Annotated[str | None, typer.Option("--section", help="Heading of the one section to print.")]
Query = Annotated[str | None, typer.Option("--query", help="Words: print the passages that match best.")]

# -- of extract --------------------------------------------------------------------------------------------------------

Jsonl = Annotated[
    Path | None,
    typer.Option(
        "--jsonl", metavar="IN", help='Extract many: a line {"id", "url", "path"} for each page (HTML, plain or .gz).'
    ),
]
OutFolder = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="DIR", parser=named_place, help="Folder for ID.md and ID.json of each page of --jsonl."
    ),
]
Workers = Annotated[
    int, typer.Option("--workers", min=0, help="Processes for --jsonl; 0 is one for each core.", show_default=False)
]
PageUrl = Annotated[str, typer.Option("--url", help="Address of the page in a file, for its links.")]

# -- of runs -----------------------------------------------------------------------------------------------------------

InputFile = Annotated[
    str | None,
    typer.Option(
        "--input", metavar="FILE|-", help="JSON object of the inputs; - for what comes in.", show_default=False
    ),
]
BrowserSession = Annotated[
    str | None, typer.Option("--session", metavar="ID", help="Browser session to work in; it stays open.")
]
RunTimeout = Annotated[
    int | None,
    typer.Option("--timeout-ms", min=1, max=MAX_RUN_TIMEOUT_MS, help="Milliseconds that the run may take."),
]
KeptArtifacts = Annotated[
    list[ArtifactType] | None,
    typer.Option("--artifact", help="File to keep of the result; may be repeated. json unless it is given."),
]
Screenshots = Annotated[
    bool, typer.Option("--screenshots", help="Keep for a day how the page looks after each step in a browser.")
]
IdempotencyKey = Annotated[
    str | None,
    typer.Option("--idempotency-key", metavar="KEY", help="The same key within half an hour gives the same run."),
]
Detached = Annotated[bool, typer.Option("--async", help="Print the id of the run, and wait for nothing.")]


def read(config: Path | None, data_dir: str | None, log_level: str | None, /, **others: str | int | None) -> Loaded:
    """Read the settings as this command line wants them; `others` are further fields, None where not given.

    Raises:
        FaultError: CONFIG_INVALID.
    """
    overrides = {"data_dir": data_dir, "log_level": log_level, **others}
    return load(config_file=config, overrides=overrides, environ=os.environ)
