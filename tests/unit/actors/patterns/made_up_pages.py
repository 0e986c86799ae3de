"""Kinds of pages that scripts make of JSON: made-up answers, and the HTML that each kind shows of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from html import escape
from typing import Any

_NAMES = [
    "Anna",
    "Bob",
    "Carla",
    "Dmitri",
    "Eve",
    "Farid",
    "Grete",
    "Hiro",
    "Ines",
    "Jonas",
    "Klara",
    "Liam",
    "Mira",
    "Noor",
    "Otto",
    "Paula",
]
_SURNAMES = ["Weaver", "Loom", "Shuttle", "Warp", "Bobbin", "Selvage", "Twill", "Satin", "Damask", "Heddle"]
_THINGS = ["mug", "lamp", "chair", "kettle", "basket", "blanket", "clock", "mirror", "vase", "shelf", "tray", "bowl"]
_COLOURS = ["blue", "red", "green", "grey", "amber", "ivory", "black", "copper", "violet", "teal"]
_NOUNS = [
    "valley",
    "river",
    "workshop",
    "morning",
    "neighbour",
    "window",
    "garden",
    "market",
    "bridge",
    "harvest",
    "letter",
    "engine",
    "forest",
    "station",
    "winter",
    "machine",
    "pattern",
    "village",
    "teacher",
    "journey",
    "kitchen",
    "mountain",
    "library",
    "cloth",
    "fibre",
    "thread",
    "colour",
    "season",
    "harbour",
]
_VERBS = [
    "holds",
    "carries",
    "follows",
    "changes",
    "remembers",
    "repairs",
    "paints",
    "opens",
    "gathers",
    "measures",
    "crosses",
    "keeps",
    "warms",
]
_ADVERBS = ["slowly", "often", "twice", "quietly", "gladly", "rarely", "again", "carefully", "today", "together"]


class Words:
    """Made-up words, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def pick(self, *of: Any) -> Any:
        return self.random.choice(of)

    def flag(self) -> bool:
        return self.random.random() < 0.5

    def number(self, least: int, most: int) -> int:
        return self.random.randint(least, most)

    def person(self) -> str:
        return f"{self.pick(*_NAMES)} {self.pick(*_SURNAMES)}"

    def thing(self) -> str:
        return f"{self.pick(*_COLOURS).title()} {self.pick(*_THINGS)} {self.number(100, 999)}"

    def sentence(self) -> str:
        one, other, third = (self.pick(*_NOUNS) for _ in range(3))
        tail = f"near the {third} of {self.pick(*_NOUNS)} {self.number(2, 90)}"
        return f"The {one} {self.pick(*_VERBS)} the {other} {self.pick(*_ADVERBS)} {tail}."

    def paragraph(self, least: int = 2, most: int = 5) -> str:
        return " ".join(self.sentence() for _ in range(self.number(least, most)))

    def title(self) -> str:
        return f"How a {self.pick(*_NOUNS)} {self.pick(*_VERBS)} the {self.pick(*_NOUNS)} of {self.pick(*_NOUNS)}"

    def day(self) -> date:
        return date(2025, 1, 1) + timedelta(days=self.number(0, 700))

    def id(self) -> int:
        return self.number(1_000, 99_999)


def _slug(text: str) -> str:
    return "-".join(text.lower().split())


def _long(day: date) -> str:
    return f"{day.day} {day:%B} {day.year}"


def _frame(title: str, main: str, language: str = "en", head: str = "") -> str:
    home, legal = ("Start", "Impressum") if language == "de" else ("Home", "Imprint")
    return (
        f"<!doctype html><html lang={language}><head><title>{escape(title)}</title>{head}</head><body>"
        f"<header><nav><a href='/'>{home}</a> <a href='/all'>All</a></nav></header><main>{main}</main>"
        f"<footer><p>Loomworks 2026</p><a href='/legal'>{legal}</a></footer></body></html>"
    )


def product(words: Words) -> dict[str, Any]:
    name = words.thing()
    return {
        "data": {
            "id": words.id(),
            "name": name,
            "brand": {"name": f"{words.pick(*_SURNAMES)} & Sons", "slug": words.pick(*_SURNAMES).lower()},
            "price": {"cents": words.number(500, 250_000), "currency": "EUR"},
            "availability": words.pick("in_stock", "in_stock", "sold_out"),
            "image": f"/media/{words.id()}.jpg",
            "description": words.paragraph(3, 5),
            "details": [
                {"label": "Weight", "value": f"{words.number(100, 900)} g"},
                {"label": "Colour", "value": words.pick(*_COLOURS)},
                *([{"label": "Origin", "value": words.pick(*_NOUNS)}] if words.number(0, 1) else []),
            ],
            "care": [words.sentence() for _ in range(words.number(2, 4))],
        }
    }


