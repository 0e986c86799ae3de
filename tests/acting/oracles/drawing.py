"""Tasks of drawings: shapes, colours, points, grids, and what has to be dragged."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from protocol.acting.tree import SemanticNode
from tests.acting.episode import NotShownError, Played, middle

_COLOURS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "red": "ff0000", "green": "008000", "blue": "0000ff", "aqua": "00ffff", "cyan": "00ffff", "black": "000000",
        "magenta": "ff00ff", "yellow": "ffff00", "olive": "808000", "lime": "00ff00", "white": "ffffff",
        "grey": "808080", "purple": "800080", "orange": "ffa500", "pink": "ffc0cb",
    }
)  # fmt: skip
_LARGE: Final = 15
"""From this size on a shape is large; of a letter, from the second on."""
_LARGE_LETTER: Final = 18
_DRAWN: Final = {"rectangle": "rect", "rectangles": "rect", "circles": "circle", "triangles": "triangle"}
_STEP: Final = 30.0
_BOX_EDGE: Final = 40
"""A shape that is larger than this is a box to drag into."""

Point = tuple[float, float]


def is_coloured(node: SemanticNode, colour: str) -> bool:
    """Return whether a node has a colour of this name."""
    return node.colour.rpartition("#")[2] == _COLOURS[colour]


def drawn(game: Played, *kinds: str) -> list[SemanticNode]:
    """Read the page anew; returns what is drawn, of these shapes if any are named; no drawing as a whole."""
    return [node for node in game.look() if node.shape in kinds or (not kinds and node.shape not in {"", "drawing"})]


def fits(node: SemanticNode, words: str) -> bool:
    """Return whether a drawing is what words say: a size, a colour, and what it is."""
    return all(_fits_word(node, word) for word in words.split())


def _fits_word(node: SemanticNode, word: str) -> bool:  # noqa: PLR0911 - a row for each kind of word
    _, _, width, height = node.box or (0, 0, 0, 0)
    letter = node.name if node.shape == "text" else ""
    size = height if letter else width
    large = size >= (_LARGE_LETTER if letter else _LARGE)
    match word:  # what words of a goal mean
        case "small" | "large":
            return large is (word == "large")
        case "item":
            return True
        case "shape":
            return not letter
        case "letter" | "digit":
            return bool(letter) and letter.isdigit() is (word == "digit")
        case _ if word in _COLOURS:
            return is_coloured(node, word)
        case _ if len(word) == 1:
            return letter == word
        case _:
            return node.shape == _DRAWN.get(word, word)


def one_of_a_kind(game: Played) -> None:
    """Click a drawing that is what the goal says."""
    words = re.sub(r"^Click on an? ", "", game.goal)
    game.click(next(node for node in drawn(game) if fits(node, words)))


def count(game: Played) -> None:
    """Click the number of drawings that are what the goal says."""
    found = re.search(r"How many (.*)s are there", game.goal)
    number = sum(fits(node, found[1] if found else "") for node in drawn(game))
    game.press(str(number), "btn")


def figure(game: Played) -> None:
    """Click the button that says what is drawn."""
    node = drawn(game)[0]
    names = {"rect": "Rectangle", "circle": "Circle", "triangle": "Triangle"}
    game.press(names.get(node.shape) or ("Number" if node.name.isdigit() else "Letter"), "btn")


def coloured_box(game: Played) -> None:
    """Click the box of a colour."""
    found = re.search(r"Click on the (\w+) colored", game.goal)
    game.click(next(node for node in game.nodes() if is_coloured(node, found[1] if found else "")))


def shades(game: Played) -> None:
    """Click all boxes whose colour is a shade of one, then submit."""
    found = re.search(r"shades of (\w+)", game.goal)
    for node in [one for one in game.nodes("btn") if not one.name and one.colour.split(" ")[0] == (found or "")[1]]:
        game.click(node)
    game.submit()


def ascending(game: Played) -> None:
    """Click the numbers in their order, where they stood before they were hidden."""
    places = {int(node.name): middle(node) for node in game.nodes() if node.name.isdigit()}
    for number in sorted(places):
        game.click_at(*places[number])


def coordinate(game: Played) -> None:
    """Click a point of a grid, counted from where its axes cross."""
    found = re.search(r"\((-?\d+),\s*(-?\d+)\)", game.goal)
    if found is None:
        raise NotShownError(game.goal)
    lines = [middle(node) for node in drawn(game, "line")]
    across = min(lines, key=lambda one: abs(one[0] - 79))
    x, y = across[0] + _STEP * int(found[1]), min(one[1] for one in lines) - _STEP * int(found[2])
    circles = [node for node in game.shown if node.shape == "circle"]
    game.click(min(circles, key=lambda node: math.dist(middle(node), (x, y))))


def circle_middle(game: Played) -> None:
    """Click the middle of a circle, then submit."""
    game.click_at(*middle(drawn(game, "circle")[0]))
    game.submit()


def midpoint(game: Played) -> None:
    """Click the middle between two points, then submit."""
    (left, top), (right, bottom) = (middle(node) for node in drawn(game, "circle"))
    game.click_at((left + right) / 2, (top + bottom) / 2)
    game.submit()


def bisection(game: Played) -> None:
    """Click a point that halves an angle, then submit."""
    nodes = drawn(game, "circle")
    x, y = next(middle(node) for node in nodes if is_coloured(node, "blue"))
    ends = [middle(node) for node in nodes if not is_coloured(node, "blue")]
    ways = [
        ((right - x) / math.dist((x, y), (right, down)), (down - y) / math.dist((x, y), (right, down)))
        for right, down in ends
    ]
    across, down = sum(one[0] for one in ways), sum(one[1] for one in ways)
    length = math.hypot(across, down)
    reach = min(math.dist((x, y), one) for one in ends) / 2
    game.click_at(x + across / length * reach - 2, y + down / length * reach - 2)
    game.submit()


def right_angle(game: Played) -> None:
    """Click a point that makes a right angle at the blue one, then submit."""
    nodes = drawn(game, "circle")
    x, y = next(middle(node) for node in nodes if is_coloured(node, "blue"))
    other = next(middle(node) for node in nodes if not is_coloured(node, "blue"))
    across, down = -(other[1] - y), other[0] - x
    length = math.hypot(across, down)
    points = [
        (x + sign * across / length * reach, y + sign * down / length * reach)
        for reach in (60, 40, 25)
        for sign in (1, -1)
    ]
    inside = [(px, py) for px, py in points if 8 < px < 145 and 60 < py < 172]
    game.click_at(inside[0][0] - 2, inside[0][1] - 2)
    game.submit()


# -- what is dragged ---------------------------------------------------------------------------------------------------

_WAYS: Final = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}


def dragged_way(game: Played) -> None:
    """Drag a drawing a little in a direction, then submit."""
    across, down = _WAYS[next(word for word in game.goal.split() if word in _WAYS)]
    x, y = middle(drawn(game)[0])
    game.drag((x, y), (x + 15 * across, y + 15 * down))
    game.submit()


def _boxes(nodes: list[SemanticNode]) -> list[SemanticNode]:
    return sorted((one for one in nodes if one.box and one.box[2] > _BOX_EDGE), key=lambda one: (one.box or (0,))[0])


def dragged_into_box(game: Played) -> None:
    """Drag all shapes of a kind into the box, those of the others out of it, then submit."""
    kind = _DRAWN[game.goal.split()[2]]
    box = _boxes(drawn(game))[0]
    _sort_out(game, [(box, lambda node: node.shape == kind)])
    game.submit()


def dragged_into_two(game: Played) -> None:
    """Drag the shapes that the goal names into the left box, all others into the right one, then submit."""
    word = game.goal.split()[2]
    left, right = _boxes(drawn(game))
    wanted: Callable[[SemanticNode], bool] = (
        (lambda node: node.shape == _DRAWN[word]) if word in _DRAWN else (lambda node: is_coloured(node, word))
    )
    _sort_out(game, [(left, wanted), (right, lambda node: not wanted(node))])
    game.submit()


def _sort_out(game: Played, rules: list[tuple[SemanticNode, Callable[[SemanticNode], bool]]]) -> None:
    shapes = [node for node in game.shown if node.shape and node.box and node.box[2] <= _BOX_EDGE]
    for box, wanted in rules:
        left, top, width, height = box.box or (0, 0, 0, 0)
        for place, node in enumerate(one for one in shapes if wanted(one)):
            game.drag(middle(node), (left + 14 + place * 13 % (width - 26), top + 14 + 14 * (place % 2) % height))


def dragged_small_box(game: Played) -> None:
    """Drag the small box into the large one, then submit."""
    small, large = game.find("s", "text", "btn"), game.find("L", "text", "btn")
    x, y = (small.box or (0, 0))[:2]
    left, top = (large.box or (0, 0))[:2]
    start = (x + 8, y + 8)
    game.drag(start, (start[0] + left - x + 13, start[1] + top - y + 13))
    game.submit()


def _position(goal: str, at: int, count: int) -> int:
    numbered = re.search(r"to the (\d)", goal)
    if numbered:
        return int(numbered[1]) - 1
    places = {"to the top": 0, "to the bottom": count - 1, "up by one": at - 1, "down by one": at + 1}
    return next(place for words, place in places.items() if words in goal)


def _items(game: Played) -> list[SemanticNode]:
    """Read the page anew; returns the items of a list, without the list that holds them."""
    nodes = game.nodes("text", "item", "btn")
    return [node for node in nodes if " " not in node.name and node.name != "Submit"]


def dragged_item(game: Played) -> None:
    """Drag an item of a list to another position."""
    names = _items(game)
    at = next(place for place, node in enumerate(names) if f"Drag {node.name} " in game.goal)
    _drop(game, names, at, _position(game.goal, at, len(names)))


def _drop(game: Played, items: list[SemanticNode], at: int, to: int) -> None:
    x, y = middle(items[at])
    beyond = 6 if to > at else -6
    game.drag((x, y), (x, middle(items[to])[1] + beyond))


_ROWS: Final = {"top": 0, "center": 1, "bottom": 2}
_COLUMNS: Final = {"left": 0, "center": 1, "right": 2}


_HALF_PX: Final = 27
"""From the beginning of a name a bit past the middle of its box."""


def dragged_in_grid(game: Played) -> None:
    """Drag an item of a grid of nine to another place."""
    items = _items(game)
    at = next(place for place, node in enumerate(items) if f"Drag {node.name} " in game.goal)
    steps = {"up": -3, "down": 3, "left": -1, "right": 1}
    step = re.search(r"(\w+) by one", game.goal)
    words = game.goal.rstrip(".").partition(" to the ")[2].split()
    to = at + steps[step[1]] if step else _ROWS.get(words[0], 1) * 3 + _COLUMNS.get(words[-1], 1)
    x, y = middle(items[at])
    left, top = (items[to % 3].box or (0, 0))[0], (items[to // 3 * 3].box or (0, 0))[1]
    ahead = to % 3 > at % 3 or (to % 3 == at % 3 and to > at)
    below = to // 3 > at // 3 or (to // 3 == at // 3 and ahead)
    across = x if to % 3 == at % 3 else left + (_HALF_PX if to % 3 > at % 3 else 2)
    game.drag((x, y), (across, top + (_HALF_PX if below else 2)))


def sorted_numbers(game: Played) -> None:
    """Drag the numbers of a list into their order, then submit."""
    for place in range(4):
        items = [node for node in game.nodes("text", "item", "btn") if re.fullmatch(r"-?\d+", node.name)]
        least = min(range(place, len(items)), key=lambda one: int(items[one].name))
        if least != place:
            _drop(game, items, least, place)
    game.submit()


def resized(game: Played) -> None:
    """Drag the corner of a text area, then submit."""
    area = game.nodes("inp")[0]
    left, top, width, height = area.box or (0, 0, 0, 0)
    across = -20 if "smaller" in game.goal and "width" in game.goal else 20 if "width" in game.goal else 0
    down = -20 if "smaller" in game.goal and "height" in game.goal else 20 if "height" in game.goal else 0
    corner = (left + width - 5, top + height - 5)
    game.drag(corner, (corner[0] + across, corner[1] + down))
    game.submit()


def highlighted(game: Played) -> None:
    """Select the words of a paragraph, then submit."""
    number = re.search(r"(\d)(?:st|nd|rd|th)", game.goal)
    node = game.nodes("text")[int(number[1]) - 1 if number else 0]
    if node.id in game.page.elements:
        game.do("selectText", element=node.id)
    else:
        left, top, width, height = node.box or (0, 0, 0, 0)
        game.drag((left + 0.5, top + 2), (left + width + 15, top + height - 2))
    game.submit()


def line_through(game: Played) -> None:
    """Draw a line through a dot, then submit."""
    x, y = middle(drawn(game, "circle")[0])
    across, down = (25, 0) if "horizontal" in game.goal else (0, 25)
    game.drag((x - across, y - down), (x + across, y + down))
    game.submit()


ORACLES: Final[Mapping[str, Callable[[Played], None]]] = MappingProxyType(
    {
        "click-shape": one_of_a_kind,
        "count-shape": count,
        "identify-shape": figure,
        "click-color": coloured_box,
        "click-shades": shades,
        "ascending-numbers": ascending,
        "grid-coordinate": coordinate,
        "circle-center": circle_middle,
        "find-midpoint": midpoint,
        "bisect-angle": bisection,
        "right-angle": right_angle,
        **dict.fromkeys(("drag-circle", "drag-single-shape"), dragged_way),
        "drag-shapes": dragged_into_box,
        "drag-shapes-2": dragged_into_two,
        "drag-box": dragged_small_box,
        "drag-items": dragged_item,
        "drag-items-grid": dragged_in_grid,
        "drag-sort-numbers": sorted_numbers,
        "resize-textarea": resized,
        **dict.fromkeys(("highlight-text", "highlight-text-2"), highlighted),
        "draw-line": line_through,
    }
)
