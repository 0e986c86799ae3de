"""`weft browse`: one page, as Weft reads it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import anyio
import msgspec
import typer

from actors.cli import terminal
from actors.cli.connection import EdgeRequest, find, private, send
from actors.cli.options import (
    Attempt,
    ConfigFile,
    DataDir,
    Fresh,
    Html,
    Json,
    LogLevel,
    MaxLatency,
    MaxTier,
    Overlays,
    Pages,
    SavedLogin,
    Scroll,
    Tier,
    Trace,
    WaitFor,
    read,
)
from actors.settings import Loaded
from protocol.browse import (
    DEFAULT_LATENCY_MS,
    DEFAULT_PAGES,
    BrowseOptions,
    BrowseResult,
    DecisionTrace,
    Freshness,
)
from protocol.codec import malformed
from protocol.faults import Code
from protocol.pages import BrowsePage
from protocol.tiers import TIERS

if TYPE_CHECKING:
    from rich.console import Console

ANSWER_MARGIN_S = 5.0


def browse(  # noqa: PLR0913 - the options of a command
    url: Annotated[str, typer.Argument(metavar="URL", help="Address of the page; https:// when it names no scheme.")],
    *,
    as_json: Json = False,
    trace: Trace = False,
    html: Html = False,
    max_tier: MaxTier = TIERS[-1],
    tier: Tier = None,
    profile: SavedLogin = None,
    wait_for: WaitFor = None,
    scroll: Scroll = False,
    dismiss_overlays: Overlays = False,
    pages: Pages = 1,
    max_latency_ms: MaxLatency = DEFAULT_LATENCY_MS,
    fresh: Fresh = Freshness.ANY,
    attempt: Attempt = None,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Read one page: Markdown, with a confidence on every field.

    Uses the running Weft, or starts a private one for this call. On a terminal the page is laid out; in a pipe it is
    plain Markdown; with --json it is the whole result.
    """
    options = _options(
        max_cost_tier=max_tier,
        force_tier=tier,
        session_profile=profile,
        wait_for_selector=wait_for,
        scroll_to_load=scroll,
        dismiss_overlays=dismiss_overlays,
        attempt=tuple(attempt or ()),
        **_pagination(pages),
        max_latency_ms=max_latency_ms,
        freshness_requirement=fresh,
        include_decision_trace=trace,
        include_html=html,
    )
    if "://" not in url and Path(url).is_file():
        raise typer.BadParameter(f"{url} is a file here: `weft extract` reads files", param_hint="URL")
    look_up(url, options, read(config, data_dir, log_level), as_json=as_json)


def _pagination(pages: int) -> dict[str, object]:
    return {"follow_pagination": pages > 1, "max_pages": pages if pages > 1 else DEFAULT_PAGES}


def _options(**chosen: object) -> BrowseOptions:
    """Make options of what was chosen on the command line, held to the same limits as those of a request."""
    try:
        return msgspec.convert(msgspec.to_builtins(BrowseOptions(**chosen)), BrowseOptions)  # type: ignore[arg-type]  # its own fields
    except msgspec.ValidationError as error:
        raise malformed(Code.VALIDATION_INVALID_REQUEST, str(error), BrowseOptions) from None


def look_up(url: str, options: BrowseOptions, loaded: Loaded, *, as_json: bool) -> None:
    """Read a page with the running Weft, or with a private one, and print it."""
    with terminal.err().status(f"Reading {terminal.one_line(url)}"):  # shown on a terminal only
        result = anyio.run(_result, loaded, url, options)
    _show(result, as_json=as_json, html=options.include_html)


async def _result(loaded: Loaded, url: str, options: BrowseOptions) -> BrowseResult:
    ready = await find(loaded.settings)
    if ready is None:
        return await _by_private(loaded, url, options)
    body = {"url": url, "options": options}
    timeout_s = options.max_latency_ms / 1000 + ANSWER_MARGIN_S
    request = EdgeRequest("POST", "/api/browse", body=body, timeout_s=timeout_s)
    return await send(loaded.settings, ready, request, BrowseResult)


async def _by_private(loaded: Loaded, url: str, options: BrowseOptions) -> BrowseResult:
    from importlib.metadata import version  # noqa: PLC0415 - costs 20 ms

    from actors.gateway.client import GatewayClient  # noqa: PLC0415 - imports the gateway

    async with private(loaded) as bus:
        return await GatewayClient(bus, version("weft")).browse(BrowsePage(url=url, options=options))


def _show(result: BrowseResult, *, as_json: bool, html: bool) -> None:
    if as_json:
        terminal.write(terminal.json_text(result))
        return
    console = terminal.out()
    if html:
        terminal.write(terminal.plain(result.content.html or ""))
    else:
        if console.is_terminal:
            _print_head(console, result)
        terminal.print_markdown(result.content.markdown)
    if result.decision_trace:
        _print_trace(result.decision_trace)


def _print_head(console: Console, result: BrowseResult) -> None:
    from rich.text import Text  # noqa: PLC0415 - costs 40 ms

    meta = result.metadata
    facts = [terminal.one_line(meta.final_url), meta.tier.value, f"{meta.load_time} ms"]
    if result.field_confidence:
        overall = result.field_confidence.overall
        facts.append(f"confidence {overall.score:.2f} ({overall.level.value})")
    title = terminal.one_line(result.title) or "(no title)"
    console.print(Text.assemble((title, "bold"), (f"  {' · '.join(facts)}", "dim")), soft_wrap=True)
    console.print()


def _print_trace(trace: DecisionTrace) -> None:
    from rich.table import Table  # noqa: PLC0415 - costs 40 ms

    rows = [("tier", t.tier.value, t.success, f"{t.duration_ms} ms", t.failure_reason) for t in trace.tiers]
    rows += [("content", s.selector, s.selected, f"{s.confidence_score:.2f}", s.skip_reason) for s in trace.selectors]
    rows += [("title", t.source, t.selected, f"{t.confidence_score:.2f}", t.skip_reason) for t in trace.title]
    table = Table("DECISION", "TRIED", "TAKEN", "TIME OR SCORE", "WHY NOT", box=None, pad_edge=False)
    for kind, tried, taken, figure, reason in rows:
        table.add_row(kind, terminal.one_line(tried), "yes" if taken else "no", figure, terminal.one_line(reason or ""))
    terminal.write("")
    terminal.table(table)
