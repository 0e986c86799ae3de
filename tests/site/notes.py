"""Pages without number, each another one, for who asks for many: articles of real size, and panels to compare."""

from __future__ import annotations

import html
import random
from collections.abc import Callable
from functools import lru_cache

from tests.site.answers import Answer, Ask, Reply, text

NO_STORE = (("Cache-Control", "no-store"),)
PARAGRAPHS, LINKS, SAID = 28, 120, 20
"""What makes a page of some 50 KB, as articles on the web have: text, ways elsewhere, and what readers said."""

_TALK = (
    "loom warp weft shuttle reed heddle thread spindle distaff wool linen cotton silk dye vat madder weld woad mordant "
    "yarn cone bobbin beam treadle pedal cloth selvedge twill satin tabby herringbone fringe knot hem seam pattern "
    "weaver spinner dyer fuller merchant market river mill wheel winter summer morning evening window lamp bench floor "
    "hand finger eye patience mistake repair measure count length width weight colour light shade grey red blue yellow "
    "slowly carefully never always often seldom before after between beneath beside against without because although"
)
_WORDS = _TALK.split()
_PAGE = (
    "<!doctype html><html lang=en><head><meta charset=utf-8><title>{title}</title>"
    "<meta name=author content='Ann Weaver'><meta name=description content='What note {number} says.'>"
    "<style>{style}</style></head><body><header><nav><ul>{links}</ul></nav></header>"
    "<main><article><h1>{title}</h1>{text}</article></main>"
    "<aside><h2>More notes</h2><ul>{links}</ul></aside>"
    "<section id=comments><h2>What was said</h2>{said}</section><footer><p>Kept at the mill.</p></footer></body></html>"
)
_SHELL = (
    "<!doctype html><html lang=en><head><title>A note</title></head><body><div id=root></div>"
    "<script>fetch('/note-text/{number}').then((answer) => answer.text()).then((words) => {{"
    "document.title = 'Note {number}'; document.getElementById('root').innerHTML = words; }});</script></body></html>"
)
_PANEL = (
    "<!doctype html><html lang=en><head><title>{title}</title></head><body><main><h1>A panel</h1>{sections}{buttons}"
    "</main></body></html>"
)


def title(number: int) -> str:
    """Return the title of a note."""
    return f"Note {number}"


def _note(ask: Ask) -> Answer:
    """Answer /note/NUMBER with an article of its own, after `ms`."""
    return Reply(
        200,
        _article(int(ask.rest)),
        (("Content-Type", "text/html; charset=utf-8"), *NO_STORE),
        after_ms=ask.number("ms", 0),
    )


@lru_cache(maxsize=512)
def _article(number: int) -> bytes:
    draw = random.Random(number)  # the same words for the same number
    links = "".join(
        f"<li><a href=/note/{1_000_000 + draw.randrange(10**6)} class='link link--quiet'>{_some(draw, 4)}</a></li>"
        for _ in range(LINKS)
    )
    said = "".join(
        f"<div class=comment id=c{at}><b>{_some(draw, 2)}</b><p>{_some(draw, 30)}</p></div>" for at in range(SAID)
    )
    style = "".join(f".{_some(draw, 1)}-{at}{{margin:{at}px;padding:{at}px;color:#123}}" for at in range(120))
    written = _PAGE.format(
        title=title(number), number=number, style=style, links=links, text=_paragraphs(draw), said=said
    )
    return written.encode()


def _paragraphs(draw: random.Random) -> str:
    parts: list[str] = []
    for at in range(PARAGRAPHS):
        if at % 5 == 0:
            parts.append(f"<h2>{_some(draw, 3).capitalize()}</h2>")
        sentences = (f"{_some(draw, draw.randrange(8, 20)).capitalize()}." for _ in range(6))
        parts.append(f"<p>{' '.join(sentences)} <a href=/note/{at}>{_some(draw, 2)}</a></p>")
    return "".join(parts)


def _some(draw: random.Random, count: int) -> str:
    return " ".join(draw.choices(_WORDS, k=count))


def _panel(ask: Ask) -> Answer:
    """Answer /panel with the `title`, the `heads` (parted by commas) and as many `buttons` as the query says."""
    heads = [head for head in ask.query.get("heads", "").split(",") if head]
    sections = "".join(
        f"<section><h2>{html.escape(head)}</h2><p>{_some(random.Random(head), 60)}.</p></section>" for head in heads
    )
    buttons = "".join(f"<button id=b{at}>Press {at}</button>" for at in range(ask.number("buttons", 0)))
    named = html.escape(ask.query.get("title", "Panel"))
    return text(_PANEL.format(title=named, sections=sections, buttons=buttons), headers=NO_STORE)


NOTES: tuple[tuple[str, Callable[[Ask], Answer]], ...] = (
    ("/note", _note),
    ("/note-shell", lambda ask: text(_SHELL.format(number=int(ask.rest)), headers=NO_STORE)),
    ("/note-text", lambda ask: text(f"<article>{_paragraphs(random.Random(int(ask.rest)))}</article>")),
    ("/panel", _panel),
)
