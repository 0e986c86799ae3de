"""What the trials in the namespace found, as it comes out of it."""

from __future__ import annotations

from msgspec import Struct


class Trial(Struct, frozen=True):
    """One address that was asked for: the fault that it met, or none, and who was spoken to that must not be."""

    kind: str
    url: str
    code: str
    leaks: tuple[str, ...]
    title: str = ""


class Way(Struct, frozen=True):
    """One way out of a page: who was reached by it, and whether it leads anywhere at all."""

    name: str
    leaks: tuple[str, ...]
    leads: bool


class Findings(Struct, frozen=True):
    """Everything that one tier did."""

    tier: str
    seconds: dict[str, float]
    direct: tuple[Trial, ...]
    redirected: tuple[Trial, ...]
    honest: tuple[Trial, ...]
    embedded: tuple[Trial, ...]
    ways: tuple[Way, ...] = ()
    leading: tuple[Trial, ...] = ()


class Answer(Struct, frozen=True):
    """What a Weft answered over one of its surfaces."""

    surface: str
    kind: str
    url: str
    is_error: bool
    body: dict[str, object]


class AtTheEdge(Struct, frozen=True):
    """What a whole Weft did: `alike` comes in pairs of which the second has nobody who listens."""

    answers: tuple[Answer, ...]
    alike: tuple[Answer, ...]
    honest: tuple[Answer, ...]
    leaks: tuple[str, ...]
