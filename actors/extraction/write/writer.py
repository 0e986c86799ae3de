"""Writes the main content of a page as Markdown and as plain text."""

from __future__ import annotations

from dataclasses import dataclass

from turbohtml import Element, Text

from actors.extraction.decide.content.content import Content
from actors.extraction.parse.tree import Page
from actors.extraction.parse.visibility import Hiding
from actors.extraction.write import breaks, code, contents, folds, formulas, headings, images, links, notes, tables
from actors.extraction.write.characters import clean_nodes, cleaned
from actors.extraction.write.pruning import prune
from actors.extraction.write.rendering import render
from actors.extraction.write.verbatim import Verbatim, expel


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What nobody sees and was left out: whole texts of the page, and characters within what was kept."""

    invisible_texts: int = 0
    invisible_characters: int = 0


@dataclass(frozen=True, slots=True)
class Written:
    """The main content as Markdown, and as plain text with a line for every block."""

    markdown: str
    text: str
    left_out: LeftOut = LeftOut()


def write(page: Page, content: Content) -> Written:
    """Write the main content; the tree of the page is taken apart for it, so this comes last."""
    left_out = _unseen_texts(page)
    if content.said_elsewhere:
        text, removed = cleaned(content.said_elsewhere)
        return Written(paragraphs(text), text, LeftOut(left_out, removed))
    body = next(
        (child for child in page.root.children if isinstance(child, Element) and child.tag == "body"), page.root
    )
    own = Verbatim()
    expel(body)
    formulas.write(body, content.holders, own)
    footnotes = notes.gather(body, page, content, own)
    prune(body, content, page.hidden)
    contents.drop(body)
    headings.drop_title(body, page.root)
    body.extend(footnotes)
    removed = clean_nodes(node for block in content.blocks for node in block.nodes)
    removed += clean_nodes(node for note in footnotes for node in note.descendants)
    code.mend(body)
    tables.mend(body, page.hidden, own)
    folds.mend(body, page.hidden, own)
    images.mend(body)
    links.mend(body, page.base)
    breaks.mend(body)
    return Written(render(body, own), cleaned(content.text)[0], LeftOut(left_out, removed))


def paragraphs(text: str) -> str:
    """Write lines as paragraphs that stay text."""
    lines = (line for line in text.splitlines() if line.strip())
    return render(Element("div", None, [Element("p", None, [Text(line)]) for line in lines]), Verbatim())


def _unseen_texts(page: Page) -> int:
    return sum(
        1
        for element, why in page.hidden.items()
        if why is Hiding.INVISIBLE and element.tag != "template" and element.text.strip()
    )
