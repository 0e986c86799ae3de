"""Which tools a client wants: by the address that it was given (`/mcp?toolsets=core,browser`), or by the setting."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from urllib.parse import parse_qsl

from actors.gateway.http.answers import RefusedError
from actors.gateway.mcp.tool import Toolset
from actors.settings import Settings
from protocol.faults import Action, Code, Fault, fault

EVERY_TOOLSET = frozenset(Toolset)

_NAMES = tuple(toolset.value for toolset in Toolset)
_PARAMETER = "toolsets"
_MAX_QUOTED_CHARS = 64


def chosen() -> frozenset[Toolset]:
    """Return which tools the client of the request in hand may see and call."""
    return _chosen.get()


@contextmanager
def choosing(toolsets: frozenset[Toolset]) -> Generator[None]:
    """Do what is in the block with these tools alone."""
    token = _chosen.set(toolsets)
    try:
        yield
    finally:
        _chosen.reset(token)


def toolsets_of(settings: Settings) -> frozenset[Toolset]:
    """Return those of the setting."""
    return frozenset(Toolset(name) for name in settings.toolsets)


def asked_for(query: bytes, otherwise: frozenset[Toolset]) -> frozenset[Toolset]:
    """Read the toolsets of a query string; `otherwise` is what counts where it names none.

    Raises:
        RefusedError: 400, it names one that there is not.
    """
    if not query:
        return otherwise
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    given = [value for name, value in pairs if name == _PARAMETER]
    return named(",".join(given)) if given else otherwise


def named(names: str) -> frozenset[Toolset]:
    """Read toolsets that are separated by commas.

    Raises:
        RefusedError: 400, one of them is unknown, or there is none.
    """
    words = [word.strip() for word in names.split(",") if word.strip()]
    unknown = [word for word in words if word not in _NAMES]
    if words and not unknown:
        return frozenset(Toolset(word) for word in words)
    raise RefusedError(_unknown(unknown), 400)


def _unknown(words: Iterable[str]) -> Fault:
    quoted = ", ".join(words)[:_MAX_QUOTED_CHARS]
    message = f"No such toolset: {quoted}." if quoted else "No toolset is named."
    way_out = Action(
        action="choose_toolsets", description=f"Name some of these, separated by commas: {', '.join(_NAMES)}."
    )
    return fault(Code.VALIDATION_INVALID_REQUEST, message, field=_PARAMETER, actions=(way_out,))


_chosen: ContextVar[frozenset[Toolset]] = ContextVar("weft_toolsets", default=EVERY_TOOLSET)
