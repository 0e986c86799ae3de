"""Tasks of fields: texts, dates, numbers, tables to read, text to copy."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import pairwise
from types import MappingProxyType
from typing import Final

from protocol.acting.tree import SemanticNode
from protocol.faults import FaultError
from tests.acting.episode import NotShownError, Played


def quoted_text(game: Played) -> None:
    """Put what the goal quotes into the field, then submit."""
    game.fill(game.nodes("inp")[0], game.quoted[0])
    game.submit()


def cased_text(game: Played) -> None:
    """Put what the goal quotes into the field in the letters it asks for, then submit."""
    text = game.quoted[0]
    game.fill(game.nodes("inp")[0], text.upper() if "upper case" in game.goal else text.lower())
    game.submit()


def password_twice(game: Played) -> None:
    """Put the password into both fields, then submit."""
    for field in game.nodes("inp"):
        game.fill(field, game.quoted[0])
    game.submit()


def login(game: Played) -> None:
    """Log in; what pops up meanwhile is closed, and what it has kept from being typed is typed again."""
    for _ in range(3):
        for name, text in zip(("Username", "Password"), game.quoted, strict=True):
            _close_popup(game)
            field = game.find(name, "inp")
            if field.value != text:
                with suppress(FaultError):  # it pops up as soon as the field has the focus, and disables it
                    game.fill(field, text)
        _close_popup(game)
        if all(game.find(name, "inp").value for name in ("Username", "Password")):
            break
    buttons = [node for node in game.nodes("btn") if "disabled" not in node.states]
    game.click(
        next(node for name in ("Login", "Log in", "Submit", "Go", "OK") for node in buttons if node.name == name)
    )


def _close_popup(game: Played) -> None:
    if game.seek("Exit to home page?", "text"):
        game.press("Cancel", "btn")


def date(game: Played) -> None:
    """Put a date into a field for dates."""
    month, day, year = _date(game.goal)
    game.fill(game.nodes("inp")[0], f"{year}-{month}-{day}")
    game.submit()


def _date(goal: str) -> tuple[str, str, str]:
    found = re.search(r"(\d\d)/(\d\d)/(\d{4})", goal)
    if found is None:
        raise NotShownError(goal)
    return found[1], found[2], found[3]


def time(game: Played) -> None:
    """Put a time into a field for times."""
    found = re.search(r"(\d+):(\d\d) ([AP])M", game.goal)
    if found is None:
        raise NotShownError(game.goal)
    hour = int(found[1]) % 12 + (12 if found[3] == "P" else 0)
    game.fill(game.nodes("inp")[0], f"{hour:02}:{found[2]}")
    game.submit()


_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


def pick_date(game: Played, field: SemanticNode | None = None) -> None:
    """Pick the date of the goal from the calendar that opens at a field."""
    month, day, _ = _date(game.goal)
    game.click(field or game.nodes("inp")[0])
    for _ in range(24):
        nodes = game.look()
        shown = next((_month(node.name) for node in nodes if _month(node.name)), 0)
        if not shown:
            raise NotShownError("a month")
        if shown == int(month):
            break
        game.press("Prev" if shown > int(month) else "Next", "btn", "link")
    game.click(next(node for node in game.nodes("link", "btn") if node.name == str(int(day))))


def _month(name: str) -> int:
    first = name.partition(" ")[0]
    return _MONTHS.index(first) + 1 if first in _MONTHS else 0


def picked_date(game: Played) -> None:
    """Pick a date, then submit."""
    pick_date(game)
    game.submit()


def focus(game: Played) -> None:
    """Focus a field."""
    number = re.search(r"(\d+)(?:st|nd|rd|th)", game.goal)
    game.focus(game.nodes("inp")[int(number[1]) - 1 if number else 0].id)


def nth_word(game: Played) -> None:
    """Put the word of a number into the field, then submit."""
    number = re.search(r"(\d+)(?:st|nd|rd|th) word", game.goal)
    words = game.nodes("text")[0].name.split()
    game.fill(game.nodes("inp")[0], words[int(number[1]) - 1 if number else 0].strip(".,"))
    game.submit()


def table(game: Played) -> None:
    """Put the values of a table into the fields that are called like its rows, then submit."""
    texts = [node.name for node in game.nodes("text")]
    values = {key.rstrip(":"): value for key, value in pairwise(texts)}
    named = re.search(r"value of (.*?) into", game.goal)
    for field in game.nodes("inp"):
        game.look()
        key = named[1] if named else field.name.rstrip(":")
        game.fill(field, _first(texts, key, values))
    game.submit()


def _first(texts: list[str], key: str, values: Mapping[str, str]) -> str:
    return texts[texts.index(key) + 1] if key in texts else values[key]


def whole_value(game: Played, field: SemanticNode) -> str:
    """Return all that a field holds."""
    done = game.do("getText", element=field.id)
    for name in ("value", "text"):
        held = getattr(done, name, "")
        if held:
            return str(held)
    return field.value or ""


def copied(game: Played) -> None:
    """Copy one of the text areas into the text field, then submit."""
    number = re.search(r"(\d)(?:st|nd|rd|th) text area", game.goal)
    fields = game.nodes("inp")
    answer = next(node for node in fields if not node.value)
    areas = [node for node in fields if node.value]
    game.fill(answer, whole_value(game, areas[int(number[1]) - 1 if number else 0]))
    game.submit()


def last_word(game: Played) -> None:
    """Put the last word of a text area into the field, then submit."""
    fields = game.nodes("inp")
    area = next(node for node in fields if node.value)
    answer = next(node for node in fields if not node.value)
    game.fill(answer, whole_value(game, area).split()[-1].strip(".,"))
    game.submit()


def scrolled(game: Played) -> None:
    """Scroll a text area to the end that the goal names, then submit."""
    area = game.nodes("inp")[0]
    game.do("scroll_container", element=area.id, pages=-50 if "top" in game.goal else 50)
    game.submit()


def shown_text(game: Played) -> None:
    """Type what is shown into the field, then submit."""
    text = game.nodes("text")[0].name
    game.fill(game.nodes("inp")[0], text)
    game.submit()


def arithmetic(game: Played) -> None:
    """Solve the problem, type the answer, then submit."""
    problem = next(node.name for node in game.nodes("text") if re.search(r"\d", node.name))
    game.fill(game.nodes("inp")[0], str(_solved(problem)))
    game.submit()


def _solved(problem: str) -> int:
    term, _, result = (part.strip() for part in problem.partition("="))
    left, sign, right = term.split()
    ways = {"+": operator.add, "-": operator.sub, "x": operator.mul, "*": operator.mul}
    if "x" not in {left, right}:
        return int(ways[sign](int(left), int(right)))
    if left == "x":
        return int(result) - int(right) if sign == "+" else int(result) + int(right)
    return int(result) - int(left) if sign == "+" else int(left) - int(result)


def autocomplete(game: Played) -> None:
    """Type the beginning of an item, choose the one that ends as the goal says, then submit."""
    begin, *rest = game.quoted
    game.fill(game.nodes("inp")[0], begin)
    game.do("wait", seconds=0.7)
    items = [node for node in game.nodes("opt", "menu", "item", "text", "btn") if node.name.startswith(begin)]
    fitting = [node for node in items if node.name.endswith(rest[0] if rest else "")]
    game.click(fitting[0])
    game.submit()


def film(game: Played) -> None:
    """Fill the fields of a search for films, whatever they are called, then search."""
    found = re.search(r"Search for (.*) movies directed by (.*) from year (\d+)", game.goal)
    if found is None:
        raise NotShownError(game.goal)
    words = {"genre": found[1], "director": found[2], "year": found[3], "date": found[3]}
    fields = game.nodes("inp")
    names = _names_of(game, fields)
    for field, name in zip(fields, names, strict=True):
        game.look()
        game.fill(field, next(text for word, text in words.items() if word in name.lower()))
    game.press(next(node.name for node in reversed(game.look()) if node.name in {"Submit", "Search", "Go!"}))


def _names_of(game: Played, fields: list[SemanticNode]) -> list[str]:
    """Return what stands beside each field: its name, which is another for each, or the words below it."""
    names = [field.name for field in fields]
    below = [node.name for node in game.shown if node.role == "text" and not node.name.startswith("Movie Search")]
    first = next((node for node in game.shown if node.role in {"text", "inp"}), None)
    return below[: len(fields)] if first is not None and first.role == "inp" else names


def numbered_fields(game: Played) -> None:
    """Check the radio button of a number, put a number into a field, then submit."""
    radio = re.search(r"Check the (\d)", game.goal)
    number = re.search(r'number "(.*?)" into the (\d)', game.goal)
    if radio is None or number is None:
        raise NotShownError(game.goal)
    game.click(game.nodes("radio")[int(radio[1]) - 1])
    game.fill(game.nodes("inp")[int(number[2]) - 1], number[1])
    game.submit()


def chosen_then_button(game: Played) -> None:
    """Choose from a list that is drawn by the page, then click a button."""
    found = re.search(r"Choose (.*) from the dropdown", game.goal)
    game.click(next(node for node in game.look() if node.name.strip() in {"▾", ""} and not node.occluded))
    game.press(found[1] if found else "", "btn", "item", "opt", "text")
    game.press(game.quoted[0], "btn")


ORACLES: Final[Mapping[str, Callable[[Played], None]]] = MappingProxyType(
    {
        **dict.fromkeys(("enter-text", "enter-text-dynamic"), quoted_text),
        "enter-text-2": cased_text,
        "enter-password": password_twice,
        **dict.fromkeys(("login-user", "login-user-popup"), login),
        "enter-date": date,
        "enter-time": time,
        **dict.fromkeys(("choose-date", "choose-date-easy", "choose-date-medium", "choose-date-nodelay"), picked_date),
        **dict.fromkeys(("focus-text", "focus-text-2"), focus),
        "find-word": nth_word,
        **dict.fromkeys(("read-table", "read-table-2"), table),
        **dict.fromkeys(("copy-paste", "copy-paste-2"), copied),
        "scroll-text": last_word,
        "scroll-text-2": scrolled,
        "text-transform": shown_text,
        **dict.fromkeys(("simple-algebra", "simple-arithmetic"), arithmetic),
        **dict.fromkeys(("use-autocomplete", "use-autocomplete-nodelay"), autocomplete),
        **dict.fromkeys(("multi-layouts", "multi-orderings"), film),
        "form-sequence-2": numbered_fields,
        "form-sequence-3": chosen_then_button,
    }
)
