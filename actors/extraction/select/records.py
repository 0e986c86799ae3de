"""Reads one record of a list as fields by their roles, and lays records out as rows with the same columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from turbohtml import Element, Node, Text

from actors.extraction.parse.addresses import on_the_web
from actors.extraction.parse.text import INLINE, one_line
from actors.extraction.parse.tree import Page
from actors.extraction.parse.visibility import Hiding
from actors.extraction.select import roles
from actors.extraction.select.roles import signature
from actors.extraction.select.words import SKIPPED

MAX_CELL_CHARS = 2_000
_MAX_NODES = 1_500
"""Nodes of one record that are read."""

_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_STRUCK = frozenset({"del", "s", "strike"})
_CONTROLS = frozenset({"button", "input", "label", "nav"})
_SOURCES = ("data-src", "data-original", "data-lazy-src", "data-srcset", "src", "srcset")
_ICON_PX = 32
_MAX_WAY_CHARS = 200
_MAX_NAME_CHARS = 40
_PART = "\x00"
"""Ends a part of a field: parts that say the same (for wide and for narrow screens) count once."""

_WHOLE_CARD = "h1 a,h2 a,h3 a,h4 a,a h2,a h3,a h4"
"""What stands in an element that holds all of a card, though its class is one of texts."""

MAX_COLUMNS = 14

_FILLED_SHARE = 0.2
"""Share of the rows in which a column without a role must say something."""

_ROLE_FILLED = 0.05
_MOST_ROWS = 0.5
_MIN_TITLE_CHARS = 3
_MAX_TITLE_CHARS = 200
_MIN_TEXT_CHARS = 40
_DISTINCT_SHARE = 0.6
_MIN_POST_CHARS = 80
_MIN_POST_TITLE_CHARS = 15

_Rows = tuple[tuple[str, ...], ...]


class FieldKey(NamedTuple):
    """What a field is known by in every record of a list: a role, or ("" for none) its way down from the record."""

    role: str
    way: str
    word: str = ""


class ListRecord(NamedTuple):
    """The fields of one record, the links in them by the same keys, and its first link and picture."""

    fields: dict[FieldKey, str]
    links: dict[FieldKey, str]
    url: str
    image: str


_TITLE, _TEXT = FieldKey(roles.TITLE, ""), FieldKey(roles.TEXT, "")
_DATE = FieldKey(roles.DATE, "")
_URL, _IMAGE = FieldKey(roles.URL, ""), FieldKey(roles.IMAGE, "")
_AUTHOR, _NAME = FieldKey(roles.AUTHOR, ""), FieldKey(roles.AUTHOR, "name")
"""Who wrote, and the name alone where an element of its own holds it."""

_Cells = dict[FieldKey, str]


def read_record(member: Element, page: Page) -> ListRecord:
    """Read the fields of one record; nothing that is hidden, and no control."""
    reader = _RecordReader(page)
    reader.read(member)
    fields: dict[FieldKey, str] = {}
    for key, pieces in reader.pieces.items():
        lines = dict.fromkeys(one_line(part, MAX_CELL_CHARS) for part in "".join(pieces).split(_PART))
        parts = [line for line in lines if line]
        if not key.role:
            parts = _take_values(parts, fields, reader.pieces)
        if text := _join_parts(key.role, parts):
            fields[key] = text
    links = {key: link for key, link in reader.links.items() if key in fields}
    if _NAME in fields:
        fields[_AUTHOR] = fields.pop(_NAME)
    return ListRecord(fields, links, reader.url, reader.image)


def _take_values(parts: list[str], fields: dict[FieldKey, str], declared: Mapping[FieldKey, object]) -> list[str]:
    """Put prices, dates and ratings among the fields, where nothing else is one; return the other parts."""
    rest: list[str] = []
    for part in parts:
        key = FieldKey(roles.by_text(part), "")
        if key.role and key not in fields and key not in declared:
            fields[key] = part
        else:
            rest.append(part)
    return rest


def _join_parts(role: str, parts: list[str]) -> str:
    """Join the parts of a field; of those that a record has once, the first counts, of titles the longest."""
    if role == roles.AUTHOR:
        parts = [part for part in parts if len(part) > 1] or parts  # a letter stands for a picture
    if not parts or role in (roles.AUTHOR, roles.DATE):
        return parts[0] if parts else ""
    if role == roles.TITLE:
        return max(parts, key=len)
    text = one_line(" ".join(parts), MAX_CELL_CHARS)
    return roles.price_in(text) if role in (roles.PRICE, roles.OLD_PRICE) else text


class _RecordReader:
    """Walks through one record with an explicit stack, and gathers the text of every field."""

    def __init__(self, page: Page) -> None:
        self.pieces: dict[FieldKey, list[str]] = {}
        self.links: dict[FieldKey, str] = {}
        self.url = ""
        self.image = ""
        self._page = page
        self._last: FieldKey | None = None
        self._stack: list[tuple[Node, FieldKey, str]] = []

    def read(self, member: Element) -> None:
        """Walk through the record."""
        self._stack.append((member, FieldKey("", ""), ""))
        for _ in range(_MAX_NODES):
            if not self._stack:
                return
            node, key, link = self._stack.pop()
            if isinstance(node, Text):
                self._add_text(key, node.data, link)
            elif isinstance(node, Element) and self._is_visible(node):
                self._enter(node, key, link)

    def _is_visible(self, element: Element) -> bool:
        tag = element.tag
        return tag not in SKIPPED and tag not in _CONTROLS and self._page.hidden.get(element) is not Hiding.INVISIBLE

    def _add_text(self, key: FieldKey, text: str, link: str) -> None:
        pieces = self.pieces.setdefault(key, [])
        if key != self._last:  # something else stands between
            pieces.append(" ")
        pieces.append(text[:MAX_CELL_CHARS])
        self._last = key
        if link and key not in self.links and not text.isspace():
            self.links[key] = link

    def _enter(self, element: Element, key: FieldKey, link: str) -> None:
        tag, classes = element.tag, element.attr("class") or ""
        if tag == "img":
            self.image = self.image or _image_address(element, self._page.base)
            return
        if tag == "a":
            link = on_the_web(self._page.base, element.attr("href") or "") or link
            self.url = self.url or link
        role = self._role(element, tag, classes, key)
        if role == roles.DATE and (when := element.attr("datetime")) is not None and when[:1].isdigit():
            self._add_text(FieldKey(role, ""), f"{_PART}{when.strip()}", link)
            return
        if key != _NAME and self._names(element, tag, classes, role, link):
            key = _NAME
            self.pieces.setdefault(key, []).append(_PART)
        elif role and role != key.role:
            key = FieldKey(role, "")
            self.pieces.setdefault(key, []).append(_PART)
        elif not key.role and (classes or tag not in INLINE or tag == "a"):
            key = FieldKey(
                "", f"{key.way}/{signature(tag, classes)}"[-_MAX_WAY_CHARS:], roles.word(classes) or key.word
            )
        if role == roles.RATING and (label := element.attr("aria-label") or element.attr("title")):
            self._add_text(key, label, link)
            return
        if tag not in INLINE:
            self._last = None
            if not key.role and key in self.pieces:
                self.pieces[key].append(_PART)
        self._stack.extend([(child, key, link) for child in reversed(element.children)])

    def _names(self, element: Element, tag: str, classes: str, role: str, link: str) -> bool:
        """Return whether an element is the name of who wrote: it is called so, or leads to somebody's page."""
        if role == roles.AUTHOR:
            return (
                roles.is_name(classes)
                or element.attr("itemprop") == "name"
                or (tag == "a" and roles.is_of_person(link))
            )
        return tag == "a" and not role and _NAME not in self.pieces and roles.is_of_person(link) and _is_short(element)

    def _role(self, element: Element, tag: str, classes: str, key: FieldKey) -> str:
        if key.role == roles.TEXT:
            return key.role
        if tag in _HEADINGS and FieldKey(roles.TITLE, "") not in self.pieces:
            return roles.TITLE
        if tag == "time":
            return roles.DATE
        if tag in _STRUCK:
            return roles.OLD_PRICE if key.role == roles.PRICE else key.role
        return _role_by_attributes(element, classes, key) or key.role


