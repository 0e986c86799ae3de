"""Finds what a reader of the page does not see, and whether a click would show it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from turbohtml import Element


class Hiding(StrEnum):
    """Why an element is not seen."""

    COLLAPSED = "collapsed"
    """A click shows it (accordion, tab, `<details>`, "read more"): content, marked as such."""

    INVISIBLE = "invisible"
    """Nobody is meant to see it: it never reaches a model."""


def hidden(root: Element) -> Mapping[Element, Hiding]:
    """Give the outermost elements that are not seen."""
    raise NotImplementedError(root)
