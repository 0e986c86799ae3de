"""`weft tools` and `weft tool`: every tool there is, and a call of one through the policy."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, cast

import anyio
import typer

from actors.cli import terminal
from actors.cli.connection import at_gateway
from actors.cli.options import ConfigFile, DataDir, Json, LogLevel, read
from actors.settings import Loaded
from protocol.faults import Code, FaultError, fault
from protocol.policy import ToolOutcome, ToolStatus
from protocol.schemas import schema
from protocol.tools.registry import TOOLS, find_anywhere
from protocol.tools.tool import Surface, Tool

if TYPE_CHECKING:
    from protocol.policy import Approval

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the tool, such as collection.create.")]
Given = Annotated[
    list[str] | None,
    typer.Argument(metavar="[JSON|KEY=VALUE]...", help='Its arguments: an object of JSON, or title="My reading" each.'),
]


def tools(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="One tool, with its arguments; without: all of them.")
    ] = None,
    *,
    as_json: Json = False,
) -> None:
    """List every tool, or show the arguments of one."""
    if name is not None:
        _show_tool(_named(name), as_json=as_json)
    elif as_json:
        terminal.write(terminal.json_text([_row(tool) for tool in TOOLS.values()]))
    else:
        terminal.print_rows(("TOOL", "RISK", "WHAT IT DOES"), [_row(one) for one in TOOLS.values()], wrap_last=True)


def tool(  # noqa: PLR0913 - the options of a command
    name: Name,
    given: Given = None,
    *,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Call a tool, if the policy allows it."""
    arguments = arguments_of(_named(name), given or [])
    outcome = anyio.run(_call, read(config, data_dir, log_level), name, arguments)
    if as_json:
        terminal.write(terminal.json_text(outcome))
    else:
        show_outcome(outcome)


async def _call(loaded: Loaded, name: str, arguments: Mapping[str, Any]) -> ToolOutcome:
    async with at_gateway(loaded) as client:
        return await client.call_tool(name, arguments)


def show_outcome(outcome: ToolOutcome) -> None:
    """Print what came of a call: its payload, or the approval that it waits for."""
    if outcome.status is ToolStatus.PENDING and outcome.approval is not None:
        show_waiting(outcome.approval)
    elif outcome.result is not None:
        terminal.write(terminal.json_text(outcome.result.payload))
        for document in outcome.result.documents:
            terminal.print_markdown(str(getattr(document.content, "markdown", "")))


def show_waiting(approval: Approval) -> None:
    """Say on stderr that a call waits, why, and how it is answered."""
    console = terminal.err()
    console.print(f"It waits for you: {terminal.one_line(approval.words)}", soft_wrap=True)
    console.print(f"  why: {terminal.one_line(approval.decision.why or approval.decision.reason_code)}", soft_wrap=True)
    console.print(f"  weft approvals allow {approval.id}", soft_wrap=True)
    console.print(f"  weft approvals deny {approval.id}", soft_wrap=True)


def arguments_of(called: Tool[Any], given: Iterable[str]) -> dict[str, Any]:
    """Read arguments as a command line has them: one object of JSON, or KEY=VALUE each.

    A value is text where the tool takes text there, and else JSON.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, for what is neither.
    """
    words = list(given)
    if len(words) == 1 and words[0].lstrip().startswith("{"):
        return _object(words[0])
    return typed_values(words, schema(called.arguments_on(Surface.CLI)).get("properties", {}))


def typed_values(words: Iterable[str], shapes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Read KEY=VALUE each: text where the schema of a property takes text, and else JSON, or text that is none.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, for what is no pair.
    """
    shapes = shapes or {}
    arguments: dict[str, Any] = {}
    for word in words:
        name, sign, value = word.partition("=")
        if not sign:
            raise _wrong(f"{word}: arguments are KEY=VALUE each, or one object of JSON", word)
        arguments[name] = _value(shapes.get(name, {}), value)
    return arguments


def _object(text: str) -> dict[str, Any]:
    try:
        read_value: Any = json.loads(text)
    except ValueError as error:
        raise _wrong(f"That is no JSON: {error}", "JSON") from None
    return cast("dict[str, Any]", read_value)


def _value(shape: Mapping[str, Any], text: str) -> Any:
    kinds = shape.get("anyOf", [shape])
    is_null = text == "null" and any(kind.get("type") == "null" for kind in kinds)
    if not is_null and any(_is_text(kind) for kind in kinds):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def _is_text(shape: Mapping[str, Any]) -> bool:
    return shape.get("type") == "string" or any(isinstance(one, str) for one in shape.get("enum", ()))


def _named(name: str) -> Tool[Any]:
    try:
        return find_anywhere(name)[0]
    except ValueError:
        raise _wrong(f"There is no tool {name!r}. {terminal.similar(name, list(TOOLS))}", "NAME") from None


def _row(one: Tool[Any]) -> tuple[str, ...]:
    return one.name, one.risk.value, one.description


def _show_tool(one: Tool[Any], *, as_json: bool) -> None:
    shape = schema(one.arguments_on(Surface.CLI))
    if as_json:
        terminal.write(terminal.json_text(shape))
        return
    terminal.write(f"{one.name}: {one.description}")
    required = shape.get("required", ())
    rows = [
        (name, str(kind.get("type", "")), "yes" if name in required else "", str(kind.get("description", "")))
        for name, kind in shape["properties"].items()
    ]
    terminal.print_rows(("ARGUMENT", "TYPE", "NEEDED", "MEANING"), rows, wrap_last=True)


def _wrong(message: str, field: str) -> FaultError:
    return FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field=field))
