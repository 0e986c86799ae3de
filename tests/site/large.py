"""A site of any size, made up: pages that a crawl is to keep, and around them what leads one astray."""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import Final
from urllib.parse import urlencode

from tests.site.answers import HTML, Answer, Ask, Reply

PER_SECTION: Final = 30
PER_LIST: Final = 10
GOODS: Final = 12
COLORS: Final = ("red", "blue", "green")
SIZES: Final = ("s", "m", "l")
BRANDS: Final = ("ash", "birch")
FACETS: Final = {"color": COLORS, "size": SIZES, "brand": BRANDS}
_WORDS: Final = tuple(
    f"{start}{middle}{end}"
    for start in ("br", "cl", "d", "fl", "gr", "h", "l", "m", "p", "sh", "st", "t", "w")
    for middle in ("a", "ea", "i", "oo", "u")
    for end in ("ck", "d", "ft", "ll", "m", "nd", "ng", "p", "rt", "sh", "st", "th")
)
_GERMAN: Final = (
    "Der Webstuhl steht im Keller des alten Hauses und wird jeden Abend benutzt.",
    "Die Fäden werden zuerst gespannt, dann wird das Schiffchen hindurch geschoben.",
    "Wer das Muster ändern will, muss die Schäfte in einer anderen Reihenfolge heben.",
    "Am Ende wird der Stoff abgenommen, gewaschen und in der Sonne getrocknet.",
)
_NAV: Final = (
    '<nav><a href="/">Home</a> <a href="/login">Log in</a> <a href="/cart">Cart</a> <a href="/shop">Shop</a></nav>'
)
_FOOT: Final = (
    '<footer><p>All about looms.</p><a href="/calendar/2026/05">Days</a> <a href="/events?month=2026-05">Events</a> '
    '<a href="https://elsewhere.example/">Friends</a> <a style="display:none" href="/honey/1">do not</a></footer>'
)
_MONTHS: Final = ("Jan", "Feb", "March", "April", "May", "June", "July", "Aug", "Sept", "Oct", "Nov", "Dec")


def prose(seed: str, sentences: int = 12) -> list[str]:
    """Return sentences that are the same each time, and like no others."""
    chance = random.Random(seed)
    return [
        f"The {' '.join(chance.choices(_WORDS, k=chance.randint(8, 15)))} in {chance.choice(_WORDS)}."
        for _ in range(sentences)
    ]


