"""Makes what the engine is given of what sites have answered: never a redirect, and nothing that it cannot show."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

import msgspec

from actors.fetchers.lightweight import origins
from actors.fetchers.lightweight.following import Got
from actors.fetchers.web.client import Response

Pairs = tuple[tuple[str, str], ...]

HTML: Final[Pairs] = (("content-type", "text/html"),)
JSON_MODULE: Final = b"export default "
"""What makes JSON a module: the engine reads it as a script, which it is not, and says nothing."""

_INNER: Final = re.compile(rb"(<iframe\b[^>]{0,2000}?\s)srcdoc(\s*=)", re.IGNORECASE)
_HELD: Final = frozenset({"text/html", "application/xhtml+xml", "text/plain", "text/xml", "application/xml"})
"""What a frame can show; there is no text in what it cannot."""


@dataclass(frozen=True)
class Answer:
    """What the engine is given."""

    status: int
    headers: Pairs = ()
    body: bytes = b""


def headers_of(got: Got) -> Pairs:
    """Return the headers that the engine may have."""
    return origins.shown(got.response.headers.multi_items(), foreign=got.foreign)


def _media_type(response: Response) -> str:
    return response.content_type.partition(";")[0].strip().lower()


def is_json(response: Response) -> bool:
    """Whether an answer to a request for a script is JSON: a module that the engine cannot read."""
    kind = _media_type(response)
    return (
        kind in ("application/json", "text/json")
        or kind.endswith("+json")
        or (not kind and urlsplit(response.url).path.endswith(".json"))
    )


def shows(response: Response) -> bool:
    """Whether a frame can show an answer."""
    disposition = str(response.headers.get("content-disposition", ""))
    kind = _media_type(response)
    return not disposition.lower().startswith("attachment") and (not kind or kind in _HELD or kind.endswith("+xml"))


def without_inner_documents(body: bytes) -> tuple[bytes, int]:
    """Take from a document's frames what they hold in `srcdoc`; give how many there were."""
    return _INNER.subn(rb"\1data-srcdoc\2", body)


def onward(url: str) -> bytes:
    """Make the document that leads on to another address, as a redirect would, and leaves no trace in the history."""
    target = msgspec.json.encode(url).replace(b"<", b"\\u003c")
    return b"<script>location.replace(" + target + b")</script>"