def product_html(answer: Mapping[str, Any]) -> str:
    of = answer["data"]
    stock = {"in_stock": "In stock", "sold_out": "Sold out"}[of["availability"]]
    rows = "".join(f"<tr><th>{each['label']}</th><td>{escape(each['value'])}</td></tr>" for each in of["details"])
    care = "".join(f"<li>{escape(each)}</li>" for each in of["care"])
    main = (
        f"<h1>{escape(of['name'])}</h1><p class=price>€ {of['price']['cents'] / 100:,.2f}</p><p>{stock}</p>"
        f"<p>Made by <a href='/brand/{of['brand']['slug']}'>{escape(of['brand']['name'])}</a></p>"
        f"<img src='{of['image']}' alt='{escape(of['name'])}' width=400 height=300><p>{escape(of['description'])}</p>"
        f"<h2>Details</h2><table>{rows}</table><h2>How to care for it</h2><ul>{care}</ul>"
    )
    return _frame(f"{of['name']} | Loomworks", main)


def german_product(words: Words) -> dict[str, Any]:
    return {
        "artikel": {
            "nummer": f"A-{words.id()}",
            "titel": words.thing(),
            "preis": words.number(5, 2_000) + words.pick(0.5, 0.99, 0.25),
            "lagernd": words.flag(),
            "text": words.paragraph(4, 6),
            "seit": words.day().isoformat(),
            "rabatt": words.pick(None, 10, 20),
        }
    }


_MONATE = [
    "Januar",
    "Februar",
    "März",
    "April",
    "Mai",
    "Juni",
    "Juli",
    "August",
    "September",
    "Oktober",
    "November",
    "Dezember",
]


def german_product_html(answer: Mapping[str, Any]) -> str:
    of = answer["artikel"]
    price = f"{of['preis']:,.2f}".replace(",", " ").replace(".", ",").replace(" ", ".")
    day = date.fromisoformat(of["seit"])
    off = f"<p>Jetzt {of['rabatt']} % günstiger</p>" if of["rabatt"] else ""
    main = (
        f"<h1>{of['titel']}</h1><p>Artikelnummer: {of['nummer']}</p><p>{price} €</p>{off}"
        f"<p>{'Sofort lieferbar' if of['lagernd'] else 'Derzeit nicht lieferbar'}</p><p>{of['text']}</p>"
        f"<p>Im Sortiment seit {day.day}. {_MONATE[day.month - 1]} {day.year}</p>"
    )
    return _frame(of["titel"], main, "de")


def article(words: Words) -> dict[str, Any]:
    body = [
        f"<p>{words.paragraph()} <b>{words.sentence()}</b></p>",
        f"<h2>{words.title()}</h2>",
        f"<p>{words.paragraph()} See <a href='/notes/{words.id()}'>{words.pick(*_NOUNS)} notes</a>.</p>",
        f"<ul><li>{words.sentence()}</li><li>{words.sentence()}</li></ul>",
        f"<p>{words.paragraph()}</p>",
    ]
    title = words.title()
    return {
        "post": {
            "slug": _slug(title),
            "title": title,
            "excerpt": words.sentence(),
            "author": {"name": words.person(), "id": words.id()},
            "publishedAt": f"{words.day().isoformat()}T{words.number(10, 20)}:15:00Z",
            "html": "".join(body[: words.number(4, 5)]),
            "tags": [{"name": name} for name in words.random.sample(_NOUNS, words.number(2, 4))],
            "readingMinutes": words.number(2, 14),
        }
    }


def article_html(answer: Mapping[str, Any]) -> str:
    of = answer["post"]
    day = date.fromisoformat(of["publishedAt"][:10])
    head = (
        f"<meta name=description content='{escape(of['excerpt'])}'>"
        f"<meta name=author content='{of['author']['name']}'>"
        f"<meta property='article:published_time' content='{of['publishedAt']}'>"
    )
    tags = ", ".join(each["name"] for each in of["tags"])
    main = (
        f"<article><h1>{of['title']}</h1><p>By <a href='/by/{of['author']['id']}'>{of['author']['name']}</a> on "
        f"<time datetime='{of['publishedAt']}'>{day:%B} {day.day}, {day.year}</time> · {of['readingMinutes']} min read"
        f"</p>{of['html']}<p>Tags: {tags}</p></article>"
    )
    return _frame(f"{of['title']} - Loomworks", main, head=head)