@dataclass(frozen=True)
class LargeSite:
    """A site with about so many wanted pages, each known by its title."""

    size: int
    sessions: count[int] = field(default_factory=count)

    @cached_property
    def sections(self) -> int:
        """Return how many sections there are: each has a list in parts, and articles."""
        return max(1, (self.size - 1 - GOODS) // (PER_SECTION + PER_SECTION // PER_LIST))

    @cached_property
    def wanted(self) -> frozenset[str]:
        """Return the titles of all wanted pages."""
        sections = range(self.sections)
        lists = {f"Section {one}, part {part}" for one in sections for part in range(1, PER_SECTION // PER_LIST + 1)}
        articles = {f"Article {one}-{number}" for one in sections for number in range(PER_SECTION)}
        return frozenset({"Looms", "Shop", *lists, *articles, *(f"Loom model {one}" for one in range(GOODS))})

    def answer(self, ask: Ask) -> Answer:
        """Answer a request."""
        path, _, _ = ask.path.partition(";")
        first, *rest = [part for part in path.lower().split("/") if part] or [""]
        make = getattr(self, f"_{first.replace('.', '_') or 'home'}", None)
        reply: Answer = make(ask, rest) if make is not None else _page("Not found", ["No such page."], status=404)
        return reply

    # -- wanted --------------------------------------------------------------------------------------------------------

    def _home(self, _: Ask, __: Sequence[str]) -> Answer:
        links = [f"/section/{one}" for one in range(self.sections)]
        astray = ("/deep/", "/loop/a", "/away", "/private/1", "/hidden-from-lists", "/de/1", "/artikel/1", "/missing/1")
        return _page("Looms", prose("home"), [*links, *astray, "/index.html", "/files/loom.jpg", "/moved/1"])

    _index_html = _home

    def _section(self, ask: Ask, rest: Sequence[str]) -> Answer:
        one, part = int(rest[0]), int(ask.query.get("page", "1"))
        last = PER_SECTION // PER_LIST
        if one >= self.sections or not 1 <= part <= last:
            return _page("Not found", ["No such page."], status=404)
        numbers = range((part - 1) * PER_LIST, part * PER_LIST)
        # A fifth of the articles stands in the site map alone.
        links = [self._with_session(one, f"/articles/{one}-{number}") for number in numbers if number % 5]
        steps = [f"/section/{one}?page={part + 1}", f"/section/{one}?page={part}&sort=date"] if part < last else []
        lines = prose(f"list {one} {part}", 6)
        return _page(f"Section {one}, part {part}", lines, [*links, *steps])

    def _articles(self, ask: Ask, rest: Sequence[str]) -> Answer:
        one, number = map(int, rest[0].split("-"))
        if one >= self.sections or number >= PER_SECTION:
            return _page("Not found", ["No such page."], status=404)
        place = f"/articles/{one}-{number}"
        links = [
            *(f"{place}{ending}" for ending in ("/", "?print=1", "?share=mail", "?utm_source=feed", "/print")),
            *(f"/Articles/{one}-{number}", f"/copy/{one}-{number}", f"/mirror/{one}-{number}"),
            *(f"/articles/{one}-{(number + 1) % PER_SECTION}?sid={next(self.sessions)}", f"/section/{one}"),
            f"/comment?replyto={number}&post={one}&token={next(self.sessions)}",
        ]
        return _page(f"Article {one}-{number}", prose(place), links, head=_alternate("/de/1"))

    def _shop(self, ask: Ask, _: Sequence[str]) -> Answer:
        chosen: dict[str, str] = {name: value for name, value in ask.query.items() if name in FACETS}
        goods = [f"Loom model {one}, {_color(one)}, of {_brand(one)}" for one in _goods(chosen)]
        facets = [f"/shop?{urlencode({**chosen, name: value})}" for name, values in FACETS.items() for value in values]
        sorts = [f"/shop?{urlencode({**chosen, 'sort': one})}" for one in ("price", "name")]
        goods_links = [f"/goods/{one}" for one in _goods(chosen)]
        return _page("Shop", ["All the looms that we sell.", *goods], [*goods_links, *facets, *sorts])

    def _goods(self, _: Ask, rest: Sequence[str]) -> Answer:
        one = int(rest[0])
        return _page(
            f"Loom model {one}", prose(f"goods {one}", 6), ["/shop", f"/cart?add={one}", f"/share/{one}/login"]
        )

    def _robots_txt(self, ask: Ask, _: Sequence[str]) -> Answer:
        place = f"http://{ask.headers['host']}/maps/index.xml"
        body = f"User-agent: *\nDisallow: /private/\nSitemap: {place}\n"
        return Reply(200, body.encode(), (("Content-Type", "text/plain"),))

    def _maps(self, ask: Ask, rest: Sequence[str]) -> Answer:
        host = f"http://{ask.headers['host']}"
        if rest == ["index.xml"]:
            maps = "".join(f"<sitemap><loc>{host}/maps/{one}.xml.gz</loc></sitemap>" for one in range(self.sections))
            return Reply(200, f"<sitemapindex>{maps}</sitemapindex>".encode(), (("Content-Type", "text/xml"),))
        one = int(rest[0].partition(".")[0])
        urls = "".join(f"<url><loc>{host}/articles/{one}-{number}</loc></url>" for number in range(0, PER_SECTION, 5))
        body = gzip.compress(f"<?xml version='1.0'?><urlset>{urls}</urlset>".encode())
        return Reply(200, body, (("Content-Type", "application/x-gzip"),))

    # -- astray --------------------------------------------------------------------------------------------------------

    def _copy(self, ask: Ask, rest: Sequence[str]) -> Answer:
        return self._articles(ask, rest)

    def _mirror(self, _: Ask, rest: Sequence[str]) -> Answer:
        return _page(f"Article {rest[0]}", [*prose(f"/articles/{rest[0]}"), "Seen 7 times."])

    def _calendar(self, _: Ask, rest: Sequence[str]) -> Answer:
        year, month = int(rest[0]), int(rest[1])
        days = [f"/calendar/{year}/{month:02d}/{day:02d}" for day in range(1, 29)]
        ways = [f"/calendar/{year + (month == 12)}/{month % 12 + 1:02d}", f"/calendar/{year - 1}/{month:02d}"]
        name = f"{rest[2]} {_MONTHS[month - 1]} {year}" if len(rest) > 2 else f"{_MONTHS[month - 1]} {year}"
        words = f"There are no events in {name}. Choose another month, or look at the list of all courses."
        return _page(f"Calendar {name}", [words], [*ways, *days])

    def _events(self, ask: Ask, _: Sequence[str]) -> Answer:
        year, month = map(int, ask.query["month"].split("-"))
        ways = [f"/events?month={year + (month == 12)}-{month % 12 + 1:02d}", f"/events?month={year - 1}-{month:02d}"]
        return _page(f"Events {_MONTHS[month - 1]} {year}", ["Nothing is planned for this month."], ways)

    def _deep(self, ask: Ask, _: Sequence[str]) -> Answer:
        return _page("Deeper", [f"This leads on: {ask.path}."], ["deeper/", "other/"])

    def _loop(self, _: Ask, rest: Sequence[str]) -> Answer:
        return _redirect(f"/loop/{'b' if rest[0] == 'a' else 'a'}")

    def _away(self, ask: Ask, __: Sequence[str]) -> Answer:
        return _redirect(f"http://localhost:{ask.headers['host'].rpartition(':')[2]}/articles/0-1")

    def _moved(self, _: Ask, __: Sequence[str]) -> Answer:
        return _redirect("/articles/0-1")

    def _missing(self, _: Ask, rest: Sequence[str]) -> Answer:
        words = "Sorry, the page that you are looking for could not be found. It may have been moved or deleted."
        return _page("Page not found", [words], [f"/missing/{int(rest[0]) + 1}"])

    def _private(self, _: Ask, __: Sequence[str]) -> Answer:
        return _page("Private", prose("private"))

    def _honey(self, _: Ask, rest: Sequence[str]) -> Answer:
        return _page(f"Honey {rest[0]}", prose(f"honey {rest[0]}"), [f"/honey/{int(rest[0]) + 1}"])

    def _hidden_from_lists(self, _: Ask, __: Sequence[str]) -> Answer:
        return _page("Unlisted", prose("unlisted"), head='<meta name="robots" content="noindex">')

    def _comment(self, _: Ask, __: Sequence[str]) -> Answer:
        return _page("Comment", ["Write a comment."])

    def _de(self, _: Ask, rest: Sequence[str]) -> Answer:
        return _page(f"Seite {rest[0]}", _GERMAN, [f"/de/{int(rest[0]) + 1}"], language="de")

    def _artikel(self, _: Ask, rest: Sequence[str]) -> Answer:
        lines = [f"{line} Das ist der Teil {rest[0]}." for line in _GERMAN]
        return _page(f"Artikel {rest[0]}", lines, language="de")

    def _with_session(self, section: int, link: str) -> str:
        if section % 3 == 0:
            return f"{link};jsessionid={next(self.sessions):x}"
        return f"{link}?PHPSESSID={next(self.sessions):x}" if section % 3 == 1 else link


def _goods(chosen: dict[str, str]) -> Iterable[int]:
    for one in range(GOODS):
        has = {"color": _color(one), "size": SIZES[one % len(SIZES)], "brand": _brand(one)}
        if all(has[name] == value for name, value in chosen.items()):
            yield one


def _color(one: int) -> str:
    return COLORS[one % len(COLORS)]


def _brand(one: int) -> str:
    return BRANDS[one % len(BRANDS)]


def _alternate(place: str) -> str:
    return f'<link rel="alternate" hreflang="de" href="{place}">'


def _label(link: str) -> str:
    """Return the last word of an address."""
    return link.rstrip("/").replace("=", "/").rpartition("/")[2].partition("?")[0] or "Home"


def _redirect(place: str) -> Reply:
    return Reply(302, headers=(("Location", place),))


def _page(  # noqa: PLR0913 - what a page has
    title: str,
    lines: Iterable[str],
    links: Iterable[str] = (),
    *,
    head: str = "",
    language: str = "en",
    status: int = 200,
) -> Reply:
    items = "".join(f'<li><a href="{link}">{_label(link)}</a></li>' for link in links)
    text = "".join(f"<p>{line}</p>" for line in lines)
    body = (
        f'<!doctype html><html lang="{language}"><head><title>{title}</title>{head}</head><body>{_NAV}'
        f"<main><h1>{title}</h1>{text}</main><aside><ul>{items}</ul></aside>{_FOOT}</body></html>"
    )
    return Reply(status, body.encode(), (("Content-Type", HTML),))
