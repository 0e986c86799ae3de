"""Tasks of clicks: buttons, links, tabs, menus, boxes to tick, lists."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Final

from protocol.acting.tree import SemanticNode
from tests.acting.episode import NotShownError, Played

MOST_TABS: Final = 12
MOST_TRIES: Final = 3
LEAD_S: Final = 0.15
"""How long an action takes until its click arrives."""

_WIDE_FIELD: Final = 23
"""From this height on a field has more than one line, in CSS pixels."""


def quoted_button(game: Played) -> None:
    """Click the button whose name the goal quotes."""
    game.press(game.quoted[0], "btn")


def only_button(game: Played) -> None:
    """Click the only button."""
    game.click(game.nodes("btn")[0])


def one_or_two(game: Played) -> None:
    """Click the buttons that the goal names by numbers in capital letters, in its order."""
    seconds = re.search(r"wait (\d+) second", game.goal)
    for number, name in enumerate(re.findall(r"\b(?:ONE|TWO)\b", game.goal)):
        if number and seconds:
            clicked_ms = max(one.at for one in game.page.inputs) if game.look() else 0.0
            game.do("wait", seconds=max(clicked_ms / 1000 + float(seconds[1]) - time.time() - LEAD_S, 0.0))
        game.press(name, "btn")


def quoted_link(game: Played) -> None:
    """Click the link whose words the goal quotes."""
    game.press(game.quoted[0], "btn", "link")


def named_tab(game: Played) -> None:
    """Open the tab that the goal names."""
    name = game.goal.removeprefix("Click on ").rstrip(".")
    game.press(name, "tab")


def link_in_tabs(game: Played) -> None:
    """Open one tab after the other until the link is there."""
    names = [node.name for node in game.nodes("tab") if "selected" not in node.states]
    for name in names[:MOST_TABS]:
        if _pressed_link(game):
            return
        game.press(name, "tab")
    _pressed_link(game)


def link_in_sections(game: Played) -> None:
    """Open one section after the other until the link is there."""
    names = [node.name for node in game.nodes("tab") if node.name.startswith("Section")]
    for name in names:
        game.press(name, "tab")
        if _pressed_link(game):
            return


def _pressed_link(game: Played) -> bool:
    wanted = game.quoted[0]
    links = [node for node in game.nodes("btn", "link") if node.name == wanted and not node.occluded]
    if links:
        game.click(links[0])
    return bool(links)


def section(game: Played) -> None:
    """Open the section, then submit."""
    game.press("Section", "tab")
    game.submit()


def dialog(game: Played) -> None:
    """Close the dialog, or click what the goal names in it."""
    name = game.quoted[0]
    game.press("Close" if name == "x" else name, "btn")


def listed(goal: str) -> list[str]:
    """Return the names that a goal lists between its verb and what follows."""
    match = re.search(r"Select (?:words similar to )?(.*?)(?: from the .*)? and click Submit", goal)
    names = match[1].split(", ") if match else []
    return [] if names == ["nothing"] else names


def checkboxes(game: Played) -> None:
    """Check what is listed, then submit."""
    for name in listed(game.goal):
        box = game.find(name, "chk")
        if "checked" not in box.states:
            game.do("check", element=box.id)
    game.submit()


def option(game: Played) -> None:
    """Choose the option, then submit."""
    game.press(listed(game.goal)[0], "radio")
    game.submit()


def dropdown(game: Played) -> None:
    """Choose from the list, then submit."""
    box, wanted = game.nodes("sel")[0], listed(game.goal)[0]
    if box.value != wanted:
        game.do("selectDropdown", element=box.id, value=wanted)
    game.submit()


def scroll_list(game: Played) -> None:
    """Choose the first from the list, then the others by keys, then submit."""
    names = listed(game.goal)
    box = game.nodes("sel")[0]
    options = [one.strip() for one in box.context.split(" | ")]
    at = sorted(options.index(name) for name in names)
    game.do("selectDropdown", element=box.id, value=options[at[0]])
    game.look()
    game.focus(box.id)
    for here, there in pairwise(at):
        for _ in range(there - here):
            game.key("ArrowDown", "Control")
        game.key("Space", "Control")
    game.submit()


_SYNONYMS: Final = tuple(
    frozenset(one.split())
    for one in (
        "big large huge enormous gigantic", "small tiny little mini petite", "red scarlet crimson vermillion",
        "happy cheerful joyful gleeful delighted", "sad unhappy sorrowful miserable tragic",
        "angry mad furious irritated", "evil wicked immoral sinful corrupt depraved",
        "wrong incorrect mistaken erroneous", "real genuine actual", "strange odd peculiar unusual weird",
        "stop cease halt end finish", "scared terrified panicked fearful frightened afraid",
        "quiet calm peaceful serene mild", "old aged archaic", "love like adore favor", "kill murder assassinate",
        "keep retain preserve sustain maintain", "hide conceal camouflage", "hate despise loathe detest dislike",
        "funny humorous amusing comical laughable", "fat fleshy plump chubby", "stupid dumb dull unwise",
        "delicious savory delectable appetizing", "cut slice carve chop", "brave courageous fearless",
        "begin start initiate launch", "answer reply response", "television televisions tv tvs",
        "house home houses homes", "fire flame fires flames", "pig pork swine",
        "rabbit rabbits bunny bunnies", "car cars automobile automobiles vehicle vehicles", "water",
    )
)  # fmt: skip


def synonyms(game: Played) -> None:
    """Check the words that mean the same as those that are listed, then submit."""
    wanted = frozenset[str]()
    for name in listed(game.goal):
        wanted |= next((one for one in _SYNONYMS if name.lower() in one), frozenset({name.lower()}))
    for box in game.nodes("chk"):
        if box.name.lower() in wanted:
            game.do("check", element=box.id)
    game.submit()


def menu_path(game: Played) -> None:
    """Hover over the way to an item, then click it."""
    *way, last = game.goal.removeprefix("Select ").split(">")
    for name in way:
        game.do("hover", element=game.find(name, "menu").id)
        game.do("wait", seconds=0.4)
    game.press(last, "menu")


def menu_item(game: Played) -> None:
    """Open the menu, and click what is called so or has that icon, which may lie one level deeper."""
    game.press("Menu", "btn")
    game.look()
    icons = [node.name for node in game.page.nodes if node.role == "img" and node not in game.shown]
    wanted = game.quoted[1] if len(game.quoted) > 1 else icons[0]
    inner = game.seek("Playback", "menu")
    if _item(game, wanted) is None and inner is not None:
        game.do("hover", element=inner.id)
        game.do("wait", seconds=0.4)
        game.look()
    item = _item(game, wanted)
    if item is None:
        raise NotShownError(wanted)
    game.click(item)


def _item(game: Played, wanted: str) -> SemanticNode | None:
    """Return the item of a menu that is called so, or has that icon, which stands behind it in the tree."""
    item = None
    for node in game.shown:
        item = node if node.role == "menu" else item
        if node.name == wanted and (node.role == "img" or node is item):
            return item
    return None


def pie(game: Played) -> None:
    """Open the pie menu, and click the slice of the letter."""
    game.press("+", "text", "btn", "img")
    for _ in range(MOST_TRIES):
        slices = [one for one in game.nodes("text", "btn") if one.name == game.quoted[0]]
        if game.episode.ended or not slices:
            return
        game.click(slices[0])  # what is drawn anew under the pointer hears no click


def widget(game: Played) -> None:
    """Click a widget of a kind."""
    kind = game.quoted[0]
    roles = {"radio": "radio", "checkbox": "chk", "text": "inp", "textarea": "inp", "button": "btn"}
    nodes = game.nodes(roles[kind])
    if kind in {"text", "textarea"}:
        nodes = [node for node in nodes if _is_wide(node) is (kind == "textarea")]
    game.click(nodes[0])


def _is_wide(node: SemanticNode) -> bool:
    return node.box is not None and node.box[3] >= _WIDE_FIELD


def cancel_or_sign(game: Played) -> None:
    """Read the agreement to its end, sign it, and click what the goal names."""
    if game.quoted:
        area = next(node for node in game.nodes("inp") if node.scroll is not None)
        game.do("scroll_container", element=area.id, pages=50)
        game.fill(game.find("Name", "inp"), game.quoted[0])
        game.press(game.quoted[1], "btn")
    else:
        game.press("Cancel", "btn")


ORACLES: Final[Mapping[str, Callable[[Played], None]]] = MappingProxyType(
    {
        **dict.fromkeys(("click-button", "unicode-test"), quoted_button),
        "click-test": only_button,
        **dict.fromkeys(("click-test-2", "click-test-transfer", "click-button-sequence", "button-delay"), one_or_two),
        "click-link": quoted_link,
        "click-tab": named_tab,
        **dict.fromkeys(("click-tab-2", "click-tab-2-easy", "click-tab-2-medium", "click-tab-2-hard"), link_in_tabs),
        **dict.fromkeys(("click-collapsible-2", "click-collapsible-2-nodelay"), link_in_sections),
        **dict.fromkeys(("click-collapsible", "click-collapsible-nodelay"), section),
        **dict.fromkeys(("click-dialog", "click-dialog-2"), dialog),
        **dict.fromkeys(("click-checkboxes", "click-checkboxes-large", "click-checkboxes-transfer"), checkboxes),
        "click-checkboxes-soft": synonyms,
        "click-option": option,
        "choose-list": dropdown,
        "click-scroll-list": scroll_list,
        "click-menu": menu_path,
        "click-menu-2": menu_item,
        **dict.fromkeys(("click-pie", "click-pie-nodelay"), pie),
        "click-widget": widget,
        "sign-agreement": cancel_or_sign,
    }
)
