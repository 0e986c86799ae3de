"""`weft routes`: which models are asked for which tools, where a person says so, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import anyio
import msgspec
import typer

from actors.cli import terminal
from actors.cli.connection import at_gateway
from actors.cli.options import ConfigFile, DataDir, Json, LogLevel, read
from actors.cli.runs import ListByDefault
from actors.settings import Loaded
from protocol.faults import Code, FaultError, fault
from protocol.models import ModelName, Provider, RouteCandidate
from protocol.routes import Route, RouteChange, RouteTable, UnsetRoute

if TYPE_CHECKING:
    from actors.gateway.client import RouteAnswer

app = typer.Typer(cls=ListByDefault, rich_markup_mode=None)

Pattern = Annotated[
    str, typer.Argument(metavar="PATTERN", help="Name of a tool, or its beginning and a star: browser_tab_*.")
]


@app.command("list")
def list_routes(
    *,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """List the routes in the order in which they are tried, and the providers that can be asked."""
    table = anyio.run(_list, read(config, data_dir, log_level))
    if as_json:
        terminal.write(terminal.json_text(table))
        return
    rows = [(one.tool_pattern, f"{one.provider}/{one.model}", one.category or "", _origin(one)) for one in table.routes]
    terminal.print_rows(("TOOLS", "MODEL", "CATEGORY", "FROM"), rows)
    available = ", ".join(table.available) or "none; see: weft providers"
    terminal.err().print(f"Providers that can be asked: {available}", soft_wrap=True)


@app.command("set")
def set_route(  # noqa: PLR0913 - the options of a command
    pattern: Pattern,
    model: Annotated[
        str, typer.Argument(metavar="PROVIDER/MODEL", help="The model that they go to, such as openai/gpt-4o-mini.")
    ],
    *,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Send tools to a model, whatever the table says and is learned."""
    order = (_checked(pattern), model_name(model))
    _show(anyio.run(_set, read(config, data_dir, log_level), *order), as_json=as_json)


@app.command()
def unset(
    pattern: Pattern,
    *,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Take back where tools were sent."""
    _show(anyio.run(_unset, read(config, data_dir, log_level), _checked(pattern)), as_json=as_json)


@app.command()
def why(
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="Name of a tool, such as browser_click or web_answer.")],
    *,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Say which model would be asked for a tool, and why not the others; none is asked."""
    answer = anyio.run(_why, read(config, data_dir, log_level), tool)
    if as_json:
        terminal.write(terminal.json_text(answer))
        return
    terminal.write(f"{answer.provider}/{terminal.one_line(answer.model)} ({answer.reason})")
    if answer.candidates:
        heads = ("CANDIDATE", "CALLS", "SUCCESS", "USD A CALL", "WHY NOT")
        terminal.print_rows(heads, [_row(one) for one in answer.candidates], wrap_last=True)


def model_name(text: str) -> ModelName:
    """Read a model as it is named on a command line: openai/gpt-4o-mini.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, there is no such provider, or no model is named.
    """
    provider, _, model = text.partition("/")
    known = [one.value for one in Provider]
    if provider not in known:
        form = "a model is named PROVIDER/MODEL, and"
        raise _wrong(f"{text}: {form} there is no provider {provider!r}. {terminal.similar(provider, known)}")
    if not model:
        raise _wrong(f"{text}: name the model too, such as {provider}/MODEL")
    return ModelName(provider=Provider(provider), model=model)


async def _list(loaded: Loaded) -> RouteTable:
    async with at_gateway(loaded, or_private=True) as client:
        return await client.routes()


async def _why(loaded: Loaded, tool: str) -> RouteAnswer:
    async with at_gateway(loaded, or_private=True) as client:
        return await client.route(tool)


async def _set(loaded: Loaded, pattern: str, name: ModelName) -> RouteChange:
    async with at_gateway(loaded) as client:
        return await client.set_route(pattern, name)


async def _unset(loaded: Loaded, pattern: str) -> RouteChange:
    async with at_gateway(loaded) as client:
        return await client.unset_route(pattern)


def _checked(pattern: str) -> str:
    """Return a pattern that is one.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST.
    """
    try:
        return msgspec.convert({"pattern": pattern}, UnsetRoute).pattern
    except msgspec.ValidationError:
        raise _wrong(f"{pattern}: a name of a tool, or its beginning and one star at the end", "PATTERN") from None


def _show(change: RouteChange, *, as_json: bool) -> None:
    if as_json:
        terminal.write(terminal.json_text(change))
        return
    decision = change.decision
    model = f"{decision.provider}/{terminal.one_line(decision.model)}"
    terminal.write(f"{change.tool_pattern} goes to {model} ({decision.reason}).")


def _origin(route: Route) -> str:
    if not route.is_override:
        return "table"
    return "set" if route.manual else "learned"


def _row(one: RouteCandidate) -> tuple[str, ...]:
    rate = "" if one.success_rate is None else f"{one.success_rate:.0%}"
    cost = "" if one.cost_usd is None else f"{one.cost_usd:.5f}"
    return f"{one.name.provider}/{one.name.model}", str(one.calls), rate, cost, one.why_not


def _wrong(message: str, field: str = "PROVIDER/MODEL") -> FaultError:
    return FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field=field))
