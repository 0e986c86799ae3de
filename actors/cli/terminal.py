"""What reaches the terminal: text of the web without its power over the terminal, and JSON."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

PIPE_COLUMNS = 1_000

_SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor, clearing
    r"|\x1b[\]PX^_][^\x07\x1b\x9c]{0,4096}(?:\x07|\x1b\\|\x9c)"  # OSC, DCS, SOS, PM, APC: titles, links, clipboard
    r"|\x1b[ -/]{0,4}[0-~]?"
)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters except tab and newline, and those that turn the direction of writing around."""
_ENTITY = re.compile(r"&#(?:x([0-9a-f]{1,6})|([0-9]{1,7}));", re.IGNORECASE)
_UNPRINTABLE_IN_JSON = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    """Take out of a text whatever would command a terminal instead of being read."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROL.sub("", _SEQUENCE.sub("", text))


def one_line(text: str) -> str:
    """Take out the same, and set the text in one line."""
    return " ".join(plain(text).split())


def plain_markdown(markdown: str) -> str:
    """Take out the same from Markdown that will be rendered: its entities stand for control characters, too."""
    return _ENTITY.sub(lambda found: "" if _stands_for_control(found) else found[0], plain(markdown))


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


def json_text(value: Any, *, indent: int = 2) -> str:
    """Write a value as JSON, every character that a terminal would obey escaped; `indent` 0 is one line."""
    encoded = msgspec.json.encode(value)
    text = (msgspec.json.format(encoded, indent=indent) if indent else encoded).decode()
    return _UNPRINTABLE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _stands_for_control(entity: re.Match[str]) -> bool:
    code = int(entity[1], 16) if entity[1] else int(entity[2])
    return code <= sys.maxunicode and _CONTROL.match(chr(code)) is not None
