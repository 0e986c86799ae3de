"""Makes links plain: absolute, of schemes that lead somewhere, within one block, and none that lead to itself."""

from __future__ import annotations

import re

from turbohtml import Element

_HEADINGS = "h1,h2,h3,h4,h5,h6"
_ANCHOR = re.compile(
    r"[#¶§🔗⚓\s]*|link|anchor|permalink|permanent link|(?:direct )?link to (?:this|the) \w+|copy link", re.IGNORECASE
)
_ANCHOR_CLASS = re.compile(r"anchor|header-?link|perma-?link|hash-?link|heading-?link")
_EDITING = ".mw-editsection,.editsection"
_LEADS = re.compile(r"(?:https?://|mailto:|tel:)[^\s<>]+", re.IGNORECASE)
_BLOCKS = "h1,h2,h3,h4,h5,h6,p,div,ul,ol,table,figure,blockquote,pre,section,article,header"
_AROUND_BLOCKS = ",".join(f"a:has({tag})" for tag in _BLOCKS.split(","))
_MAX_URL_CHARS = 2_000


def mend(body: Element, base: str) -> None:
    """Mend every link of a pruned tree."""
    for extra in body.select(_EDITING):
        extra.extract()
    for anchor in body.select(",".join(f"{tag} a" for tag in _HEADINGS.split(","))):
        _mend_anchor(anchor)
    for link in body.select(_AROUND_BLOCKS):
        _move_in(link)
    body.resolve_links(base)
    for picture in body.select("img"):
        if not (picture.attr("src") or "").startswith(("http://", "https://")):
            picture.extract()
    for link in body.select("a"):
        href = link.attr("href") or ""
        says = bool(link.text.strip()) or link.select_one("img,weft-verbatim") is not None
        if not says or len(href) > _MAX_URL_CHARS or _LEADS.fullmatch(href) is None:
            link.unwrap()
        elif link.attr("title") is not None:
            del link.attrs["title"]  # nobody sees it


def _mend_anchor(anchor: Element) -> None:
    href = (anchor.attr("href") or "").strip()
    said = anchor.text.strip()
    is_anchor = href.startswith("#") or _ANCHOR_CLASS.search((anchor.attr("class") or "").lower())
    if (href.startswith("#") or is_anchor) and _ANCHOR.fullmatch(said):
        anchor.extract()
    elif href.startswith("#"):
        anchor.unwrap()


def _move_in(link: Element) -> None:
    """Let a link around blocks stand within its heading, or else its first block that says something."""
    target = link.select_one(_HEADINGS)
    if target is None:
        blocks = [block for block in link.select(_BLOCKS) if block.text.strip() and block.select_one(_BLOCKS) is None]
        target = blocks[0] if blocks else None
    href = link.attr("href")
    if target is not None and href and target.select_one("a") is None:
        target.wrap_children(Element("a", {"href": href}))
    link.unwrap()
