"""`weft export` and `weft replay`: a recorded conversation as a file, and done again without a network."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import anyio
import msgspec
import typer

from actors.cli import terminal
from actors.cli.connection import EdgeRequest, ask_edge
from actors.cli.options import ConfigFile, DataDir, Json, LogLevel, read
from actors.cli.terminal import Exit
from actors.settings import Loaded
from protocol.codec import Decoder
from protocol.faults import Code, FaultError, fault
from protocol.recordings import ConversationRecording, RecordingList

if TYPE_CHECKING:
    from actors.replay.replaying import Replayed

MAX_SHOWN = 40

_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def export(  # noqa: PLR0913 - the options of a command
    name: Annotated[
        str | None, typer.Argument(metavar="ID", help="One conversation; without: which ones are recorded.")
    ] = None,
    *,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write; otherwise stdout.")] = None,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Write a recorded conversation to a file.

    Another Weft replays it, or the next version of this one.

    It has the packets, secrets masked, and what sites answered. Recorded is what was done while the setting
    record_conversations was true; an answer of REST names its conversation in the header X-Conversation-Id.

    Examples: weft export · weft export 2f1c… -o bug.json
    """
    loaded = read(config, data_dir, log_level)
    if output is not None:
        terminal.check_file(output, "--output")
    if name is None:
        _show_list(anyio.run(_list, loaded), as_json=as_json)
        return
    written = msgspec.json.encode(anyio.run(_get, loaded, name))
    if output is None:
        terminal.write(written.decode())
    else:
        with terminal.writing(output, "--output"):
            output.write_bytes(written)


def replay(
    source: Annotated[str, typer.Argument(metavar="ID|FILE", help="A conversation of the running Weft, or a file.")],
    *,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Do a recorded conversation again, and say what differs.

    The actors of this version work in a system of their own, without a network; sites, browsers and models answer as
    they did then, and every packet is compared.
    Ends with 0 where every packet is the same but for ids and times, else with 4.

    Examples: weft replay bug.json · weft replay 2f1c…
    """
    from actors.cli.connection import quiet  # noqa: PLC0415 - imports structlog with the bus
    from actors.replay.replaying import replay as replay_recording  # noqa: PLC0415 - imports actors

    loaded = read(config, data_dir, log_level)
    quiet(loaded, "error")
    path = Path(source)
    if not path.is_file() and not _ID.fullmatch(source):
        message = f"There is no file {source}, and it is no id of a conversation, as `weft export` lists them."
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="source"))
    recording = read_recording(path) if path.is_file() else anyio.run(_get, loaded, source)
    sys.addaudithook(_refuse_network)
    replayed = anyio.run(replay_recording, recording)
    if as_json:
        terminal.write(terminal.json_text(replayed))
    else:
        _show(replayed)
    if replayed.differences:
        raise typer.Exit(Exit.PARTIAL)


def _refuse_network(event: str, _arguments: object) -> None:
    """Refuse what would leave this process: no actor asks the outside in a replay, and none is let."""
    if event in {"socket.connect", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname"}:
        msg = "a replay has no network"
        raise PermissionError(msg)


def read_recording(path: Path) -> ConversationRecording:
    """Read a file of `weft export`.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, it is none.
    """
    try:
        return Decoder[ConversationRecording](ConversationRecording, Code.VALIDATION_INVALID_REQUEST).decode(
            path.read_bytes()
        )
    except OSError as error:
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, f"{path} cannot be read: {error}")) from None


async def _list(loaded: Loaded) -> RecordingList:
    return await ask_edge(loaded, EdgeRequest("GET", "/api/recordings"), RecordingList)


async def _get(loaded: Loaded, name: str) -> ConversationRecording:
    return await ask_edge(loaded, EdgeRequest("GET", f"/api/recordings/{name}"), ConversationRecording)


def _show_list(listed: RecordingList, *, as_json: bool) -> None:
    if as_json:
        terminal.write(terminal.json_text(listed))
        return
    from bus.clock import now_ms  # noqa: PLC0415 - imports the bus

    now = now_ms()
    rows = [
        (
            one.id,
            f"{terminal.duration_text(max(now - one.began_at, 0))} ago",
            str(one.entries),
            str(one.bytes),
            one.first,
        )
        for one in listed.recordings
    ]
    terminal.print_rows(("CONVERSATION", "BEGAN", "ENTRIES", "BYTES", "FIRST"), rows, wrap_last=True)
    if not listed.recording:
        terminal.write("Nothing is recorded now: set record_conversations = true.")


def _show(replayed: Replayed) -> None:
    done = replayed.packets - replayed.given
    by = f" by {', '.join(replayed.actors)}" if replayed.actors else ""
    words = f"{replayed.packets} packets: {done} done again{by}, {replayed.given} as recorded"
    terminal.write(f"{words}; {replayed.outside} answers of the outside.")
    if replayed.withheld:
        terminal.write(f"{replayed.withheld} answers are left out of the recording: they were read with a login.")
    if replayed.lost:
        terminal.write(f"{replayed.lost} entries were lost while it was recorded.")
    for one in replayed.differences[:MAX_SHOWN]:
        terminal.write(terminal.one_line(f"{one.actor} {one.kind} {one.name} {one.place}"))
        terminal.write(terminal.one_line(f"  recorded: {one.recorded or '-'}"))
        terminal.write(terminal.one_line(f"  replayed: {one.replayed or '-'}"))
    if len(replayed.differences) > MAX_SHOWN:
        terminal.write(f"… and {len(replayed.differences) - MAX_SHOWN} more (--json has all).")
    if not replayed.differences:
        terminal.write(
            "What was done again is the same, ids and times aside." if done else "Nothing of it is done again."
        )
