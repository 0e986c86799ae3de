"""A request of the page as the engine announces it."""

from __future__ import annotations

import base64
import binascii
from typing import Any

import msgspec
from msgspec import Struct

_EVENT_STREAM = "text/event-stream"
_ENGINE_LANGUAGE = "en-US,en;q=0.9"


class PostData(Struct, frozen=True):
    """A piece of a body, in base64."""

    bytes: str = ""


class Request(Struct, frozen=True, rename="camel"):
    """What is asked for."""

    url: str
    method: str = "GET"
    headers: dict[str, str] = {}
    has_post_data: bool = False
    post_data_entries: tuple[PostData, ...] = ()


class Asked(Struct, frozen=True, rename="camel"):
    """Fetch.requestPaused."""

    request_id: str
    request: Request
    frame_id: str = ""
    resource_type: str = ""
    network_id: str = ""

    @property
    def url(self) -> str:
        """What is asked for, without its fragment."""
        return self.request.url.partition("#")[0]

    @property
    def headers(self) -> dict[str, str]:
        """What is to be sent along, without what the engine says of itself."""
        return {
            name: value
            for name, value in self.request.headers.items()
            if not (name.lower() == "accept-language" and value == _ENGINE_LANGUAGE)
        }

    @property
    def streams(self) -> bool:
        """Whether the answer would never end."""
        return any(name.lower() == "accept" and value == _EVENT_STREAM for name, value in self.headers.items())

    @property
    def cookies(self) -> str:
        """The cookies that the engine would send, but for their last character, which it loses."""
        return next((value for name, value in self.request.headers.items() if name.lower() == "cookie"), "")

    @property
    def body(self) -> bytes | None:
        """What is sent; None where the engine does not give it, as it is too large."""
        entries = self.request.post_data_entries
        if not entries:
            return None if self.request.has_post_data else b""
        try:
            return b"".join(base64.b64decode(entry.bytes, validate=True) for entry in entries)
        except binascii.Error:
            return None


def asked(params: dict[str, Any]) -> Asked:
    """Read the event.

    Raises:
        msgspec.ValidationError: if it is none.
    """
    return msgspec.convert(params, Asked)
