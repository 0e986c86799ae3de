"""`weft tap` and `weft schema`: the packets on the bus as they pass, without their secrets, and the form they have."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Protocol, cast

import anyio
import msgspec
import typer

from actors.cli import terminal
from actors.cli.connection import connected
from actors.cli.options import ConfigFile, DataDir, Json, LogLevel, read
from actors.masking import mask_headers, mask_packet
from protocol import schemas

if TYPE_CHECKING:
    from bus.transport import BusMessage

SHORT_ID_CHARS = 8


class MessageSource(Protocol):
    """Where the messages that pass can be read."""

    def tap(self, subject: str = ">") -> AsyncIterator[BusMessage]:
        """Yield every message on the subject from now on."""
        ...


def tap(  # noqa: PLR0913 - the options of a command
    subject: Annotated[
        str, typer.Argument(metavar="SUBJECT", help="Subject, with the wildcards * and > of NATS.")
    ] = ">",
    *,
    as_json: Json = False,
    count: Annotated[int | None, typer.Option("--count", min=1, help="End after so many packets.")] = None,
    seconds: Annotated[float | None, typer.Option("--seconds", min=0, help="End after so many seconds.")] = None,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Show the packets that pass on the bus.

    One line each, until Ctrl-C; secrets are masked.

    Examples: weft tap · weft tap 'web.>' · weft tap --json | jq .packet
    """
    loaded = read(config, data_dir, log_level)

    async def follow() -> None:
        async with connected(loaded) as bus:
            with anyio.move_on_after(seconds):
                await listen(bus, subject, as_json=as_json, count=count)

    anyio.run(follow)


async def listen(source: MessageSource, subject: str, *, as_json: bool, count: int | None) -> None:
    """Print what passes, up to `count` messages."""
    passed = 0
    messages = source.tap(subject)
    try:
        async for message in messages:
            now = datetime.now(UTC)
            terminal.write(as_object_line(message, now) if as_json else as_line(message, now), flush=True)
            passed += 1
            if passed == count:
                return
    finally:
        if isinstance(messages, AsyncGenerator):
            await messages.aclose()


def as_object_line(message: BusMessage, now: datetime) -> str:
    """Write a message as one line of JSON; `packet` is null where the payload is none."""
    shown = {
        "time": now.isoformat(timespec="milliseconds"),
        "subject": message.subject,
        "headers": mask_headers(message.headers),
        "size": len(message.payload),
        "packet": _decoded(message.payload),
    }
    return terminal.json_text(shown, indent=0)


def as_line(message: BusMessage, now: datetime) -> str:
    """Write a message as one line for a person: what it is, who sent it, the conversation it belongs to, its size."""
    packet = _object(_decoded(message.payload))
    conversation = str(_object(packet.get("conversation")).get("id", "-"))[:SHORT_ID_CHARS]
    parts = (
        now.astimezone().strftime("%H:%M:%S.%f")[:-3],
        f"{message.subject:<28}",
        f"{_about(packet):<28}",
        f"{_object(packet.get('sender')).get('actor', '-')!s:<20}",
        f"{conversation:<{SHORT_ID_CHARS}}",
        f"{len(message.payload)} B",
    )
    return terminal.plain("  ".join(parts)).replace("\n", " ").replace("\t", " ")


def _about(packet: dict[str, Any]) -> str:
    if packet.get("type") == "request":
        return str(_object(_object(packet.get("input")).get("task")).get("name", "-"))
    answered = _object(packet.get("in_reply_to")).get("request_id")
    if answered is None:
        return "-"
    error = _object(packet.get("error")).get("code")
    return f"re {str(answered)[:SHORT_ID_CHARS]}{f' {error}' if error else ''}"


def _decoded(payload: bytes) -> Any:
    try:
        return mask_packet(msgspec.json.decode(payload))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _object(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def schema(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="One message, such as web.browse.request; without: all.")
    ] = None,
) -> None:
    """Print the JSON Schema of every message, or of one.

    Examples: weft schema | jq keys · weft schema edge.browse.result
    """
    known = schemas.message_types()
    if name is None:
        terminal.write(terminal.json_text(schemas.messages()))
    elif name in known:
        terminal.write(terminal.json_text(schemas.schema(known[name])))
    else:
        message = f"there is no message {name!r}. {terminal.similar(name, known)}"
        raise typer.BadParameter(message, param_hint="NAME")
