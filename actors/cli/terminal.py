"""What reaches the terminal: text of the web without its power over it, tables, JSON, errors, and the exit code."""

from __future__ import annotations

import difflib
import errno
import re
import shlex
import sys
import tempfile
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import IntEnum
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, cast

import msgspec
from msgspec import UNSET, structs

from protocol.actions import Action
from protocol.browse import DEFAULT_PAGES, StructuredError
from protocol.faults import Code, Fault, FaultError, fault

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

PIPE_COLUMNS = 1_000

MAX_TITLE_CHARS = 80

_SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor, clearing
    r"|\x1b[\]PX^_][^\x07\x1b\x9c]{0,4096}(?:\x07|\x1b\\|\x9c)"  # OSC, DCS, SOS, PM, APC: titles, links, clipboard
    r"|\x1b[ -/]{0,4}[0-~]?"
)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters except tab and newline, and those that turn the direction of writing around."""
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
"""A mark that Markdown has for itself (CommonMark 2.4)."""
_ENTITY = re.compile(r"&#(?:x([0-9a-f]{1,6})|([0-9]{1,7}));", re.IGNORECASE)
_UNITS = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))
_UNPRINTABLE_IN_JSON = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    """Take out of a text whatever would command a terminal instead of being read."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROL.sub("", _SEQUENCE.sub("", text))


def one_line(text: str) -> str:
    """Take out the same, and set the text in one line."""
    return " ".join(plain(text).split())


def cut(text: str) -> str:
    """Return a title as a line shows it: whole up to `MAX_TITLE_CHARS`."""
    line = one_line(text)
    return line if len(line) <= MAX_TITLE_CHARS else f"{line[: MAX_TITLE_CHARS - 1].rstrip()}…"


def plain_markdown(markdown: str) -> str:
    """Take out the same from Markdown that will be rendered: its entities stand for control characters, too."""
    return _ENTITY.sub(lambda match: "" if _stands_for_control(match) else match[0], plain(markdown))


def unescaped(markdown: str) -> str:
    """Take the same out of Markdown that is read as it stands, and the backslashes before its marks."""
    return _ESCAPE.sub(r"\1", plain(markdown))


def print_markdown(markdown: str) -> None:
    """Print Markdown: laid out on a terminal, as it stands in a pipe."""
    console = out()
    if not console.is_terminal:
        write(plain(markdown))
        return
    from rich.markdown import Markdown  # noqa: PLC0415 - costs 60 ms

    # hyperlinks off: the address stands where it can be read
    console.print(Markdown(plain_markdown(markdown), hyperlinks=False))


def out() -> Console:
    """Return the console of the answer; it has colours on a terminal only, and none with NO_COLOR."""
    from rich.console import Console  # noqa: PLC0415 - costs 40 ms

    return Console(markup=False, highlight=False, emoji=False)


def err() -> Console:
    """Return the console of everything that is not the answer."""
    from rich.console import Console  # noqa: PLC0415 - costs 40 ms

    return Console(stderr=True, markup=False, highlight=False, emoji=False)


def write(text: str, *, flush: bool = False) -> None:
    """Print an answer as it stands, without wrapping it to the width of a terminal."""
    sys.stdout.write(text if text.endswith("\n") else text + "\n")
    if flush:
        sys.stdout.flush()


def table(rows: Table) -> None:
    """Print a table; in a pipe each row is one line, however long."""
    console = out()
    if not console.is_terminal:
        console.width = PIPE_COLUMNS
    console.print(rows)


def print_rows(heads: Sequence[str], rows: Iterable[Sequence[str]], *, wrap_last: bool = False) -> None:
    """Print rows of texts below their heads; the last column alone may be wrapped."""
    from rich.table import Table  # noqa: PLC0415 - costs 40 ms

    shown = Table(box=None, pad_edge=False, header_style="bold")
    for head in heads:
        shown.add_column(one_line(head), no_wrap=not (wrap_last and head == heads[-1]))
    for row in rows:
        shown.add_row(*map(one_line, row))
    table(shown)


