"""Pages that are not to be had at first: each heals after so many calls, after a time, or for whoever asks rightly.

The time is that of whoever follows the advice, who tells it here: nobody sleeps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from email.utils import formatdate
from http import HTTPStatus
from time import time

from tests.site.answers import Answer, Ask, Break, Drip, Headers, Reply, text
from tests.site.stand_ins import STAND_INS

WORDS = "The cloth is woven again: every thread of the warp lies beside the next, and the weft holds them. " * 12
NEVER = 1_000_000

_SHELL = (
    "<!doctype html><html lang=en><title>Cloth</title><div id=root></div><script>const main = "
    "document.createElement('main'); main.innerHTML = '<article><h1>Cloth</h1><p>%s</p></article>'; "
    "document.getElementById('root').append(main);%s</script></html>"
)
_SCRIPTED = (
    "<!doctype html><html lang=en><title>Cloth</title><main><article><h1>Cloth</h1><p>%s</p></article></main>"
    "<script>%s</script></html>"
)
_GL = "const gl = document.createElement('canvas').getContext('webgl');"
_FORM = (
    "<html lang=en><title>Log in</title><main><h1>Log in</h1><form action=/login><input name=user>"
    "<input type=password name=password><button>Log in</button></form></main></html>"
)
_LOOP = "while (true);"
_DEEP = (
    "let deep = document.body; for (let i = 0; i < 20000; i++) "
    "{ const inner = document.createElement('div'); deep.append(inner); deep = inner; } deep.append('End.')"
)
"""A tree so deep that the renderer of Chromium ends when it lays it out."""

_REFUSED = (
    "<script>document.querySelectorAll('button')[1].onclick = () => "
    "{ document.querySelector('main').innerHTML = '<article><h1>Cloth</h1><p>%s</p></article>'; }</script>"
)
_CHALLENGE = (
    "<!doctype html><html lang=en><title>Just a moment...</title><h1>Checking your browser</h1>"
    "<script src=/cdn-cgi/challenge-platform/h/b/orchestrate/jsch/v1></script></html>"
)


@dataclass
class Course:
    """How far somebody is with one page: the calls that were made, and the seconds that passed between them."""

    calls: int = 0
    now_s: float = 0.0


COURSES: dict[str, Course] = {}


@dataclass(frozen=True)
class Ailment:
    """What a page has: it answers with `ill` until so many `calls` have failed, or so many seconds have passed.

    With `cure` it is well for whoever asks so; what never heals has `calls` NEVER.
    """

    ill: Callable[[Ask], Answer]
    calls: int = 1
    seconds: float = 0.0
    cure: Callable[[Ask], bool] | None = None


def well(_: Ask) -> Answer:
    """Answer with the page."""
    return text(
        f"<html lang=en><title>Cloth</title><main><article><h1>Cloth</h1><p>{WORDS}</p></article></main></html>"
    )


def status(number: int, headers: Headers = ()) -> Callable[[Ask], Answer]:
    """Answer with a status; those that HTTP does not know are written by hand."""
    try:
        phrase = HTTPStatus(number).phrase
    except ValueError:
        body = b"<h1>Denied</h1>"
        return lambda _: Break(b"HTTP/1.1 %d Denied\r\nContent-Length: %d\r\n\r\n%s" % (number, len(body), body))
    return lambda _: text(f"<html><body><h1>{number} {phrase}</h1></body></html>", status=number, headers=headers)


def later(number: int, seconds: int) -> Callable[[Ask], Answer]:
    """Answer with a status, and a date in so many seconds to come back at."""

    def ill(ask: Ask) -> Answer:
        return status(number, (("Retry-After", formatdate(time() + seconds, usegmt=True)),))(ask)

    return ill


def broken(sent: bytes = b"", *, reset: bool = False) -> Callable[[Ask], Answer]:
    """Break off after these bytes."""
    return lambda _: Break(sent, reset=reset)


def slow(ms: int) -> Callable[[Ask], Answer]:
    """Answer with the page, late."""
    return lambda ask: Reply(200, _body(ask), (("Content-Type", "text/html"),), after_ms=ms)


def dripping(ask: Ask) -> Answer:
    """Answer byte by byte, without an end in sight."""
    del ask
    return Drip(2_000, 50)


def silent(ask: Ask) -> Answer:
    """Answer nothing at all."""
    del ask
    return Reply(200, after_ms=600_000)


def hung(words: str = WORDS) -> Callable[[Ask], Answer]:
    """Answer with a page whose script never ends."""
    return lambda _: text(_SCRIPTED % (words, _LOOP))


def crashing(_: Ask) -> Answer:
    """Answer with a page that brings its renderer down."""
    return text(_SCRIPTED % (WORDS, _DEEP))


def stand_in(name: str, script: str = "") -> Callable[[Ask], Answer]:
    """Answer with what stands in the place of a page, as `tests/site/stand_ins.py` has it."""
    return lambda _: text(STAND_INS[name][1] + script)


def consent(ask: Ask) -> Answer:
    """Answer with a wall of consent that gives way to who refuses."""
    return stand_in("consent_wall.nl", _REFUSED % WORDS)(ask)


def shell(gl: bool = False) -> Callable[[Ask], Answer]:  # noqa: FBT001, FBT002 - read as a word
    """Answer with a page that its scripts make; with `gl` they want what only a browser has."""
    return lambda _: text(_SHELL % (WORDS, _GL if gl else ""))


def empty(_: Ask) -> Answer:
    """Answer with a page without a word."""
    return text("<html lang=en><title></title><body></body></html>")


def challenge(_: Ask) -> Answer:
    """Answer with a challenge to programs."""
    return text(_CHALLENGE, status=403, headers=(("Server", "cloudflare"),))


def wall(_: Ask) -> Answer:
    """Answer with a login form."""
    return text(_FORM, status=401, headers=(("Cache-Control", "no-store"),))


def home(_: Ask) -> Answer:
    """Lead to the home page."""
    return Reply(302, headers=(("Location", "/"), ("Cache-Control", "no-store")))


def in_browser(ask: Ask) -> bool:
    """Return whether a real browser asks."""
    return "sec-ch-ua" in ask.headers


def logged_in(ask: Ask) -> bool:
    """Return whether a saved login was sent along."""
    return "healer=" in ask.headers.get("cookie", "")


AILMENTS: dict[str, Ailment] = {}
"""What the page of a name has."""


def answer_healing(ask: Ask) -> Answer:
    """Answer /healing/NAME/page."""
    name = ask.rest.split("/")[0]
    ailment, course = AILMENTS[name], COURSES.setdefault(name, Course(1))
    if ailment.cure is not None:
        return well(ask) if ailment.cure(ask) else ailment.ill(ask)
    healed = course.calls > ailment.calls and course.now_s >= ailment.seconds
    return well(ask) if healed else ailment.ill(ask)


def _body(ask: Ask) -> bytes:
    reply = well(ask)
    return reply.body if isinstance(reply, Reply) else b""
