"""Tasks of sliders, spinners, calendars, editors, terminals and games."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from protocol.acting.tree import SemanticNode
from protocol.browsers.results import ElementRead
from tests.acting.episode import Played, middle


def _numbers(game: Played) -> list[int]:
    return [int(node.name) for node in game.nodes("text") if re.fullmatch(r"-?\d+", node.name)]


def _handles(game: Played) -> list[SemanticNode]:
    nodes = [node for node in game.nodes() if "slider" in node.name]
    return [node for node in nodes if "handle" in node.name] or nodes


def _slide(game: Played, place: int, wanted: int) -> None:
    """Move a slider near to a value by its handle, and on by keys; its ends say what it goes from and to."""
    ends = list[tuple[int, float, float]]()
    for key in ("Home", "End"):
        game.focus(_handles(game)[place].id)
        game.key(key)
        ends.append((_numbers(game)[place], *middle(_handles(game)[place])))
    (least, left, top), (most, right, bottom) = ends
    share = (wanted - least) / (most - least)
    target = (left + share * (right - left), top + share * (bottom - top))
    game.do("dragTo", element=_handles(game)[place].id, x=target[0], y=target[1])
    game.focus(_handles(game)[place].id)
    value, before = _numbers(game)[place], None
    while value not in {wanted, before}:
        for _ in range(abs(wanted - value)):
            game.key("ArrowRight" if wanted > value else "ArrowLeft")
        value, before = _numbers(game)[place], value


def slider(game: Played) -> None:
    """Move the slider, then submit."""
    _slide(game, 0, int(re.findall(r"-?\d+", game.goal)[0]))
    game.submit()


def sliders(game: Played) -> None:
    """Move all sliders, then submit."""
    for place, wanted in enumerate(re.findall(r"\d+", game.goal)):
        _slide(game, place, int(wanted))
    game.submit()


def slider_and_box(game: Played) -> None:
    """Move the slider, check a box, then submit."""
    _slide(game, 0, int(re.findall(r"-?\d+", game.goal)[0]))
    number = re.search(r"the (\d)(?:st|nd|rd|th) checkbox", game.goal)
    game.do("check", element=game.nodes("chk")[int(number[1]) - 1 if number else 0].id)
    game.submit()


def spinner(game: Played) -> None:
    """Move the spinner by keys, as it takes no others, then submit."""
    wanted = int(re.findall(r"-?\d+", game.goal)[0])
    game.focus(game.nodes("inp")[0].id)
    for _ in range(abs(wanted)):
        game.key("ArrowUp" if wanted > 0 else "ArrowDown")
    game.submit()


_WHEEL: Final[Mapping[str, str]] = MappingProxyType(
    {
        "red": "FF0000", "green": "00FF00", "blue": "0000FF", "yellow": "FFFF00", "cyan": "00FFFF",
        "magenta": "FF00FF", "black": "000000", "white": "FFFFFF", "orange": "FFA500", "purple": "800080",
        "pink": "FFC0CB", "grey": "808080", "gray": "808080", "brown": "A52A2A",
    }
)  # fmt: skip


def colour_field(game: Played) -> None:
    """Put a colour into the field of a colour picker, then submit."""
    word = re.search(r"Select (?:the color )?(\w+) with", game.goal)
    shown = next((node.colour.rpartition("#")[2] for node in _asked(game) if node.colour), "")
    field = game.nodes("inp")[0]
    game.fill(field, _WHEEL[word[1]] if word and word[1] in _WHEEL else shown.upper())
    game.key("Tab")
    game.submit()


def _asked(game: Played) -> list[SemanticNode]:
    game.look()
    below = {node.id for node in game.shown}
    return [node for node in game.page.nodes if node.id not in below and node.role != "text"]


# -- numbers -----------------------------------------------------------------------------------------------------------


def guess(game: Played) -> None:
    """Halve what is left until the number is found."""
    least, most = 0, 9
    while least <= most and not game.episode.ended:
        number = (least + most) // 2
        game.fill(game.nodes("inp")[0], str(number))
        game.submit()
        words = " ".join(node.name for node in game.nodes("text"))
        if "lower" in words:
            most = number - 1
        elif "higher" in words:
            least = number + 1
        else:
            return


def generated(game: Played) -> None:
    """Generate numbers until one is as the goal says, then submit."""
    limit = int((re.findall(r"\d+", game.goal) or ["0"])[0])
    for _ in range(60):
        game.press("Generate", "btn")
        number = _numbers(game)[0]
        ways = {"less": number < limit, "greater": number > limit, "odd": number % 2 == 1, "even": number % 2 == 0}
        if next(right for word, right in ways.items() if word in game.goal):
            break
    game.submit()


def odd_or_even(game: Played) -> None:
    """Mark each number, then submit."""
    nodes = game.nodes("btn", "text")
    for place, node in enumerate(nodes):
        if re.fullmatch(r"-?\d+", node.name):
            game.click(nodes[place - 1 if int(node.name) % 2 else place + 1])
    game.submit()


def greatest(game: Played) -> None:
    """Turn the cards, pick the one with the greatest number, then submit."""
    cards = [node for node in game.nodes("btn") if node.name != "Submit"]
    values = list[int]()
    for card in cards:
        game.look()
        game.click(card)
        values += [int(node.name) for node in game.look() if node.id == card.id]
    game.click(cards[values.index(max(values))])
    game.submit()


# -- games -------------------------------------------------------------------------------------------------------------

_LINES: Final = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


def tic_tac_toe(game: Played) -> None:
    """Win, else keep from losing."""
    for _ in range(5):
        cells = sorted(game.nodes("btn"), key=lambda node: (round(middle(node)[1] / 40), middle(node)[0]))[:9]
        if game.episode.ended:
            return
        board = [_mark(game, cell) for cell in cells]
        game.click(cells[_move(board)])


def _mark(game: Played, cell: SemanticNode) -> str:
    """Return the mark in a cell, of which its class alone tells."""
    read = game.do("getAttribute", element=cell.id, name="class")
    marks = (read.attribute or "") if isinstance(read, ElementRead) else ""
    return "x" if "mark-x" in marks else "o" if "mark-o" in marks else ""


def _move(board: list[str]) -> int:
    for mark in ("x", "o"):
        for line in _LINES:
            marks = [board[cell] for cell in line]
            if marks.count(mark) == 2 and "" in marks:
                return line[marks.index("")]
    return next(cell for cell in (4, 0, 2, 6, 8, 1, 3, 5, 7) if not board[cell])


def hot(game: Played) -> None:
    """Feel with the pointer from outside where it is hot, and click there."""
    area = game.find("touch area")
    left, top, width, height = area.box or (0, 0, 0, 0)

    def feels(x: float, y: float) -> str:
        game.drag((320, 320), (x, y))
        return next((node.name for node in game.look() if node.name in {"HOT", "WARM", "COLD", "ICE COLD"}), "")

    points = [(left + across, top + down) for down in (30, 95) for across in (30, 78, 126)]
    points += [(left + width / 2, top + 62), (left + 5, top + 62), (left + width - 5, top + 62)]

    def across(x: float) -> bool:
        return feels(x, y) != "ICE COLD"

    def down(y: float) -> bool:
        return feels(x, y) != "ICE COLD"

    x, y = next(point for point in points if feels(*point) != "ICE COLD")
    x = _between(across, x, (left + 1, left + width - 1))
    y = _between(down, y, (top + 1, top + height - 1))
    x = _between(across, x, (left + 1, left + width - 1))
    game.click_at(x, y)


def _between(holds: Callable[[float], bool], inside: float, ends: tuple[float, float]) -> float:
    """Return the middle of where something holds, by halving what lies between inside and both ends."""
    edges = list[float]()
    for end in ends:
        near, far = inside, min(max(inside + (81 if end > inside else -81), ends[0]), ends[1])
        while abs(far - near) > 3:
            half = (near + far) / 2
            near, far = (half, far) if holds(half) else (near, half)
        edges.append((near + far) / 2)
    return (edges[0] + edges[1]) / 2


# -- files and texts ---------------------------------------------------------------------------------------------------


def file_tree(game: Played) -> None:
    """Open folders until the file is there, and click it."""
    wanted = game.quoted[0]
    for _ in range(8):
        nodes = game.nodes("btn", "tree", "item", "text")
        exact = [node for node in nodes if node.name == wanted]
        if exact:
            game.click(exact[-1])
            return
        closed = [node for node in nodes if "hitarea" in node.name and "collapsed" in f"{node.state} {node.name}"]
        shut = closed or [node for node in nodes if node.name == "hitarea"]
        game.click(shut[_ % len(shut)])


def terminal(game: Played) -> None:
    """List the files, and delete the one that ends as the goal says."""
    found = re.search(r"extension \.?([\w.]+)$", game.goal)
    game.click_at(80, 100)
    game.do("type", text="ls")
    game.key("Enter")
    lines = [node.name for node in game.nodes("text")]
    listed = next(line for at, line in enumerate(lines) if at and lines[at - 1].endswith("ls"))
    files = listed.split()
    wanted = next(name for name in files if (name.endswith(f".{found[1]}") if found else "." not in name))
    game.do("type", text=f"rm {wanted}")
    game.key("Enter")


def editor(game: Played) -> None:
    """Select words in the editor, set their style or colour, then submit."""
    found = re.search(r"give the text (.*) the (?:style|color)", game.goal)
    area = game.find("ql editor", "inp", "editor")
    game.do("selectText", element=area.id, **({"text": found[1]} if found else {}))
    style = re.search(r"style (\w+)", game.goal)
    game.look()
    if style:
        names = {"bold": "ql bold", "italics": "ql italic", "underlined": "ql underline"}
        game.press(names[style[1]], "btn")
    else:
        _choose_colour(game)
    game.submit()


def _choose_colour(game: Played) -> None:
    word = re.findall(r"color (\w+)", game.goal)[0]
    game.press("ql picker label", "btn")
    digits = {"red": "e60000", "orange": "ff9900", "yellow": "ffff00", "green": "008a00", "blue": "0066cc"}
    wanted = digits.get(word, "9933ff")
    game.click(next(node for node in game.nodes() if node.colour.endswith(wanted)))


_DIGITS: Final = (
    "0110100110011001100110010110", "0010011000100010001000100010", "0110100110010010010010001111",
    "0110100100010110000110010110", "1000101010101111001000100010", "1111100010001110000110010110",
    "0110100110001110100110010110", "1111100100010010001001000100", "0110100110010110100110010110",
    "0110100110010111000110010110",
)  # fmt: skip
"""How digits are drawn in boxes, four in a row."""


def drawn_digit(game: Played) -> None:
    """Check the boxes that draw a digit, then submit."""
    boxes = game.nodes("chk")[:28]
    for box, checked in zip(boxes, _DIGITS[int(game.quoted[0])], strict=True):
        if checked == "1":
            game.do("check", element=box.id)
    game.submit()


ORACLES: Final[Mapping[str, Callable[[Played], None]]] = MappingProxyType(
    {
        "use-slider": slider,
        "use-slider-2": sliders,
        "form-sequence": slider_and_box,
        "use-spinner": spinner,
        **dict.fromkeys(("use-colorwheel", "use-colorwheel-2"), colour_field),
        "guess-number": guess,
        "generate-number": generated,
        "odd-or-even": odd_or_even,
        "find-greatest": greatest,
        "tic-tac-toe": tic_tac_toe,
        "hot-cold": hot,
        "navigate-tree": file_tree,
        "terminal": terminal,
        "text-editor": editor,
        "number-checkboxes": drawn_digit,
    }
)