def similar(name: str, known: Collection[str]) -> str:
    """Say which of the known names is meant by one that is not, or which there are."""
    close = difflib.get_close_matches(name, known, n=1)
    return f"Did you mean {close[0]}?" if close else f"There are: {', '.join(known)}"


def duration_text(ms: int) -> str:
    """Write a duration in its largest unit and the next: 3d 4h, 5m 0s, 7s."""
    seconds = ms // 1000
    for (unit, size), (next_unit, next_size) in pairwise(_UNITS):
        if seconds >= size:
            return f"{seconds // size}{unit} {seconds % size // next_size}{next_unit}"
    return f"{seconds}s"


def json_text(value: Any, *, indent: int = 2) -> str:
    """Write a value as JSON, every character that a terminal would obey escaped; `indent` 0 is one line."""
    encoded = msgspec.json.encode(value)
    text = (msgspec.json.format(encoded, indent=indent) if indent else encoded).decode()
    return _UNPRINTABLE_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _stands_for_control(entity: re.Match[str]) -> bool:
    code = int(entity[1], 16) if entity[1] else int(entity[2])
    return code <= sys.maxunicode and _CONTROL.match(chr(code)) is not None


E = TypeVar("E", bound=BaseException)


class Exit(IntEnum):
    """The exit codes of `weft`; 2, wrong usage, is typer's own."""

    OK = 0
    FAILED = 1
    NOT_RUNNING = 3
    PARTIAL = 4
    INTERRUPTED = 130


class NotRunningError(FaultError):
    """No Weft runs, or none that can be reached."""


@contextmanager
def writing(path: Path, field: str) -> Generator[None]:
    """Say of a file or folder that cannot be written what is wrong with it, in the option or argument `field`."""
    try:
        yield
    except OSError as error:
        message = f"{path}: {error.strerror or error}; name a place that can be written"
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field=field)) from None


def check_folder(folder: Path, field: str) -> None:
    """See before the work whether files can be written to a folder, which is made for that alone if there is none.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, as `writing` says.
    """
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    with writing(folder, field):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        finally:
            for one in filter(Path.exists, missing):
                one.rmdir()


def check_file(path: Path, field: str) -> None:
    """See before the work whether a file can be written, or written anew, in a folder that there is.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, as `writing` says.
    """
    with writing(path, field):
        if path.exists() and not path.is_file():
            raise FileExistsError(errno.EEXIST, "It is no file")
        tempfile.TemporaryFile(dir=path.parent).close()


def not_running(data_dir: Path, why: str = "No Weft runs") -> NotRunningError:
    """Make the error for a system that is looked for under `data_dir`, with its cure."""
    start = Action(action="start", description="Start Weft in another terminal: weft up")
    other = Action(
        action="choose_data_dir",
        description="If it runs with another data folder, name it: --data-dir DIR, or WEFT_DATA_DIR.",
        priority=2,
    )
    message = f"{why} with the data folder {data_dir}."
    return NotRunningError(fault(Code.INTERNAL_UNAVAILABLE, message, actions=(start, other)))


def other_key(data_dir: Path, origin: str) -> NotRunningError:
    """Make the error for a system that runs under `data_dir`, which `origin` gives another key than its own."""
    description = f"Leave {origin} unset, or set what stands in {data_dir / 'api-key'}."
    message = f"The API key that {origin} sets is not that of the Weft that runs with the data folder {data_dir}."
    actions = (Action(action="fix_setting", description=description),)
    return NotRunningError(fault(Code.INTERNAL_UNAVAILABLE, message, field="api_key", actions=actions))


def unreachable(data_dir: Path, nats: str) -> NotRunningError:
    """Make the error for a system that runs under `data_dir`, on a NATS that this program does not reach."""
    join = Action(
        action="join_nats",
        description="If it was started with --nats, give this program the same: WEFT_NATS_URL, and WEFT_NATS_KEYS "
        "where there are keys.",
    )
    again = Action(action="retry", description="Wait a moment and try again: its NATS may be starting.", priority=2)
    message = f"The Weft that runs with the data folder {data_dir} cannot be reached at {nats}."
    return NotRunningError(fault(Code.INTERNAL_UNAVAILABLE, message, actions=(join, again)))