def story(words: Words) -> dict[str, Any]:
    return {
        "headline": words.title(),
        "standfirst": words.sentence(),
        "paragraphs": [words.paragraph(3, 6) for _ in range(words.number(3, 7))],
        "byline": words.person(),
        "updated": None if words.number(0, 1) else words.day().isoformat(),
        "quote": {"text": words.sentence(), "by": words.person()} if words.number(0, 1) else None,
    }


def story_html(answer: Mapping[str, Any]) -> str:
    updated = f"<p>Updated {_long(date.fromisoformat(answer['updated']))}</p>" if answer["updated"] else ""
    quote = answer["quote"]
    said = f"<blockquote><p>{quote['text']}</p><p>{quote['by']}</p></blockquote>" if quote else ""
    body = "".join(f"<p>{each}</p>" for each in answer["paragraphs"])
    main = (
        f"<article><h1>{answer['headline']}</h1><p><i>{answer['standfirst']}</i></p><p>{answer['byline']}</p>{updated}"
        f"{body}{said}</article>"
    )
    return _frame(answer["headline"], main)


def listing(words: Words) -> dict[str, Any]:
    count = words.number(5, 9)
    return {
        "category": {"name": f"{words.pick(*_COLOURS).title()} {words.pick(*_THINGS)}s", "blurb": words.paragraph()},
        "total": count,
        "items": [
            {
                "id": words.id(),
                "title": words.thing(),
                "price": round(words.random.uniform(3, 400), 2),
                "summary": words.sentence(),
                "badge": words.pick(None, "New", "Sale"),
            }
            for _ in range(count)
        ],
    }


def listing_html(answer: Mapping[str, Any]) -> str:
    def card(of: Mapping[str, Any]) -> str:
        badge = f"<p>{of['badge']}</p>" if of["badge"] else ""
        return (
            f"<article class=card><h2><a href='/p/{of['id']}'>{of['title']}</a></h2><p class=price>${of['price']:.2f}"
            f"</p>{badge}<p>{of['summary']}</p></article>"
        )

    main = (
        f"<h1>{answer['category']['name']}</h1><p>{answer['category']['blurb']}</p><p>{answer['total']} results</p>"
        f"<div>{''.join(map(card, answer['items']))}</div>"
    )
    return _frame(f"{answer['category']['name']} | Loomworks", main)


def thread(words: Words) -> dict[str, Any]:
    def comment(depth: int) -> dict[str, Any]:
        return {
            "author": words.person(),
            "at": f"{words.day().isoformat()}T09:30:00+00:00",
            "body": words.paragraph(1, 3),
            "votes": words.number(0, 400),
            "edited": words.flag(),
            "replies": [comment(depth + 1) for _ in range(words.number(0, 2))] if depth < 1 else [],
        }

    comments = [comment(0) for _ in range(words.number(3, 6))]
    return {"title": words.title(), "text": words.paragraph(3, 5), "by": words.person(), "comments": comments}


def thread_html(answer: Mapping[str, Any]) -> str:
    def comment(of: Mapping[str, Any]) -> str:
        replies = f"<ul>{''.join(map(comment, of['replies']))}</ul>" if of["replies"] else ""
        edited = " (edited)" if of["edited"] else ""
        day = _long(date.fromisoformat(of["at"][:10]))
        return (
            f"<li><p><b>{of['author']}</b>, {day}{edited}</p><p>{of['body']}</p><p>{of['votes']} points</p>"
            f"{replies}</li>"
        )

    main = (
        f"<h1>{answer['title']}</h1><p>Asked by {answer['by']}</p><p>{answer['text']}</p>"
        f"<h2>{len(answer['comments'])} comments</h2><ul>{''.join(map(comment, answer['comments']))}</ul>"
    )
    return _frame(answer["title"], main)


def standings(words: Words) -> dict[str, Any]:
    teams = words.random.sample(_NOUNS, words.number(6, 10))
    return {
        "season": f"{words.number(2001, 2025)}",
        "league": {"title": f"{words.pick(*_COLOURS).title()} League {words.number(1, 9)}", "about": words.paragraph()},
        "rows": [
            {
                "team": f"{name.title()} {words.pick('United', 'Rovers', 'City')}",
                "played": words.number(20, 38),
                "won": words.number(0, 20),
                "points": words.number(0, 90),
            }
            for name in teams
        ],
    }


