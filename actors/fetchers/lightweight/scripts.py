"""Writes the scripts that run beside a page's own."""

from __future__ import annotations

import importlib.resources
from collections.abc import Mapping
from functools import cache

import msgspec

from protocol.sessions import OriginStorage

MAX_HTML_CHARS = 8_000_000
MAX_TEXT_CHARS = 20_000
MAX_STORED_CHARS = 5_000_000


def watching(name: str, agent: str, stored: Mapping[str, OriginStorage], *, alarm: str, console: bool) -> str:
    """Return what is injected before every script; the page answers to `name` afterwards.

    `alarm` is asked for before a frame runs that the page wanted to be confined, and a path of it when such a frame is
    left out; without it frames are as the engine has them.
    """
    kept = {
        origin: {"local": storage.local_storage, "session": storage.session_storage}
        for origin, storage in stored.items()
    }
    watch = _called("watch.js", {"name": name, "agent": agent, "console": console, "storage": kept})
    return watch + _called("confine.js", alarm) if alarm else watch


def reading() -> str:
    """Return what writes the document, and counts what is in it."""
    return _called("read.js", MAX_HTML_CHARS, MAX_TEXT_CHARS)


def keeping() -> str:
    """Return what tells the storage of the page's origin."""
    return _called("keep.js", MAX_STORED_CHARS)


def more(*, press: bool) -> str:
    """Return what scrolls on, and presses what loads more."""
    return _called("more.js", press)


def found(selector: str) -> str:
    """Return what tells whether an element is there; a selector that is none is not."""
    return f"(() => {{ try {{ return !!document.querySelector({_literal(selector)}); }} catch {{ return false; }} }})()"


def _called(file: str, *arguments: object) -> str:
    return f"({_source(file)})({','.join(_literal(argument) for argument in arguments)});"


def _literal(value: object) -> str:
    return msgspec.json.encode(value).decode().replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


@cache
def _source(file: str) -> str:
    text = (importlib.resources.files(__package__ or "") / "script" / file).read_text("utf-8")
    return "\n".join(line for line in text.splitlines() if not line.startswith("//")).strip()
