"""`weft browse`: one page, as Weft reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import anyio
import msgspec
import typer

from actors.cli import terminal
from actors.cli.errors import from_structured, not_running
from actors.cli.options import ConfigFile, DataDir, Json, LogLevel, read
from actors.cli.running import find, key_of, private
from actors.runtime.rundir import Ready
from actors.settings import Loaded, Settings
from protocol.browse import (
    DEFAULT_LATENCY_MS,
    DEFAULT_PAGES,
    MAX_LATENCY_MS,
    MAX_PAGES,
    BrowseOptions,
    BrowseResult,
    DecisionTrace,
    Freshness,
    StructuredError,
)
from protocol.faults import Code, FaultError, fault
from protocol.pages import BrowsePage
from protocol.tiers import TIERS, RenderTier

if TYPE_CHECKING:
    from rich.console import Console

ANSWER_MARGIN_S = 5.0
CONNECT_TIMEOUT_S = 5.0


def browse(  # noqa: PLR0913 - the options of a command
    url: Annotated[str, typer.Argument(metavar="URL", help="Address of the page; https:// when it names no scheme.")],
    *,
    as_json: Json = False,
    trace: Annotated[bool, typer.Option("--trace", help="Show which tiers and selectors were tried.")] = False,
    html: Annotated[bool, typer.Option("--html", help="Print the HTML of the page instead of Markdown.")] = False,
    max_tier: Annotated[RenderTier, typer.Option("--max-tier", help="The most expensive tier allowed.")] = TIERS[-1],
    tier: Annotated[RenderTier | None, typer.Option("--tier", help="Use this tier and no other.")] = None,
    profile: Annotated[
        str | None, typer.Option("--profile", help="The saved login to use, by its name; see: weft sessions.")
    ] = None,
    wait_for: Annotated[
        str | None, typer.Option("--wait-for", metavar="CSS", help="Wait until the page has this element.")
    ] = None,
    scroll: Annotated[bool, typer.Option("--scroll", help="Scroll until no more of the page comes.")] = False,
    pages: Annotated[
        int, typer.Option("--pages", min=1, max=MAX_PAGES, help="Add the pages that follow, so many in all.")
    ] = 1,
    max_latency_ms: Annotated[
        int, typer.Option("--max-latency-ms", min=1, max=MAX_LATENCY_MS, help="Milliseconds that the answer may take.")
    ] = DEFAULT_LATENCY_MS,
    fresh: Annotated[
        Freshness,
        typer.Option(
            "--fresh", help="realtime: ask the site; cached: anything stored will do; any: stored while it is fresh."
        ),
    ] = Freshness.ANY,
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
        follow_pagination=pages > 1,
        max_pages=pages if pages > 1 else DEFAULT_PAGES,
        max_latency_ms=max_latency_ms,
        freshness_requirement=fresh,
        include_decision_trace=trace,
        include_html=html,
    )
    look_up(url, options, read(config, data_dir, log_level), as_json=as_json)


def _options(**chosen: object) -> BrowseOptions:
    """Make options of what was chosen on the command line, held to the same limits as those of a request."""
    try:
        return msgspec.convert(msgspec.to_builtins(BrowseOptions(**chosen)), BrowseOptions)  # type: ignore[arg-type]  # its own fields
    except msgspec.ValidationError as error:
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, str(error))) from None


def look_up(url: str, options: BrowseOptions, loaded: Loaded, *, as_json: bool) -> None:
    """Read a page with the running Weft, or with a private one, and print it."""
    address = url if "://" in url else f"https://{url}"
    with terminal.err().status(f"Reading {terminal.one_line(address)}"):  # shown on a terminal only
        result = anyio.run(_result, loaded, address, options)
    _show(result, as_json=as_json, html=options.include_html)


async def _result(loaded: Loaded, url: str, options: BrowseOptions) -> BrowseResult:
    ready = await find(loaded.settings)
    if ready is None:
        return await _by_private(loaded, url, options)
    return await _by_rest(loaded.settings, ready, url, options)


async def _by_private(loaded: Loaded, url: str, options: BrowseOptions) -> BrowseResult:
    from importlib.metadata import version  # noqa: PLC0415 - costs 20 ms

    from actors.gateway.client import GatewayClient  # noqa: PLC0415 - imports the gateway

    async with private(loaded) as bus:
        return await GatewayClient(bus, version("weft")).browse(BrowsePage(url=url, options=options))


async def _by_rest(settings: Settings, ready: Ready, url: str, options: BrowseOptions) -> BrowseResult:
    import httpx2  # noqa: PLC0415 - costs 100 ms

    headers = {"Authorization": f"Bearer {key_of(settings, ready)}", "Content-Type": "application/json"}
    body = msgspec.json.encode({"url": url, "options": options})
    timeout = httpx2.Timeout(options.max_latency_ms / 1000 + ANSWER_MARGIN_S, connect=CONNECT_TIMEOUT_S)
    try:
        # trust_env off: no proxy has business between us and our own machine
        async with httpx2.AsyncClient(trust_env=False, timeout=timeout) as client:
            answer = await client.post(f"{ready.rest}/api/browse", content=body, headers=headers)
    except httpx2.TransportError:
        raise not_running(settings.data_dir, f"The Weft at {ready.rest} went away: none runs") from None
    return read_answer(answer.status_code, answer.content)


def read_answer(status: int, body: bytes) -> BrowseResult:
    """Read what POST /api/browse answered.

    Raises:
        FaultError: the one that the system told, or INTERNAL_ERROR for an answer that is neither.
    """
    try:
        if status == 200:  # noqa: PLR2004 - OK
            return msgspec.json.decode(body, type=BrowseResult)
        told = from_structured(msgspec.json.decode(body, type=StructuredError))
    except msgspec.DecodeError:
        told = fault(Code.INTERNAL_ERROR, f"The running Weft answered with status {status} and no readable body.")
    raise FaultError(told)


def _show(result: BrowseResult, *, as_json: bool, html: bool) -> None:
    if as_json:
        terminal.write(terminal.json_text(result))
        return
    console = terminal.out()
    if html:
        terminal.write(terminal.plain(result.content.html or ""))
    elif console.is_terminal:
        _lay_out(console, result)
    else:
        terminal.write(terminal.plain(result.content.markdown))
    if result.decision_trace:
        _print_trace(result.decision_trace)


def _lay_out(console: Console, result: BrowseResult) -> None:
    from rich.markdown import Markdown  # noqa: PLC0415 - costs 60 ms
    from rich.text import Text  # noqa: PLC0415 - as above

    meta = result.metadata
    facts = [terminal.one_line(meta.final_url), meta.tier.value, f"{meta.load_time} ms"]
    if result.field_confidence:
        overall = result.field_confidence.overall
        facts.append(f"confidence {overall.score:.2f} ({overall.level.value})")
    title = terminal.one_line(result.title) or "(no title)"
    console.print(Text.assemble((title, "bold"), (f"  {' · '.join(facts)}", "dim")), soft_wrap=True)
    console.print()
    # hyperlinks off: the address stands where it can be read
    console.print(Markdown(terminal.plain_markdown(result.content.markdown), hyperlinks=False))


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
