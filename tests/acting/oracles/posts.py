"""Tasks of what people write and offer: mails, posts, contacts, results, meals, tickets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from protocol.acting.tree import SemanticNode
from tests.acting.episode import NotShownError, Played
from tests.acting.oracles.filling import pick_date

_TRASH: Final = re.compile(r"delet|trash|rid of|remov|eras|junk|garbage|discard|throw|out of|don't want", re.IGNORECASE)
_STAR: Final = re.compile(r"important|mark|star|flag", re.IGNORECASE)
_REPLY: Final = re.compile(r"\"|reply|respond|answer", re.IGNORECASE)


def mail(game: Played) -> None:
    """Do with the mail of somebody what the goal says; what it says otherwise is to be forwarded."""
    if _REPLY.search(game.goal):
        reply(game)
    elif _TRASH.search(game.goal):
        _press_beside(game, "trash")
    elif _STAR.search(game.goal):
        _press_beside(game, "star")
    else:
        forward(game)


def _press_beside(game: Played, wanted: str) -> None:
    sender = _senders(game)[0]
    game.click(next(node for node in game.nodes("btn") if node.name == wanted and _first_word(node.context) == sender))


def _first_word(text: str) -> str:
    return text.partition(" ")[0]


def _senders(game: Played) -> list[str]:
    """Read the page anew; returns who has sent a mail and is named in the goal, the longest name first.

    Raises:
        NotShownError: nobody is.
    """
    words = re.sub(r'"[^"]*"', "", game.goal)
    named = {
        name for node in game.nodes("btn") if node.name == "trash" and (name := _first_word(node.context)) in words
    }
    if not named:
        raise NotShownError(words)
    return sorted(named, key=len, reverse=True)


def _open_mail(game: Played, sender: str) -> None:
    game.click(next(node for node in game.nodes("btn") if node.name.startswith(f"{sender} ")))


def forward(game: Played) -> None:
    """Forward the mail of one to another."""
    sender, receiver = _route(game)
    _open_mail(game, sender)
    game.press("Forward")
    game.fill(next(node for node in game.nodes("inp") if not node.value), receiver)
    game.press("send", "btn", "text")


def _route(game: Played) -> tuple[str, str]:
    """Return whose mail goes to whom: who of the two has sent one, or is said to."""
    senders = _senders(game)
    said = re.search(r"(?:by|from) (\w+)|(\w+)(?:'s| sent| wrote| gave| has sent)\b", game.goal)
    sender = next((name for name in (said.groups() if said else ()) if name in senders), senders[0])
    first, *names = re.findall(r"\b[A-Z][a-z]+\b", re.sub(r"[.?!] [A-Z]\w*", "", game.goal))
    others = [name for name in (*names, first) if name not in {sender, "I"}]
    receiver = re.search(r"\bto ([A-Z]\w+)", game.goal)
    return sender, receiver[1] if receiver and receiver[1] in others else others[0]


def reply(game: Played) -> None:
    """Reply to the mail of somebody with a text."""
    _open_mail(game, _senders(game)[0])
    game.press("Reply")
    field = next(node for node in game.nodes("inp") if not node.value)
    game.fill(field, game.quoted[0])
    game.press("send", "btn", "text")


# -- posts -------------------------------------------------------------------------------------------------------------

_MORE: Final = ("Share via DM", "Copy link to Tweet", "Embed Tweet", "Mute", "Block", "Report")


def _posts(game: Played) -> Iterator[tuple[str, list[SemanticNode]]]:
    """Read the page anew; returns each post: who wrote it, and its controls."""
    user, controls = "", list[SemanticNode]()
    for node in game.look():
        named = re.search(r"@\w+", node.name) if node.role == "text" else None
        if named:
            if user:
                yield user, controls
            user, controls = named[0], []
        elif node.role in {"btn", "link"}:
            controls.append(node)
    yield user, controls


def _control(controls: list[SemanticNode], name: str) -> SemanticNode:
    known = [node for node in controls if node.name.lower() == name.lower()]
    return known[0] if known else controls[0]


def post(game: Played) -> None:
    """Click a control of the post of somebody, also one that lies behind its others."""
    user = re.findall(r"@\w+", game.goal)[0]
    wanted = game.quoted[0]
    controls = next(controls for name, controls in _posts(game) if name == user)
    if wanted.startswith(_MORE):
        game.click(_control(controls, "more"))
        game.press(wanted)
    else:
        game.click(_control(controls, wanted))


def all_posts(game: Played) -> None:
    """Click a control of all posts of somebody, or of so many, then submit."""
    user = re.findall(r"@\w+", game.goal)[0]
    number = re.search(r"on (\d+) post", game.goal)
    mine = [controls for name, controls in _posts(game) if name == user]
    for controls in mine[: int(number[1]) if number else None]:
        game.click(_control(controls, game.quoted[0]))
    game.submit()


def contact(game: Played) -> None:
    """Turn the pages to somebody, and click what is asked for."""
    found = re.search(r"Find (.*) in the contact book and click on their (\w+)", game.goal)
    if found is None:
        raise NotShownError(game.goal)
    for _ in range(5):
        if any(node.role == "h" and node.name == found[1] for node in game.look()):
            break
        game.press(">", "link")
    nodes = [node for node in game.look() if node.role in {"text", "btn"}]
    place = next(at for at, node in enumerate(nodes) if node.name.lower().startswith(found[2]))
    game.click(nodes[place + 1])


def result(game: Played) -> None:
    """Search, turn the pages, and click the result of a number."""
    found = re.search(r"the (\d)(?:st|nd|rd|th) search result", game.goal)
    place = int(found[1]) - 1 if found else 0
    game.fill(game.nodes("inp")[0], game.quoted[0])
    game.press("Search", "btn")
    if place >= 3:
        game.press(str(place // 3 + 1), "link")
    links = [node for node in game.nodes("link") if not re.fullmatch(r"[<>«»]|\d|First|Last|Prev.*|Next", node.name)]
    game.click(links[place % 3])


# -- what is bought ----------------------------------------------------------------------------------------------------


def meals(game: Played) -> None:
    """Order meals by their names, or so many of a kind."""
    named = re.search(r"each item: (.*)", game.goal)
    counted = re.search(r"Order (\d+) items that are (\S+)", game.goal)
    wanted = [name.strip() for name in named[1].split(",")] if named else _of_a_kind(game, counted)
    for name in wanted:
        add = next(node for node in game.nodes("btn") if node.name == "+" and node.context.startswith(name[:30]))
        game.click(add)
    game.press("Order!", "btn")


def _of_a_kind(game: Played, counted: re.Match[str] | None) -> list[str]:
    if counted is None:
        raise NotShownError(game.goal)
    meal, fitting = "", list[str]()
    for node in game.look():
        meal = node.name if node.role == "text" else meal
        if node.role == "img" and node.name == counted[2]:
            fitting.append(meal)
    return [fitting[place % len(fitting)] for place in range(int(counted[1]))]


def _minutes(text: str) -> int:
    hours, minutes = re.findall(r"\d+", text)
    return int(hours) * 60 + int(minutes)


def ticket(game: Played) -> None:
    """Buy the ticket that is cheapest, dearest, shortest or longest."""
    offers = list[tuple[int, int, SemanticNode]]()
    duration = 0
    for node in game.look():
        if re.fullmatch(r"\d+h \d+m", node.name):
            duration = _minutes(node.name)
        price = re.search(r"\$(\d+)", node.name)
        if node.role == "btn" and price:
            offers.append((int(price[1]), duration, node))
    priced = "cost" in game.goal or "cheapest" in game.goal
    offers.sort(key=lambda one: one[0] if priced else one[1])
    game.click(offers[-1 if "most" in game.goal or "longest" in game.goal else 0][2])


def flight(game: Played) -> None:
    """Look for flights between two places on a day, and book the one that the goal says."""
    found = re.search(r"from: (.*) to: (.*) on", game.goal)
    if found is None:
        raise NotShownError(game.goal)
    for name, place in (("From:", found[1]), ("To:", found[2])):
        game.fill(game.find(name, "inp"), place)
        game.do("wait", seconds=0.5)
        items = [node for node in game.look() if node.role not in {"inp", "h"} and place in node.name]
        game.click(items[0])
    dated = next(node for node in game.nodes("inp") if "readonly" in node.states)
    pick_date(game, dated)
    game.press("Search", "btn")
    ticket(game)


def stock(game: Played) -> None:
    """Wait until a price is low enough, then buy."""
    limit = float(re.findall(r"\$([\d.]+)", game.goal)[0].rstrip("."))
    for _ in range(60):
        nodes = game.look()
        price = next(float(node.name[1:]) for node in nodes if re.fullmatch(r"\$[\d.]+", node.name))
        if price <= limit:
            game.press("Buy", "btn")
            return
        game.do("wait", seconds=0.05)


ORACLES: Final[Mapping[str, Callable[[Played], None]]] = MappingProxyType(
    {
        **dict.fromkeys(
            (
                "email-inbox", "email-inbox-delete", "email-inbox-forward", "email-inbox-forward-nl",
                "email-inbox-forward-nl-turk", "email-inbox-important", "email-inbox-nl-turk", "email-inbox-noscroll",
                "email-inbox-reply", "email-inbox-star-reply",
            ),
            mail,
        ),
        "social-media": post,
        **dict.fromkeys(("social-media-all", "social-media-some"), all_posts),
        "phone-book": contact,
        "search-engine": result,
        "order-food": meals,
        "buy-ticket": ticket,
        **dict.fromkeys(("book-flight", "book-flight-nodelay"), flight),
        "stock-market": stock,
    }
)  # fmt: skip