def not_joined(why: str) -> NotRunningError:
    """Make the error for a NATS that the settings name, and that this program cannot join."""
    doctor = Action(action="check_settings", description="See what is missing, and its cure: weft doctor")
    again = Action(action="retry", description="Wait a moment and try again: that NATS may be starting.", priority=2)
    return NotRunningError(fault(Code.INTERNAL_UNAVAILABLE, f"nats_url: {why}", actions=(doctor, again)))


def first(error: BaseException, kind: type[E]) -> E | None:
    """Find the exception of a kind that an exception is, or that the group of a task group holds."""
    return next((one for one in _flat(error) if isinstance(one, kind)), None)


def exit_code(error: FaultError) -> Exit:
    """Return the exit code of an error."""
    return Exit.NOT_RUNNING if isinstance(error, NotRunningError) else Exit.FAILED


def show(shown: Fault, *, as_json: bool) -> None:
    """Print a fault, with the command line of what can be done by one: JSON on stdout for programs, else on stderr."""
    lines = (structs.replace(action, command=command_line(action, as_json=as_json)) for action in shown.actions)
    actions = tuple(sorted(lines, key=lambda action: action.priority))
    if as_json:
        from actors.gateway.client import to_error  # noqa: PLC0415 - imports the gateway

        write(json_text(to_error(structs.replace(shown, actions=actions))))
        return
    console = err()
    console.print(f"error: {one_line(shown.message)} [{shown.code}]", style="bold red", soft_wrap=True)
    for number, action in enumerate(actions, start=1):
        console.print(f"  {number}. {one_line(action.description)}", soft_wrap=True)
        if action.command:
            console.print(f"     {one_line(action.command)}", soft_wrap=True)


def command_line(action: Action, *, as_json: bool = False) -> str | None:
    """Return an action as a line for a shell; None where it is no call, or one that the command line cannot make."""
    given = dict(action.parameters or {})
    words: list[str] | None = None
    if action.tool_to_use == "browse" and isinstance(given.get("url"), str):
        words = _browse_words(given["url"], given.get("options", {}))
    elif action.tool_to_use == "refresh_session" and "domain" in given:
        words = ["sessions", "refresh", given["domain"], "--profile", given["profile"]]
    if words is None:
        return None
    return shlex.join(["weft", *words, *["--json"] * as_json])


def _browse_words(url: str, options: Mapping[str, Any]) -> list[str] | None:
    words = ["browse", url]
    pages = ["--pages", str(options.get("maxPages", DEFAULT_PAGES))] if options.get("followPagination") else []
    for name, value in options.items():
        if name in ("followPagination", "maxPages"):
            continue
        flag = FLAGS.get(name)
        if flag is None:
            return None
        values: Sequence[Any] = cast("Sequence[Any]", value) if isinstance(value, list | tuple) else (value,)
        words += [flag] if value is True else [word for one in values for word in (flag, str(one))]
    return words + pages


FLAGS: Mapping[str, str] = MappingProxyType(
    {
        "maxCostTier": "--max-tier",
        "forceTier": "--tier",
        "sessionProfile": "--profile",
        "maxLatencyMs": "--max-latency-ms",
        "freshnessRequirement": "--fresh",
        "includeDecisionTrace": "--trace",
        "includeHtml": "--html",
        "waitForSelector": "--wait-for",
        "scrollToLoad": "--scroll",
        "dismissOverlays": "--dismiss-overlays",
        "attempt": "--attempt",
    }
)
"""The flags of `weft browse`, by the option that each stands for."""


def from_structured(error: StructuredError) -> Fault:
    """Return the fault of an error that the edge answered with."""
    return Fault(
        category=error.category,
        code=error.code,
        message=error.error,
        retryable=error.retryable,
        actions=error.recommended_actions,
        http_status=None if error.http_status is UNSET else error.http_status,
        field=None if error.field is UNSET else error.field,
        context=None if error.context is UNSET else error.context,
    )


def _flat(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            yield from _flat(inner)
    else:
        yield error
