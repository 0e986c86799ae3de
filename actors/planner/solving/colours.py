"""Colours: what their names come to, and which things have one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from actors.planner.solving.vocabulary import SAME_COLOURS
from actors.planner.solving.words import tokens
from protocol.acting.tree import SemanticNode

COLOUR_CODES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "red": "ff0000", "green": "008000", "blue": "0000ff", "yellow": "ffff00", "orange": "ffa500",
        "purple": "800080", "pink": "ffc0cb", "brown": "a52a2a", "black": "000000", "white": "ffffff",
        "gray": "808080", "grey": "808080", "cyan": "00ffff", "aqua": "00ffff", "magenta": "ff00ff",
        "fuchsia": "ff00ff", "olive": "808000", "navy": "000080", "teal": "008080", "maroon": "800000",
        "lime": "00ff00", "silver": "c0c0c0", "violet": "ee82ee", "gold": "ffd700", "turquoise": "40e0d0",
        "beige": "f5f5dc", "indigo": "4b0082",
    }
)  # fmt: skip
"""The names of CSS, in hexadecimal digits."""

PALE: Final = frozenset({"black", "white", "gray"})
"""Colours that nobody calls coloured."""


def colour_of(node: SemanticNode) -> str:
    """Return the plain name of a node's colour; "" where none is known."""
    name = next((word for word in tokens(node.colour) if word.isalpha()), "")
    return SAME_COLOURS.get(name, name)


def code_of(node: SemanticNode) -> str:
    """Return the digits of a node's colour; "" where they are not known."""
    match = re.search(r"#([0-9a-fA-F]{6})\b", node.colour)
    return match[1].casefold() if match else ""


def of_colour(nodes: Sequence[SemanticNode], name: str) -> list[SemanticNode]:
    """Return the nodes of a colour: those of exactly its digits where there are any, else those that pass for it."""
    exact = [node for node in nodes if code_of(node) == COLOUR_CODES.get(name, "-")]
    return exact or [node for node in nodes if colour_of(node) == SAME_COLOURS.get(name, name)]