def standings_html(answer: Mapping[str, Any]) -> str:
    rows = "".join(
        f"<tr><td>{number}</td><td>{of['team']}</td><td>{of['played']}</td><td>{of['won']}</td><td>{of['points']}</td>"
        "</tr>"
        for number, of in enumerate(answer["rows"], 1)
    )
    main = (
        f"<h1>{answer['league']['title']}: season {answer['season']}</h1><p>{answer['league']['about']}</p>"
        f"<table><thead><tr><th>#</th><th>Team</th><th>Played</th><th>Won</th><th>Points</th></tr></thead>"
        f"<tbody>{rows}</tbody></table>"
    )
    return _frame(f"{answer['league']['title']} {answer['season']}", main)


def recipe(words: Words) -> dict[str, Any]:
    return {
        "recipe": {
            "name": f"{words.pick(*_COLOURS).title()} {words.pick(*_NOUNS)} soup",
            "intro": words.paragraph(),
            "minutes": words.number(10, 90),
            "serves": words.number(2, 8),
            "vegan": words.flag(),
            "ingredients": [
                {"amount": words.number(50, 900), "unit": words.pick("g", "ml"), "what": name}
                for name in words.random.sample(_NOUNS, words.number(4, 7))
            ],
            "steps": [words.paragraph(1, 2) for _ in range(words.number(3, 6))],
        }
    }


def recipe_html(answer: Mapping[str, Any]) -> str:
    of = answer["recipe"]
    ingredients = "".join(f"<li>{each['amount']} {each['unit']} {each['what']}</li>" for each in of["ingredients"])
    steps = "".join(f"<li>{each}</li>" for each in of["steps"])
    main = (
        f"<h1>{of['name']}</h1><p>{of['intro']}</p><p>Takes {of['minutes']} minutes, serves {of['serves']}</p>"
        f"{'<p>Vegan</p>' if of['vegan'] else ''}<h2>Ingredients</h2><ul>{ingredients}</ul><h2>Method</h2>"
        f"<ol>{steps}</ol>"
    )
    return _frame(of["name"], main)


def job(words: Words) -> dict[str, Any]:
    return {
        "jobs": [
            {
                "title": f"{words.pick('Senior', 'Junior', 'Lead')} {words.pick(*_NOUNS)} engineer",
                "company": f"{words.pick(*_SURNAMES)} {words.pick('Ltd', 'AG', 'Inc')}",
                "city": words.pick("Zürich", "Bern", "São Paulo", "Köln", "Oslo"),
                "salary": {"min": words.number(40, 70) * 1000, "max": words.number(71, 140) * 1000, "unit": "CHF"},
                "remote": words.flag(),
                "text": "\n\n".join(words.paragraph(2, 4) for _ in range(words.number(2, 4))),
                "posted": words.number(1_700_000_000, 1_790_000_000) * 1000,
                "contact": {"mail": f"{words.pick(*_NAMES).lower()}@example.org"},
            }
        ]
    }


def job_html(answer: Mapping[str, Any]) -> str:
    of = answer["jobs"][0]
    text = "".join(f"<p>{part}</p>" for part in of["text"].split("\n\n"))
    day = date(1970, 1, 1) + timedelta(milliseconds=of["posted"])
    main = (
        f"<h1>{of['title']}</h1><p>{of['company']} in {of['city']}{' (remote)' if of['remote'] else ''}</p>"
        f"<p>{of['salary']['unit']} {of['salary']['min']:,} to {of['salary']['max']:,}</p>{text}"
        f"<p>Posted on {day:%b} {day.day}, {day.year}. Write to {of['contact']['mail']}.</p>"
    )
    return _frame(f"{of['title']} at {of['company']}", main)


def results(words: Words) -> dict[str, Any]:
    return {
        "query": f"{words.pick(*_NOUNS)} {words.pick(*_NOUNS)}",
        "hits": [
            {
                "url": f"https://{words.pick(*_NOUNS)}.example/{words.id()}",
                "title": words.title(),
                "snippet": words.paragraph(1, 2),
                "date": words.day().isoformat(),
            }
            for _ in range(words.number(5, 10))
        ],
    }


def results_html(answer: Mapping[str, Any]) -> str:
    hits = "".join(
        f"<li><h3><a href='{of['url']}'>{of['title']}</a></h3><p>{of['date']} — {of['snippet']}</p></li>"
        for of in answer["hits"]
    )
    main = f"<h1>Results for {answer['query']}</h1><ol>{hits}</ol>"
    return _frame(f"Results for {answer['query']} | Loomworks", main)