def _role_by_attributes(element: Element, classes: str, key: FieldKey) -> str:
    role = roles.by_class(classes) if classes else ""
    if not role and not key.role and (itemprop := element.attr("itemprop")):
        role = roles.by_microdata(itemprop)
    if role == roles.TITLE and key.role == roles.AUTHOR:  # the name of a person
        return ""
    return "" if role == roles.TEXT and element.select_one(_WHOLE_CARD) is not None else role


def _is_short(element: Element) -> bool:
    return 1 < len(element.text.strip()) <= _MAX_NAME_CHARS


def _image_address(element: Element, base: str) -> str:
    for name in ("width", "height"):
        size = (element.attr(name) or "").strip().removesuffix("px")
        if size.isascii() and size.isdigit() and int(size[:6]) < _ICON_PX:
            return ""
    for name in _SOURCES:
        first = (element.attr(name) or "").strip().partition(" ")[0].rstrip(",")
        if first and (address := on_the_web(base, first)):
            return address
    return ""


def table_of_records(records: Sequence[ListRecord]) -> tuple[tuple[str, ...], _Rows]:
    """Return the names of the columns and the rows; what has little of what most records have is no row."""
    named = _keys_by_content(records)
    cells = _similar_rows(_merge_neighbours([_cells(record, named) for record in records]))
    if _are_posts(cells):
        cells = [{key: text for key, text in row.items() if key != _TITLE} for row in cells]
    keys = _columns(cells)
    names = _unique_names([key.role or key.word or roles.TEXT for key in keys])
    return tuple(names), tuple(tuple([row.get(key, "") for key in keys]) for row in cells)


