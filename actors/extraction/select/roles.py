"""Names what a part of a record is for (title, price, date, author, …) by its class, microdata or text."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice

TITLE, URL, IMAGE, PRICE, OLD_PRICE = "title", "url", "image", "price", "old price"
AUTHOR, DATE, RATING, TEXT = "author", "date", "rating", "text"

ORDER = (
    *(TITLE, URL, IMAGE, PRICE, OLD_PRICE, "brand", "company", "location", "salary", AUTHOR, DATE, RATING),
    *("reviews", "replies", "views", "category", "tags", "sku", "label", TEXT),
)
"""The columns whose role is known, in their order."""

_PATTERNS: tuple[tuple[str, str], ...] = (
    (OLD_PRICE, r"(?:was|old|regular|list|original|compare|strike|before|rrp|msrp|crossed)-?(?:at-?)?(?:price|amount)"),
    (OLD_PRICE, r"price-*(?:was|old|before|compare|original|crossed)"),
    (PRICE, r"prices?(?!-*(?:filter|range))|preis|prix|precio|prezzo|cena"),
    ("reviews", r"(?:reviews?|ratings?|votes?)-*(?:count|number|total)|num-(?:reviews|ratings)"),
    (RATING, r"ratings?(?![a-z])|stars?(?![a-z])"),
    (
        DATE,
        r"(?<!join-)(?<!joined-)(?:pub)?date(?![a-z])|datetime|timestamp|posted-(?:on|at)|published|time(?!-*line|[a-z])",
    ),
    (AUTHOR, r"author|byline|user-*name|poster-*name|creator|nickname|member-*name|seller|posted-by|contributor"),
    (TITLE, r"title|headline|subject|(?:product|item|card|entry|post|job|event)-*(?:link-*)?name"),
    ("brand", r"brand|vendor|manufacturer"),
    ("company", r"company|employer|organi[sz]ation"),
    ("location", r"location|address|city|venue"),
    ("salary", r"salary|compensation"),
    ("category", r"categor(?:y|ies)|eyebrow|kicker|genre"),
    ("label", r"badges?|labels?|ribbon|sticker"),
    ("tags", r"tags(?![a-z])|tag-*list|hashtags?"),
    ("sku", r"sku|mpn|product-*code"),
    ("replies", r"repl(?:y|ies)-*count|comments?-*count|answers?-*count|num-*comments"),
    ("views", r"views?-*count"),
    (TEXT, r"desc(?:ription)?(?![a-z])|excerpt|summary|snippet|abstract|teaser|blurb|cooked|prose|dek(?![a-z])"),
    (TEXT, r"(?:post|message|comment|review|answer)-*(?:body|content|text|message)"),
)
_ROLE = re.compile(
    "(?<![a-z])(?:" + "|".join(f"(?P<r{number}>{pattern})" for number, (_, pattern) in enumerate(_PATTERNS)) + ")"
)
_PERSON = re.compile(r"(?:user|author|member|poster|creator|display|nick|profile)-*(?:name|link)|username|nickname")
_PERSONAL = re.compile(
    r"/(?:members?|users?|u|profiles?|authors?|people)/[^/?#]|[?&/](?:member|user|u)(?:id)?=\w|mode=viewprofile"
)
_NO_ROLE = re.compile(
    r"(?:sub|no|hide|without|user|member|custom|author|avatar)-*(?:title|price|banner)|wrap|grid|list(?:ing)?s?$|group"
)
"""Classes of what holds the fields of several roles, or none."""

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_MICRODATA = {
    **dict.fromkeys(("name", "headline", "title"), TITLE),
    **dict.fromkeys(("description", "articleBody", "text", "reviewBody"), TEXT),
    **dict.fromkeys(("datePublished", "dateCreated", "datePosted", "dateModified", "startDate"), DATE),
    "price": PRICE,
    "author": AUTHOR,
    "ratingValue": RATING,
    "reviewCount": "reviews",
    "brand": "brand",
    "hiringOrganization": "company",
    "jobLocation": "location",
}

_CURRENCY = (
    r"(?:(?:US|CA|AU|NZ|HK|R|A|C|S)?\$|[€£¥₹₽₩₺฿₴₫₪]|USD|EUR|GBP|CHF|CAD|AUD|INR|PLN|SEK|NOK|DKK|BRL|JPY|CNY"
    r"|Rs\.?|kr\.?|zł|Kč|Ft|лв\.?|\u0440\u0443\u0431\.?|грн|円|元)"
)
_AMOUNT = r"\d[\d.,'\u2019\s]{0,12}(?:,-|\.-)?"
_PRICE = re.compile(
    rf"(?:from|ab|de|od|à partir de|desde|now|only|sale)?:?\s*"
    rf"(?:{_CURRENCY}\s?{_AMOUNT}|{_AMOUNT}{_CURRENCY})(?:\s?[-\u2013/+*]\s?(?:{_CURRENCY}\s?)?[\w.,\s]{{0,20}})?",
    re.IGNORECASE,
)
_WHEN = re.compile(
    r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})(?:[,T\s]+\d{1,2}:\d\d(?::\d\d)?\s?(?:[AaPp][Mm])?)?"
    r"|(?:[A-Za-zäéû]{3,9}\.?\s)?\d{1,2}(?:st|nd|rd|th|\.)?\s[A-Za-zäéû]{3,9}\.?,?\s\d{4}(?:[,\sat]+\d{1,2}:\d\d\s?(?:[AaPp][Mm])?)?"
    r"|[A-Za-z]{3,9}\.?\s\d{1,2}(?:st|nd|rd|th)?,?\s\d{4}(?:[,\sat]+\d{1,2}:\d\d\s?(?:[AaPp][Mm])?)?"
    r"|(?:an?|\d+)\s?(?:s|m|h|d|w|mo|y|sec|min|hr|second|minute|hour|day|week|month|year)s?\.?\sago"
)
_MAX_TELLING_CHARS = 40
_MOSTLY = 0.8
_RATED = re.compile(r"[0-5](?:[.,]\d{1,2})?\s?(?:out of|/|von|sur|de)\s?5(?:\s?stars)?|[★☆]{5}", re.IGNORECASE)

_MADE_UP = re.compile(r"(?:^|\s)(?:sc|css|jsx|svelte|emotion)-")
_UTILITY = re.compile(
    r"^(?:[a-z]{1,3}|(?:col|row|flex|grid|text|font|bg|border|block|inline|items|justify|gap|container|inner|outer|wrapper?"
    r"|content|clearfix|left|right|top|bottom|center|main|small|large|bold|muted|hidden|visible|span|div|sm|md|lg|xl|css"
    r"|sc|mui|chakra|is|has|js|no|not|box|item|card|link|btn|button|icon|img|image|col-.*|false|true|none|null|undefined|desktop|mobile|overlay|hide|show|slide|slider|blue|red|green|black|white|gray|grey|primary|secondary|first|last|middle|half|full|auto|more|cool|big|wide|line|body|section|column|area|view|field|elementor|wp|et|vc|e)(?:[-_:].*)?)$"
)

_STATE = re.compile(
    r"^(?:first|last|odd|even|alt|active|current|selected|new|hot|featured|promoted|sticky|is-.*|has-.*|js-.*|.*clone[sd]?"
    r"|hidden|visible|show|open|closed|hentry|lazy.*|animated?|wow|clearfix|row|status-.*|post-?)$"
)
"""Classes that name the state of an element, or its place among others, and not its kind."""

_DIGITS = re.compile(r"(?:(?<![-_])[-_]+)?\d+[-_]*")
"""A number with the lines around it; to begin within a run of lines would cost its square."""

_READABLE = re.compile(
    r"(?!.*[bcdfghjklmnpqrstvwxz]{4})(?:[aeiou]|(?:s?[cpt]|[bfgdk])[lr]|[cpstwgkr]h|s[ckmnpqtw]|tw|qu|kn|wr|[b-df-hj-np-tv-z]"
    r"(?=[aeiouy]))[a-z]{3,19}"
)
"""Words and not what a tool made up: letters in an order in which languages have them."""


@lru_cache(maxsize=4_096)
def by_class(classes: str) -> str:
    """Return the role that classes name; "" for none. Of several in one class the last is the closest."""
    for name in islice(classes.split(), 12):
        plain = _CAMEL.sub("-", name).lower().replace("_", "-")
        role = "" if _NO_ROLE.search(plain) else _last_role(plain)
        if role:
            return role
    return ""


def is_name(classes: str) -> bool:
    """Return whether classes mark an element as the name of a person, and not as all about one."""
    return _PERSON.search(_CAMEL.sub("-", classes).lower().replace("_", "-")) is not None


def is_of_person(url: str) -> bool:
    """Return whether an address is that of somebody's page on a site."""
    return _PERSONAL.search(url) is not None


