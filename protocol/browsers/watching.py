"""What a person does to a browser session who looks at it: see its window, take it in hand, hand it back."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from protocol.browsers.operation_bases import InSession, InTab

HAND_MS: Final = 120_000
"""How long a person who does nothing has a session in hand: one who goes away leaves it to its agent."""

MAX_PICTURE_BYTES: Final = 600_000
"""What a picture of a window may come to: it travels in one message."""


class ShowWindow(InTab, frozen=True, kw_only=True, tag="show_window"):
    """Take a picture of the window as it is now; no tool: the gateway asks it, and the session is not used by it."""


class HoldSession(InSession, frozen=True, kw_only=True, tag="hold_session"):
    """Take a session in hand, or hand it back; no tool: the gateway asks it for a person.

    While somebody has it in hand, nothing is done to its pages but by hand.
    """

    hold: bool


Watching = ShowWindow | HoldSession


class WindowSize(Struct, frozen=True, kw_only=True):
    """The size of a window in CSS pixels, which its points are counted in."""

    width: int
    height: int