def _merge_neighbours(rows: Sequence[_Cells]) -> list[_Cells]:
    """Join neighbours that lead to one place and say nothing twice: the picture and the name of one thing."""
    merged: list[_Cells] = []
    for row in rows:
        if (
            merged
            and (url := row.get(_URL))
            and merged[-1].get(_URL) == url
            and len(merged[-1].keys() & row.keys()) == 1
        ):
            merged[-1] = {**merged[-1], **row}
        else:
            merged.append(row)
    return merged


def _similar_rows(rows: Sequence[_Cells]) -> list[_Cells]:
    filled = Counter(key for row in rows for key in row)
    common = {key for key, count in filled.items() if count >= _MOST_ROWS * len(rows)}
    rows = [row for row in rows if len(common & row.keys()) >= len(common) / 2]
    return [row for row in rows if any(key not in (_URL, _IMAGE) and text for key, text in row.items())]


def _are_posts(rows: Sequence[_Cells]) -> bool:
    """Return whether rows are posts: an author and a text, and a "title" only of the author or of a box below."""
    titles, texts = ([row[key] for row in rows if key in row] for key in (_TITLE, _TEXT))
    if (
        sum(_AUTHOR in row for row in rows) < _MOST_ROWS * len(rows)
        or len(texts) < _MOST_ROWS * len(rows)
        or not titles
    ):
        return False
    distinct = len(titles) >= _DISTINCT_SHARE * len(rows) and len(set(titles)) >= _DISTINCT_SHARE * len(titles)
    return _mean(texts) >= _MIN_POST_CHARS and not (distinct and _mean(titles) >= _MIN_POST_TITLE_CHARS)


