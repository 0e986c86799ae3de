"""Takes the requests of scripts apart into the values that may follow from a page, and writes them as templates."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal, cast
from urllib.parse import quote, unquote, unquote_plus, urlsplit

from msgspec import Struct

from actors.patterns.templates import AddressSlot, AnswerSlot, Piece, formatted
from protocol.patterns.sample import ApiExchange

MAX_LEAVES: Final = 64
"""A request with more values is none of a pattern."""

_BUSTERS: Final = frozenset(
    {"_", "t", "ts", "_t", "_ts", "cb", "cachebust", "cachebuster", "cache_bust", "nocache", "rnd", "rand", "random"}
    | {"timestamp", "_dc", "cachekiller"}
)
_BUSTING: Final = re.compile(r"[0-9]{9,17}|0?\.[0-9]{3,20}")
"""What scripts add to an address only so that no cache answers: a time, or a random number."""

_URL_SAFE: Final = "!~*'():@,;$"

LeafKind = Literal["segment", "value", "text", "number", "document"]


class RequestLeaf(Struct, frozen=True):
    """A value of a request, decoded; `raw` is how it was written."""

    kind: LeafKind
    text: str
    raw: str = ""


class RequestParts(Struct, frozen=True):
    """A request taken apart: what is the same in all requests of its kind (`skeleton`), and its values."""

    skeleton: str
    leaves: tuple[RequestLeaf, ...]
    exchange: ApiExchange


def request_parts(exchange: ApiExchange) -> RequestParts | None:
    """Take a request apart; None where it cannot be written as a template."""
    try:
        parts = urlsplit(exchange.url)
        host, port = parts.hostname or "", parts.port
        leaves = [RequestLeaf("segment", unquote(one, errors="strict"), one) for one in parts.path.split("/")]
        names: list[str] = []
        for name, value in _pairs(parts.query):
            names.append(name)
            leaves += _value_leaves(name, value, names)
        body = _body_leaves(exchange.sent, names)
    except (ValueError, RecursionError):
        return None
    if body is None or len(leaves) + len(body) > MAX_LEAVES:
        return None
    place = f"{exchange.method} {parts.scheme}://{host.lower()}:{port or ''}/{parts.path.count('/')}"
    return RequestParts(f"{place}?{'&'.join(names)}", (*leaves, *body), exchange)


def written_request(parts: RequestParts, leaves: Sequence[tuple[Piece, ...]]) -> tuple[str, str]:
    """Return the templates of the address and the body of a request, with these pieces for its values."""
    candidates = iter(zip(parts.leaves, leaves, strict=True))
    address = urlsplit(parts.exchange.url)
    path = "/".join(_url_text(*next(candidates)) for _ in address.path.split("/"))
    query = "&".join(f"{formatted([name])}{_written_value(value, candidates)}" for name, value in _pairs(address.query))
    body = _written_body(parts.exchange.sent, candidates)
    host = address.netloc.rpartition("@")[2].lower()
    return f"{address.scheme}://{host}{path or '/'}{'?' if query else ''}{query}", body


def same_request(one: ApiExchange, other: ApiExchange) -> bool:
    """Return whether two requests ask the same, however they are written and whatever is added against caches."""
    first, second = request_parts(one), request_parts(other)
    return (
        first is not None
        and second is not None
        and first.skeleton == second.skeleton
        and [leaf.text for leaf in first.leaves] == [leaf.text for leaf in second.leaves]
    )


def _pairs(query: str) -> list[tuple[str, str]]:
    """Return the parameters as they are written: `=value`, or nothing behind a name without one."""
    pairs: list[tuple[str, str]] = []
    for pair in query.split("&"):
        name, equals, value = pair.partition("=")
        if (
            pair
            and not (name.lower() in _BUSTERS and _BUSTING.fullmatch(value))
            and not (not equals and _BUSTING.fullmatch(pair))
        ):
            pairs.append((name, equals + value))
    return pairs


def _value_leaves(name: str, written_value: str, names: list[str]) -> list[RequestLeaf]:
    raw = written_value.removeprefix("=")
    text = unquote_plus(raw, errors="strict")
    node = _json_of(text)
    if node is not None:
        return list(_json_leaves(node, names))
    kind: LeafKind = "document" if name == "query" and "{" in text else "value"
    return [RequestLeaf(kind, text, raw)]


def _body_leaves(sent: str, names: list[str]) -> list[RequestLeaf] | None:
    names.append("|")
    if not sent:
        return []
    node = _json_of(sent)
    if node is not None:
        return list(_json_leaves(node, names))
    if sent.lstrip()[:1] in ("{", "[", "<", "-", '"'):
        return None
    leaves: list[RequestLeaf] = []
    for name, value in _pairs(sent):
        names.append(name)
        leaves += _value_leaves(name, value, names)
    return leaves


def _json_of(text: str) -> Any:
    """Return the object or the list that a text is; None for any other text."""
    if text[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except ValueError:
        return None


def _json_leaves(node: Any, names: list[str], key: str = "") -> Iterator[RequestLeaf]:
    """Yield the values of a JSON text, and write what is not one of them to `names`."""
    match node:
        case dict():
            for name, value in cast("dict[str, Any]", node).items():
                names.append(json.dumps(name))
                yield from _json_leaves(value, names, name)
            names.append("}")
        case list():
            for value in cast("list[object]", node):
                yield from _json_leaves(value, names, key)
            names.append("]")
        case str():
            names.append("s")
            yield RequestLeaf("document" if key == "query" and "{" in node else "text", node)
        case int() if not isinstance(node, bool):
            names.append("n")
            yield RequestLeaf("number", str(node))
        case _:
            names.append(json.dumps(node))


_Found = Iterator[tuple[RequestLeaf, tuple[Piece, ...]]]


def _written_value(raw: str, candidates: _Found) -> str:
    if not raw:
        next(candidates)
        return ""
    node = _json_of(unquote_plus(raw[1:]))
    if node is None:
        return f"={_url_text(*next(candidates))}"
    return "=" + formatted(
        [quote(one, safe="!~*'()") if isinstance(one, str) else one for one in _json_pieces(node, candidates)]
    )


def _written_body(sent: str, candidates: _Found) -> str:
    node = _json_of(sent)
    if node is not None:
        return formatted(list(_json_pieces(node, candidates)))
    return "&".join(f"{formatted([name])}{_written_value(value, candidates)}" for name, value in _pairs(sent))


def _json_pieces(node: Any, candidates: _Found) -> Iterator[Piece]:
    match node:
        case dict():
            yield "{"
            for number, (name, value) in enumerate(cast("dict[str, Any]", node).items()):
                yield f"{',' if number else ''}{json.dumps(name, ensure_ascii=False)}:"
                yield from _json_pieces(value, candidates)
            yield "}"
        case list():
            yield "["
            for number, value in enumerate(cast("list[object]", node)):
                yield "," if number else ""
                yield from _json_pieces(value, candidates)
            yield "]"
        case str():
            _, pieces = next(candidates)
            yield '"'
            for piece in pieces:
                yield json.dumps(piece, ensure_ascii=False)[1:-1] if isinstance(piece, str) else piece
            yield '"'
        case int() if not isinstance(node, bool):
            _, pieces = next(candidates)
            yield from pieces
        case _:
            yield json.dumps(node)


def _url_text(leaf: RequestLeaf, pieces: Sequence[Piece]) -> str:
    """Return the template of a segment or a value: as it was written where it never varies."""
    if pieces == (leaf.text,) or not pieces:
        return formatted([leaf.raw])
    return formatted([_encoded(one) for one in pieces])


def _encoded(piece: Piece) -> Piece:
    match piece:
        case str():
            return quote(piece, safe=_URL_SAFE)
        case AddressSlot() | AnswerSlot():
            return piece
