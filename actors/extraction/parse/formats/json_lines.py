"""Reads JSON of one value a line."""

from __future__ import annotations

from itertools import islice

import msgspec

from actors.extraction.parse.formats import grids
from actors.extraction.parse.formats.found import Found, fenced
from protocol.confidence import Source


def read(text: str, url: str) -> Found | None:
    """Read lines of JSON; None where a line is none. The last may have been cut."""
    del url
    lines = [line.strip("\x1e \t\r") for line in text.split("\n")]
    lines = [line for line in lines if line]
    values: list[object] = []
    for number, line in enumerate(islice(lines, grids.MAX_ROWS)):
        try:
            values.append(msgspec.json.decode(line))
        except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
            if number == 0 or number < len(lines) - 1:
                return None
    if not values:
        return None
    markdown, left_out = fenced("\n".join(lines), "json")
    made = grids.of_records(values)
    return Found(
        markdown=markdown,
        text=text[: max(len(text) - left_out, 0)].strip(),
        source=Source.API_RESPONSE,
        tables=(made,) if made else (),
        left_out=left_out,
    )
