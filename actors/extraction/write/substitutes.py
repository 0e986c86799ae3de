"""Writes what a page shows without words: players and maps as links to them, ratings in stars as figures."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from msgspec import Struct
from turbohtml import Element, Node, Text

from actors.extraction.decide.content import Content
from actors.extraction.parse.addresses import on_the_web
from actors.extraction.parse.text import one_line
from actors.extraction.parse.visibility import Hiding
from actors.extraction.select.words import words
from actors.extraction.write.rendering import Verbatim

_PLAYERS = (
    "iframe,video,audio,amp-iframe,"
    "blockquote[cite][class*=embed],blockquote[class*=tweet],blockquote[class*=toot],blockquote[class*=-embed],"
    "blockquote[class*=-media]"
)
"""What shows something of another place; a post is quoted until a script draws it."""

_MAX_PLAYERS = 500
_MAX_NAME_CHARS = 120
_MAX_POST_CHARS = 80
_MAX_TEXT_BESIDE = 100
"""Characters of the words of controls that may stand around a player; more are those of a part that was left out."""

_SIDES = ("width", "height")
_MAX_TRACKER_PX = 60
_WORD = r"(?:^|[./_?=-])(?:{})(?=[./_?=&-]|$)"
_PLAYS = re.compile(
    _WORD.format("embed(?:s|ded)?|(?:[a-z0-9]+-?)?players?|videos?|videoseries|podcasts?|playlists?|maps?"),
    re.IGNORECASE,
)
"""What the addresses of players, maps and other things that are made for pages of others are called."""

_SERVES = re.compile(
    _WORD.format(
        r"ads?|ad-?server|banners?|re-?captcha|captcha|comments?|consent|cookies?|likes?|like-?box|share|login"
        r"|newsletter|subscribe|survey|track(?:er|ing)?|pixel|widgets?|doubleclick|googletagmanager"
    ),
    re.IGNORECASE,
)
"""What else stands in frames, for the site and not for the text."""

_MEDIA = ("video", "audio")
_IS_MAP = re.compile(_WORD.format("maps?|openstreetmap"), re.IGNORECASE)
_IS_SOUND = re.compile(r"audio|podcast|sound|spotify|music|radio|\.mp3|\.m4a|\.ogg", re.IGNORECASE)
_IS_VIDEO = re.compile(r"video|vimeo|tube", re.IGNORECASE)
_SOURCE = re.compile(r"(?:data-(?:[a-z]+-)*)?src(?:-[a-z]+)*")
"""The attributes that hold the address of a frame, which scripts and banners for consent keep in names of their own."""

_HOLDS_PARAGRAPHS = frozenset({"article", "aside", "blockquote", "div", "figure", "main", "section"})

_NAMES = ("aria-label", "title", "alt")
_RATED = ",".join(f"[{name}*='{most}']" for name in _NAMES for most in ("5", "10"))
_RATING = re.compile(
    r"(?<![\d.,/])(\d{1,2}(?:[.,]\d{1,2})?)\s?(?:/|out of|of|von|sur|de|su|di|van|av|af|z|ze|из|із|od|din)\s?(5|10)"
    r"(?![\d%/:]|[.,]\d)|(?P<most>5|10)つ星のうち\s?(?P<rate>\d(?:\.\d)?)",
    re.IGNORECASE,
)
_RATES = re.compile(
    r"star|rat(?:ed|ing)|scor|review|stern|bewert|étoile|estrel|valora|avalia|stell|valut|ster(?:ren)?\b|gwiazd|ocen"
    r"|зв[её]зд|рейтинг|оцен|星",
    re.IGNORECASE,
)
"""Tells a rating from the number of a picture among others, in its name or its classes."""

_VOTES = "form,fieldset,label,select,[role=radiogroup]"
_MAX_RATINGS = 1_000
_MAX_RATED_CHARS = 160
_MANY_RATINGS = 3
_MAX_CARD_CHARS = 400


class Substitute(Struct, frozen=True):
    """What is to be written at a place: a link where it has an address; a rating where it has a `rate`."""

    place: Element
    text: str
    address: str = ""
    rate: str = ""


def substitutes(
    body: Element, content: Content, hidden: Mapping[Element, Hiding], base: str, own: Verbatim
) -> list[Substitute]:
    """Mark the places of what stands among what was kept, and is shown, before the tree is pruned."""
    if not content.holders:
        return []
    return [*_players(body, content, hidden, base, own), *_ratings(body, content, hidden, own)]


def write_substitutes(marked: list[Substitute]) -> None:
    """Write them into a pruned tree; a rating only where its place does not say the figure."""
    rates = dict[Element, list[Substitute]]()
    for one in marked:
        parent = one.place.parent
        if isinstance(parent, Element) and one.address:
            _write_link(one, parent)
        elif isinstance(parent, Element):
            rates.setdefault(parent, []).append(one)
    for parent, ratings in rates.items():
        text = _text_around(parent)
        is_scale = len({one.rate for one in ratings}) >= _MANY_RATINGS
        for one in ratings:
            if is_scale or one.rate in text:
                one.place.extract()
            else:
                one.place.replace_with(Text(f" {one.text} "))
                text += one.text


def _write_link(one: Substitute, parent: Element) -> None:
    link = Element("a", {"href": one.address}, [Text(one.text)])
    if parent.tag in _HOLDS_PARAGRAPHS:
        one.place.replace_with(Element("p", None, [link]))
    else:
        one.place.replace_with(Text(" "), link, Text(" "))


def _text_around(parent: Element) -> str:
    """Return the text of an element, or that of what holds it where that is no more than a card."""
    around = parent.parent
    text = around.text if isinstance(around, Element) else ""
    return text if len(text) <= _MAX_CARD_CHARS else parent.text


def _players(
    body: Element, content: Content, hidden: Mapping[Element, Hiding], base: str, own: Verbatim
) -> Iterator[Substitute]:
    known, beside = set[str](), dict[Node | None, bool]()
    for player in body.select(_PLAYERS)[:_MAX_PLAYERS]:
        address = _address(player, base)
        if not address or address in known or not _is_content(player, address):
            continue
        outer = _outermost(player, content, hidden)
        if player in content.holders or outer is None:
            continue
        if outer.parent not in beside:
            beside[outer.parent] = _stands_among(outer, content)
        if not beside[outer.parent] or len(outer.text.strip()) - len(player.text) > _MAX_TEXT_BESIDE:
            continue
        known.add(address)
        place = own.element("")
        outer.insert_before(place)
        yield Substitute(place, _name(player, address, hidden), address)


def _address(player: Element, base: str) -> str:
    if player.tag == "blockquote":
        links = [link.attr("href") for link in player.iter_elements("a")][-1:]
        names = [player.attr("cite"), *(value for name, value in player.attrs.items() if name.endswith("permalink"))]
    else:
        sources = [player, *(islice(player.iter_elements("source"), 1) if player.tag in _MEDIA else ())]
        links = []
        names = [value for one in sources for name, value in one.attrs.items() if _SOURCE.fullmatch(name)]
    addresses = (on_the_web(base, each.strip()) for each in (*names, *links) if isinstance(each, str))
    return next(filter(None, addresses), "")


def _is_content(player: Element, address: str) -> bool:
    attributes = player.attrs
    if player.tag == "video":
        return not ("muted" in attributes and ("loop" in attributes or "autoplay" in attributes))  # an ornament
    if player.tag in ("audio", "blockquote"):
        return True
    sides = (player.attr(side) or "" for side in _SIDES)
    if any(side.isdecimal() and int(side[:6]) < _MAX_TRACKER_PX for side in sides):
        return False
    place = address.partition("//")[2]
    return _SERVES.search(place.partition("?")[0]) is None and _PLAYS.search(place) is not None


def _name(player: Element, address: str, hidden: Mapping[Element, Hiding]) -> str:
    if player.tag == "blockquote":
        text = one_line(words(player, hidden, _MAX_POST_CHARS), _MAX_POST_CHARS)
        return f"Post: {text}" if text else "Post"
    if _IS_MAP.search(address):
        kind = "Map"
    elif player.tag == "audio" or _IS_SOUND.search(address):
        kind = "Audio"
    else:
        is_video = player.tag == "video" or _IS_VIDEO.search(address) is not None
        kind = "Video" if is_video else "Player" if "player" in address.lower() else "Embedded page"
    title = one_line(player.attr("title") or player.attr("aria-label") or "", _MAX_NAME_CHARS)
    if kind.lower() in title.lower():
        return title
    return f"{kind}: {title}" if title else kind


def _ratings(body: Element, content: Content, hidden: Mapping[Element, Hiding], own: Verbatim) -> Iterator[Substitute]:
    for element in body.select(_RATED)[:_MAX_RATINGS]:
        name = next((value for each in _NAMES if (value := element.attr(each))), "")
        rating = _RATING.search(name) if len(name) <= _MAX_RATED_CHARS else None
        if rating is None or not _RATES.search(f"{name} {element.attr('class') or ''}") or element.closest(_VOTES):
            continue
        outer = _outermost(element, content, hidden)
        if outer is None:
            continue
        place = own.element("")
        if element in content.holders:
            element.insert(0, place)
        else:
            outer.insert_before(place)
        if element.tag == "img":
            element.extract()
        rate, most = rating["rate"] or rating[1], rating["most"] or rating[2]
        yield Substitute(place, f"★ {rate}/{most}", rate=rate)


def _outermost(element: Element, content: Content, hidden: Mapping[Element, Hiding]) -> Element | None:
    """Return the outermost element that holds this one and no kept text; None where nobody sees it, or near nothing."""
    outer = element
    for around in (element, *element.ancestors):
        if not isinstance(around, Element) or around in hidden or around.tag == "body":
            return None
        if around in content.holders:
            return outer
        outer = around
    return None


def _stands_among(outer: Element, content: Content) -> bool:
    """Return whether kept texts stand beside an element."""
    children = outer.parent.children if isinstance(outer.parent, Element) else ()
    return any(
        each in content.holders if isinstance(each, Element) else isinstance(each, Text) and not each.data.isspace()
        for each in children
    )