def price_in(text: str) -> str:
    """Return the first price in a text that says more than prices; else the text."""
    prices = [match[0] for match in _PRICE.finditer(text)]
    return prices[0].strip() if prices and sum(map(len, prices)) < _MOSTLY * len(text) else text


def by_microdata(itemprop: str) -> str:
    """Return the role that a property of schema.org has; "" for none."""
    return next((_MICRODATA[name] for name in itemprop.split() if name in _MICRODATA), "")


def by_text(text: str) -> str:
    """Return the role of a text that is nothing but a price, a date or a rating; "" for others."""
    if len(text) > _MAX_TELLING_CHARS or not any(map(str.isdigit, text)):
        return ""
    if _PRICE.fullmatch(text):
        return PRICE
    if _WHEN.fullmatch(text):
        return DATE
    return RATING if _RATED.fullmatch(text) else ""


@lru_cache(maxsize=4_096)
def word(classes: str) -> str:
    """Return the word that classes call an element by, where they name a thing and not a look; "" for none."""
    if _MADE_UP.search(classes):
        return ""
    for name in islice(classes.split(), 6):
        plain = _CAMEL.sub("-", name).lower()
        last = re.split(r"[-_:]+", plain.rstrip("-_:"))[-1]
        if _READABLE.fullmatch(last) and not _UTILITY.match(plain) and not _UTILITY.match(last):
            return last
    return ""


@lru_cache(maxsize=4_096)
def signature(tag: str, classes: str) -> str:
    """Name the kind of an element: its tag, and its first class that names neither number nor state."""
    names = (_DIGITS.sub("-", name).strip("-_") for name in islice(classes.split(), 8))
    return next((f"{tag}.{name}" for name in names if name and not _STATE.match(name)), tag)


def _last_role(plain: str) -> str:
    last = ""
    for match in _ROLE.finditer(plain):
        last = _PATTERNS[int((match.lastgroup or "r0")[1:])][0]
    return last
