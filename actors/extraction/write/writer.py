"""Writes the main content of a page as Markdown and as plain text."""

from __future__ import annotations

from dataclasses import dataclass

from turbohtml import Element, Text

from actors.extraction.decide.content import Content
from actors.extraction.parse.tree import Page
from actors.extraction.parse.visibility import Hiding
from actors.extraction.write import normalisation, pruning
from actors.extraction.write.code import rewrite_code
from actors.extraction.write.footnotes import extract_footnotes
from actors.extraction.write.formulas import replace_formulas
from actors.extraction.write.pruning import clean_nodes, cleaned
from actors.extraction.write.rendering import Verbatim, render, unwrap_forged


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What nobody sees and was left out: whole texts of the page, and characters within what was kept."""

    invisible_texts: int = 0
    invisible_characters: int = 0


@dataclass(frozen=True, slots=True)
class ContentText:
    """The main content as Markdown, and as plain text with a line for every block."""

    markdown: str
    text: str
    left_out: LeftOut = LeftOut()


def write_markdown(page: Page, content: Content) -> ContentText:
    """Write the main content; the tree of the page is taken apart for it, so this comes last."""
    invisible_texts = _count_invisible_texts(page)
    if content.text_elsewhere:
        text, removed = cleaned(content.text_elsewhere)
        return ContentText(_paragraphs(text), text, LeftOut(invisible_texts, removed))
    body = next(
        (child for child in page.root.children if isinstance(child, Element) and child.tag == "body"), page.root
    )
    own = Verbatim()
    unwrap_forged(body)
    replace_formulas(body, content.holders, own)
    footnotes = extract_footnotes(body, page, content, own)
    pruning.prune(body, content, page.hidden)
    pruning.drop_contents(body)
    pruning.drop_title(body, page.root)
    body.extend(footnotes)
    removed = clean_nodes(node for block in content.blocks for node in block.nodes)
    removed += clean_nodes(node for note in footnotes for node in note.descendants)
    rewrite_code(body)
    normalisation.rewrite_tables(body, page.hidden, own)
    normalisation.mark_collapsed(body, page.hidden, own)
    pruning.resolve_images(body)
    normalisation.clean_links(body, page.base)
    normalisation.split_paragraphs(body)
    return ContentText(render(body, own), cleaned(content.text)[0], LeftOut(invisible_texts, removed))


def _paragraphs(text: str) -> str:
    """Render lines as paragraphs that stay text."""
    lines = (line for line in text.splitlines() if line.strip())
    return render(Element("div", None, [Element("p", None, [Text(line)]) for line in lines]), Verbatim())


def _count_invisible_texts(page: Page) -> int:
    return sum(
        1
        for element, why in page.hidden.items()
        if why is Hiding.INVISIBLE and element.tag != "template" and element.text.strip()
    )