def _keys_by_content(records: Sequence[ListRecord]) -> dict[FieldKey, FieldKey]:
    """Return the keys without a role that stand for the title and the text, where no key has these roles."""
    texts = _texts_by_key(record.fields for record in records)
    most = _MOST_ROWS * len(records)
    free = {key: own for key, own in texts.items() if not key.role and len(set(own)) > _DISTINCT_SHARE * len(own)}
    named: dict[FieldKey, FieldKey] = {}
    are_posts = min(len(texts.get(_AUTHOR, ())), len(texts.get(_TEXT, ()))) >= most
    if len(texts.get(_TITLE, ())) < most and not are_posts:
        linked = Counter(key for record in records for key in record.links)
        if title := _likely_title({key: own for key, own in free.items() if len(own) >= most}, linked):
            named[title] = _TITLE
    unnamed = {key: own for key, own in free.items() if key not in named}
    if len(texts.get(_TEXT, ())) < most and (text := _likely_text(unnamed)):
        named[text] = _TEXT
    return named


def _likely_title(texts: Mapping[FieldKey, Sequence[str]], linked: Mapping[FieldKey, int]) -> FieldKey | None:
    """Return the key with the longest texts of the length of a title, of those in links if there are any."""
    links = {key: own for key, own in texts.items() if linked[key] >= _MOST_ROWS * len(own)} or texts
    lengths = {key: _mean(own) for key, own in links.items()}
    titles = {key: length for key, length in lengths.items() if _MIN_TITLE_CHARS <= length <= _MAX_TITLE_CHARS}
    return max(titles, key=titles.__getitem__, default=None)


def _likely_text(texts: Mapping[FieldKey, Sequence[str]]) -> FieldKey | None:
    """Return the key with most text, of those whose texts are long."""
    lengths = {key: _mean(own) * len(own) for key, own in texts.items() if _mean(own) >= _MIN_TEXT_CHARS}
    return max(lengths, key=lengths.__getitem__, default=None)


def _texts_by_key(rows: Iterable[Mapping[FieldKey, str]]) -> dict[FieldKey, list[str]]:
    texts: dict[FieldKey, list[str]] = {}
    for row in rows:
        for key, text in row.items():
            texts.setdefault(key, []).append(text)
    return texts


def _mean(texts: Sequence[str]) -> float:
    return sum(map(len, texts)) / len(texts)


def _cells(record: ListRecord, named: dict[FieldKey, FieldKey]) -> _Cells:
    row: _Cells = {}
    links = {named.get(key, key): link for key, link in record.links.items()}
    for key, text in record.fields.items():
        place = named.get(key, key)
        row[place] = row[place] if row.get(place) else text
    if url := links.get(_TITLE) or links.get(_DATE) or record.url:
        row[_URL] = url
    if record.image:
        row[_IMAGE] = record.image
    return row


def _columns(rows: Sequence[_Cells]) -> list[FieldKey]:
    texts_by_key = _texts_by_key(rows)
    known = [key for key in texts_by_key if key.role and len(texts_by_key[key]) >= max(_ROLE_FILLED * len(rows), 1)]
    other = [key for key, texts in texts_by_key.items() if not key.role and _is_informative(texts, len(rows))]
    known.sort(key=lambda key: roles.ORDER.index(key.role))
    best = sorted(other, key=lambda key: -sum(map(len, texts_by_key[key])))[: max(MAX_COLUMNS - len(known), 0)]
    return (known + [key for key in other if key in set(best)])[:MAX_COLUMNS]


def _is_informative(texts: Sequence[str], rows: int) -> bool:
    # What every record says the same ("Add to cart") says nothing of any of them.
    return len(texts) >= max(_FILLED_SHARE * rows, 2) and len(set(texts)) > 1


def _unique_names(names: Sequence[str]) -> list[str]:
    counts: Counter[str] = Counter()
    unique: list[str] = []
    for name in names:
        counts[name] += 1
        unique.append(name if counts[name] == 1 else f"{name} {counts[name]}")
    return unique
