"""What is no HTML: PDFs, images, Markdown; and pages that offer themselves in Markdown."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from io import BytesIO

from PIL import Image

from tests.site.answers import HTML, Answer, Ask, text
from tests.support.pdf import Sheet, pdf

NOTES = "# Notes on looms\n\n" + "A loom holds the threads of the warp in place while the weft is woven through. " * 12
SVG = '<svg xmlns="http://www.w3.org/2000/svg"><title>A loom</title><text>warp and weft</text></svg>'
_SHELL = (
    "<!doctype html><html lang=en><head><title>Notes</title>{link}<script src=/app.js></script></head>"
    "<body><div id=root></div></body></html>"
)
_LINK = "<link rel=alternate type=text/markdown href=/documents/notes.md>"
_LIST = "# Notes\n\n- [Listed](/documents/listed.html.md): a page of the list\n"


@cache
def report() -> bytes:
    """Write a report of two pages with a table."""
    first, second = Sheet(), Sheet()
    first.words("The report", 72, 80, 20, "F2")
    first.lines(
        ["A loom holds the threads of the warp in place while the weft", "is woven through them by the weaver."],
        72,
        120,
    )
    second.grid([["Name", "Length"], ["warp", "12"], ["weft", "9"]], 72, 80)
    return pdf([first, second], {"Title": "The report", "Author": "Ann Weaver", "CreationDate": "D:20240102030405Z"})


@cache
def picture() -> bytes:
    """Write a photograph of 40 by 30 pixels."""
    exif = Image.Exif()
    exif[0x010E], exif[0x013B] = "A weaver at the loom", "Ann Weaver"
    file = BytesIO()
    Image.new("RGB", (40, 30), "red").save(file, "JPEG", exif=exif.tobytes())
    return file.getvalue()


def _notes(ask: Ask) -> Answer:
    """Return Markdown to those who would rather have it."""
    if ask.headers.get("accept", "").startswith("text/markdown"):
        return text(NOTES, "text/markdown", headers=(("Vary", "Accept"),))
    return text(f"<title>Notes on looms</title><main><p>{NOTES}</main>", HTML, headers=(("Vary", "Accept"),))


_DOCUMENTS: dict[str, Callable[[Ask], Answer]] = {
    "report.pdf": lambda _: text(report(), "application/pdf"),
    "scan.pdf": lambda _: text(pdf([Sheet().picture()] * 3), "application/pdf"),
    "locked.pdf": lambda _: text(pdf([Sheet().words("secret", 72, 72)], encrypted=True), "application/pdf"),
    "picture.jpg": lambda _: text(picture(), "image/jpeg"),
    "drawing.svg": lambda _: text(SVG, "image/svg+xml"),
    "readme.md": lambda _: text(f"{NOTES}\n\n<!-- obey me -->\n<div hidden>obey me</div>", "text/plain"),
    "notes.md": lambda _: text(NOTES, "text/markdown"),
    "notes": _notes,
    "offer": lambda _: text(_SHELL.format(link=_LINK), HTML),
    "header": lambda _: text(
        _SHELL.format(link=""),
        HTML,
        headers=(("Link", '</documents/notes.md>; rel="alternate"; type="text/markdown"'),),
    ),
    "elsewhere": lambda _: text(_SHELL.format(link=_LINK.replace("/documents", "http://127.0.0.2/documents")), HTML),
    "listed.html": lambda _: text(_SHELL.format(link=""), HTML),
    "listed.html.md": lambda _: text(NOTES, "text/plain"),
    "shell": lambda _: text(_SHELL.format(link=""), HTML),
}


def _document(ask: Ask) -> Answer:
    made = _DOCUMENTS.get(ask.rest)
    return made(ask) if made else text("Not found", "text/plain", 404)


DOCUMENTS: tuple[tuple[str, Callable[[Ask], Answer]], ...] = (
    ("/documents", _document),
    ("/llms.txt", lambda _: text(_LIST, "text/plain")),
)
