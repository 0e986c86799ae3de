"""Which tools a client wants: by the address that it was given (`/mcp?toolsets=core,browser`), or by the setting."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from urllib.parse import parse_qsl

from actors.gateway.http import HttpStatusError
from actors.settings import Settings
from protocol.actions import Action
from protocol.faults import Code, Fault, fault


class Toolset(StrEnum):
    """Tools that are chosen together, by a setting or in the address (`/mcp?toolsets=core,browser`)."""

    CORE = "core"
    """Read pages, answer from them, look after saved logins."""

    BROWSER = "browser"
    """Drive a browser step by step (002)."""

    RUNS = "runs"
    """Run templates (002)."""

    COLLECTIONS = "collections"
    """Collections, sources, texts, search and what else 003 has; chosen by name alone."""

    ACTING = "acting"
    """Further gestures in a browser: drags, other clicks, selections; chosen by name alone."""

    FLOWS = "flows"
    """Record what is done in a browser, and do it again; chosen by name alone."""

    PATTERNS = "patterns"
    """Call the APIs that were learned, and judge them; chosen by name alone."""

    OFFERS = "offers"
    """What other actors bring."""


DEFAULT_TOOLSETS = frozenset(Toolset) - {Toolset.COLLECTIONS, Toolset.ACTING, Toolset.FLOWS, Toolset.PATTERNS}
"""What a client sees that names none: more than these few use, and each would pay for, is chosen by name."""


def toolsets_of(settings: Settings) -> frozenset[Toolset]:
    """Return the toolsets of the setting."""
    return frozenset(Toolset(name) for name in settings.toolsets)


def toolsets_of_query(query: bytes, otherwise: frozenset[Toolset]) -> frozenset[Toolset]:
    """Parse the toolsets of a query string; `otherwise` is what counts where it names none.

    Raises:
        HttpStatusError: 400, it names one that there is not.
    """
    if not query:
        return otherwise
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    given = [value for name, value in pairs if name == _PARAMETER]
    return _named(",".join(given)) if given else otherwise


def _named(names: str) -> frozenset[Toolset]:
    """Parse toolsets that are separated by commas.

    Raises:
        HttpStatusError: 400, one of them is unknown, or there is none.
    """
    words = [word.strip() for word in names.split(",") if word.strip()]
    unknown = [word for word in words if word not in _NAMES]
    if words and not unknown:
        return frozenset(Toolset(word) for word in words)
    raise HttpStatusError(_unknown(unknown), 400)


def _unknown(words: Iterable[str]) -> Fault:
    quoted = ", ".join(words)[:_MAX_QUOTED_CHARS]
    message = f"No such toolset: {quoted}." if quoted else "No toolset is named."
    way_out = Action(
        action="choose_toolsets", description=f"Name some of these, separated by commas: {', '.join(_NAMES)}."
    )
    return fault(Code.VALIDATION_INVALID_REQUEST, message, field=_PARAMETER, actions=(way_out,))


_NAMES = tuple(toolset.value for toolset in Toolset)
_PARAMETER = "toolsets"
_MAX_QUOTED_CHARS = 64
