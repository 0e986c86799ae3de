"""MiniWoB++ out of its installed package, on an address of this machine: its tasks, and what an episode came to."""

from __future__ import annotations

import importlib.util
import secrets
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from mimetypes import guess_type
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Final
from urllib.parse import unquote, urlsplit

import msgspec
import pytest

PACKAGE: Final = "miniwob"
TASKS: Final = 130
BEGIN_S: Final = 30.0
REWARD_S: Final = 2.0
"""How long a reward may be on its way after the last action."""

_SCRIPT = b"<script>" + (Path(__file__).parent / "miniwob.js").read_bytes() + b"</script></head>"


class Told(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a page tells of its episode: what it asks, or what it came to (1 where all was done, below 0 where not)."""

    goal: str | None = None
    reward: float | None = None


@dataclass
class Episode:
    """One task with one seed: where it is, and what its page has told."""

    task: str
    seed: int
    url: str
    _goal: str = ""
    _reward: float | None = None
    _begun: Event = field(default_factory=Event)
    _ended: Event = field(default_factory=Event)

    def hear(self, told: Told) -> None:
        """Keep what the page tells; the first reward is the one that counts."""
        if told.goal is not None:
            self._goal = told.goal
            self._begun.set()
        if told.reward is not None and not self._ended.is_set():
            self._reward = told.reward
            self._ended.set()

    def goal(self) -> str:
        """Wait for what the page asks.

        Raises:
            TimeoutError: it has not begun.
        """
        if not self._begun.wait(BEGIN_S):
            raise TimeoutError(self.task)
        return self._goal

    @property
    def ended(self) -> bool:
        """Whether a reward was given."""
        return self._ended.is_set()

    def reward(self, wait_s: float = REWARD_S) -> float | None:
        """Wait for what it came to; None where nothing was judged."""
        self._ended.wait(wait_s)
        return self._reward

    @property
    def solved(self) -> bool:
        """Whether it was rewarded; a task without a reward is not."""
        return (self.reward() or 0.0) > 0.0


class MiniWob:
    """The pages of the tasks, and what was told of each episode."""

    def __init__(self, pages: Path) -> None:
        """Serve the pages of this folder."""
        self.pages = pages
        self.origin = ""
        self._episodes = dict[str, Episode]()
        self._lock = Lock()

    def episode(self, task: str, seed: int) -> Episode:
        """Return a new episode, which begins when its address is gone to."""
        name = secrets.token_hex(8)
        episode = Episode(task, seed, f"{self.origin}/miniwob/{task}.html?seed={seed}&episode={name}")
        with self._lock:
            self._episodes[name] = episode
        return episode

    def told(self, name: str, body: bytes) -> bool:
        """Hand on what a page tells of its episode; returns whether there is one of the name."""
        with self._lock:
            episode = self._episodes.get(name)
        if episode is not None:
            episode.hear(msgspec.json.decode(body, type=Told))
        return episode is not None

    def file(self, path: str) -> bytes | None:
        """Return a file of the package; a page of a task with what begins its episode."""
        place = (self.pages / unquote(path).lstrip("/")).resolve()
        if not place.is_relative_to(self.pages) or not place.is_file():
            return None
        body = place.read_bytes()
        return body.replace(b"</head>", _SCRIPT, 1) if place.parent.name == PACKAGE else body


@cache
def pages() -> Path:
    """Return the folder of the pages; skips the test where the package is not installed."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or not found.submodule_search_locations:
        pytest.skip("the pages of MiniWoB++ are not installed (requirements-data.lock)")
    return Path(found.submodule_search_locations[0]).resolve() / "html"


def tasks() -> tuple[str, ...]:
    """Return the names of all tasks; none where the package is not installed."""
    found = importlib.util.find_spec(PACKAGE)
    return tuple(sorted(page.stem for page in (pages() / PACKAGE).glob("*.html"))) if found else ()


@contextmanager
def miniwob() -> Generator[MiniWob]:
    """Serve the pages on 127.0.0.1 while the block lasts."""
    site = MiniWob(pages())

    class Pages(BaseHTTPRequestHandler):
        """Answers with files of the package, and takes what pages tell."""

        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            """Answer with a file."""
            path = urlsplit(self.path).path
            body, kind = site.file(path), guess_type(path)[0] or "text/plain"
            self.answer(404 if body is None else 200, body or b"", f"{kind}; charset=utf-8")

        def do_POST(self) -> None:
            """Take what a page tells."""
            body = self.rfile.read(int(self.headers["content-length"]))
            self.answer(204 if site.told(self.path.rpartition("/")[2], body) else 404, b"", "text/plain")

        def answer(self, status: int, body: bytes, kind: str) -> None:
            """Send an answer."""
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name is the library's
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        site.origin = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield site
        server.shutdown()
        thread.join()
