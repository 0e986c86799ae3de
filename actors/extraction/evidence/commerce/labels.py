"""Reads what stands beside labels: article numbers, codes, makers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from turbohtml import Element

from actors.extraction.evidence.claim import Field
from actors.extraction.evidence.commerce.texts import Run, Texts, names
from actors.extraction.evidence.commerce.words import LABELS
from actors.extraction.parse.tree import Page

MAX_LABEL_CHARS = 34
MAX_VALUE_CHARS = 60
MAX_CALLED = 200

_COLON = re.compile(r"[:\uff1a#=]|\s[\u2013-](?:\s|$)")
_TRIMMED = " .:#\u2013-\u200e\u200f"
_ONLY_SEPARATOR = re.compile(r"[\s:\uff1a#.=|\u2013-]{0,5}")
_CODE = re.compile(r"#?(?=[^\d]{0,20}\d)[A-Za-z0-9][\w./+-]{2,30}(?: [\w./-]{1,12}){0,2}")
_MAKER = re.compile(r"[^\W\d_&][^:;!?|{}<>=]{0,44}|\d{1,4}[^\W\d_ ][^:;!?|{}<>=]{0,40}")
_CALLED_SOMETHING = (
    "[itemprop], [class*=brand], [class*=Brand], [class*=manufacturer], [class*=sku], [class*=Sku], [id*=sku],"
    " [class*=productid], [class*=product-id], [class*=product-code], [class*=prd-code], [class*=item-n],"
    " [class*=refn], [id*=brand], [id*=byline]"
)
_CALLED: tuple[tuple[Field, re.Pattern[str]], ...] = (
    (
        Field.SKU,
        re.compile(r"\bsku\b|(?:product|item|article|prd|prod)[-_]?(?:id|code|number|num|no|nr)\b|refnumber|\bartnr"),
    ),
    (Field.GTIN, re.compile(r"\b(?:gtin\d{0,2}|ean|upc|isbn)\b")),
    (Field.MPN, re.compile(r"\b(?:mpn|model|part-?number)\b")),
    (
        Field.BRAND,
        re.compile(
            r"(?:^|[\s_-])brand(?:[-_]?(?:name|link|title|label))?(?:$|[\s_])|manufacturer|product-?brand|byline"
        ),
    ),
)


def labelled(texts: Texts) -> Iterator[tuple[Field, str, Run]]:
    """Return each value that stands after a label, in the same text or in the next one."""
    runs = texts.runs
    for number, run in enumerate(runs):
        label, value, certain = _split(run.text)
        field = LABELS.get(label)
        if field is None or (field is Field.BRAND and not certain):
            continue
        if not value:
            after = (later.text for later in runs[number + 1 : number + 4])
            value = next((text for text in after if not _ONLY_SEPARATOR.fullmatch(text)), "")
        if value := _checked(field, value):
            yield field, value, run


def _split(text: str) -> tuple[str, str, bool]:
    """Cut a text into a label, what follows it, and whether a colon or nothing does: "Ref. 12", "Ref.: 12", "Ref."."""
    head = text[:MAX_LABEL_CHARS].lower()
    if found := _COLON.search(head):
        return head[: found.start()].strip(_TRIMMED), text[found.end() :].strip(), True
    if head.strip(_TRIMMED) in LABELS:
        return head.strip(_TRIMMED), "", True
    label, _, value = text.rpartition(" ")
    return (label.lower().strip(_TRIMMED), value, False) if len(label) <= MAX_LABEL_CHARS else ("", "", False)


def called(page: Page) -> Iterator[tuple[Field, str, Element]]:
    """Return each value that stands in an element which is called so in the page's code."""
    for element in page.root.select(_CALLED_SOMETHING)[:MAX_CALLED]:
        text = element.text
        if len(text) > 4 * MAX_VALUE_CHARS:
            continue
        name = names(element)
        for field, pattern in _CALLED:
            if pattern.search(name) and (value := _checked(field, " ".join(text.split()))):
                yield field, value, element


def _checked(field: Field, value: str) -> str:
    """Return a value that may be one of its field, "" for another."""
    value = value.strip(" :\uff1a#-()[]\u200e\u200f").strip()
    if field is Field.BRAND:
        return value if _MAKER.fullmatch(value) and value.count(" ") <= 5 else ""  # noqa: PLR2004 - names are shorter
    found = _CODE.fullmatch(value) if len(value) <= MAX_VALUE_CHARS else None
    if found is None and (first := _CODE.match(value)) and field is not Field.MPN and " " not in first.group():
        found = first if len(value) <= 2 * len(first.group()) else None
    return found.group().lstrip("#") if found else ""