def package(words: Words) -> dict[str, Any]:
    return {
        "package": {
            "name": f"{words.pick(*_NOUNS)}-{words.pick(*_THINGS)}",
            "version": f"{words.number(0, 9)}.{words.number(0, 20)}.{words.number(0, 9)}",
            "description": words.sentence(),
            "downloads": words.number(900, 9_000_000),
            "license": words.pick("MIT", "Apache-2.0", "BSD-3-Clause"),
            "readme": f"<p>{words.paragraph()}</p><pre><code>npm install {words.pick(*_NOUNS)}</code></pre>"
            f"<p>{words.paragraph()}</p>",
            "versions": [
                {
                    "number": f"{words.number(0, 9)}.{words.number(0, 20)}.{words.number(0, 9)}",
                    "at": words.day().isoformat(),
                }
                for _ in range(words.number(3, 6))
            ],
            "homepage": words.pick(None, f"https://{words.pick(*_NOUNS)}.example/"),
        }
    }


def package_html(answer: Mapping[str, Any]) -> str:
    of = answer["package"]
    versions = "".join(f"<tr><td>{each['number']}</td><td>{each['at']}</td></tr>" for each in of["versions"])
    home = f"<p>Homepage: <a href='{of['homepage']}'>{of['homepage']}</a></p>" if of["homepage"] else ""
    main = (
        f"<h1>{of['name']}</h1><p>{of['description']}</p><p>Version {of['version']} · {of['license']} licence · "
        f"{of['downloads']:,} downloads</p>{home}<section>{of['readme']}</section><h2>Versions</h2>"
        f"<table><tr><th>Number</th><th>Released</th></tr>{versions}</table>"
    )
    return _frame(f"{of['name']} - packages", main)


_GENRES = {4: "Comedy", 7: "Drama", 9: "Western"}


def film(words: Words) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = [
        {"type": "heading", "text": words.title()} if number % 2 == 0 else {"type": "text", "text": words.paragraph()}
        for number in range(2 * words.number(2, 4))
    ]
    return {
        "film": {
            "title": words.title(),
            "genre": words.pick(*_GENRES),
            "minutes": words.number(61, 200),
            "views": words.number(1_000, 900_000),
            "stars": words.number(1, 5),
            "shown": f"{words.day().isoformat()}T20:15:00",
            "cast": [f"{words.person()}" for _ in range(words.number(2, 5))],
            "blocks": [*blocks, {"type": "list", "entries": [words.sentence() for _ in range(words.number(2, 4))]}],
        }
    }


def film_html(answer: Mapping[str, Any]) -> str:
    of = answer["film"]

    def block(of: Mapping[str, Any]) -> str:
        match of["type"]:
            case "heading":
                return f"<h2>{of['text']}</h2>"
            case "text":
                return f"<p>{of['text']}</p>"
            case _:
                return f"<ul>{''.join(f'<li>{each}</li>' for each in of['entries'])}</ul>"

    day = date.fromisoformat(of["shown"][:10])
    main = (
        f"<h1>{of['title']}</h1><p>A film of {of['minutes'] // 60} h {of['minutes'] % 60} min, seen by "
        f"{of['views'] / 1000:.1f}K people, of the kind {_GENRES[of['genre']]}</p>"
        f"<p>The critics gave it {'★' * of['stars']}{'☆' * (5 - of['stars'])} on {day:%A}, {day.isoformat()}</p>"
        f"<p>With {', '.join(of['cast'])} and many others</p>{''.join(map(block, of['blocks']))}"
    )
    return _frame(of["title"], main)


@dataclass(frozen=True)
class PageMaker:
    """How answers of a kind are made up, and shown."""

    answer: Callable[[Words], dict[str, Any]]
    html: Callable[[Mapping[str, Any]], str]


KINDS = {
    "product": PageMaker(product, product_html),
    "german product": PageMaker(german_product, german_product_html),
    "article": PageMaker(article, article_html),
    "story": PageMaker(story, story_html),
    "listing": PageMaker(listing, listing_html),
    "thread": PageMaker(thread, thread_html),
    "standings": PageMaker(standings, standings_html),
    "recipe": PageMaker(recipe, recipe_html),
    "job": PageMaker(job, job_html),
    "results": PageMaker(results, results_html),
    "package": PageMaker(package, package_html),
    "film": PageMaker(film, film_html),
}
