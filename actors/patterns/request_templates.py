"""Finds the requests that pages of a kind are made of: which are the same on each, and what varies in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from actors.patterns.explaining import KnownValues, known_of
from actors.patterns.matching import match
from actors.patterns.page_templates import page_template
from actors.patterns.request_parts import RequestLeaf, RequestParts, request_parts, same_request, written_request
from actors.patterns.safety import credential_headers, header_values, headers_worth_asking, refusal, site_or_nothing
from actors.patterns.templates import AddressSlot, AnswerSlot, Piece, fill
from protocol.patterns.pattern import MAX_REQUESTS, ApiRequest, AuthKind
from protocol.patterns.sample import ApiExchange

MAX_PAGES: Final = 8
_BUILDS: Final = ("_next", "data")
"""The segments before one that names the build of a site: it changes with each, and stands in no address."""


class Observed(Struct, frozen=True):
    """A page, and what its scripts were answered, in order; `logged_in`: a saved login was used for it."""

    page_url: str
    exchanges: tuple[ApiExchange, ...]
    logged_in: bool = False


class _Found(Struct, frozen=True):
    """A request that all pages make: its parts on each page, and the pieces that give each of its values."""

    parts: tuple[RequestParts, ...]
    leaves: tuple[tuple[Piece, ...], ...]

    @property
    def needs(self) -> frozenset[int]:
        """Return the numbers of the requests whose answers it takes values from."""
        return frozenset(one.number for leaf in self.leaves for one in leaf if isinstance(one, AnswerSlot))

    @property
    def follows_page(self) -> bool:
        return any(isinstance(one, AddressSlot | AnswerSlot) for leaf in self.leaves for one in leaf)


def requests_of(observed: Sequence[Observed], template: str = "") -> tuple[ApiRequest, ...] | None:
    """Return the requests that all these pages make, the latest page last; those that the page decides most come first.

    `template` is that of their addresses, where more is known than these pages show.

    Any number of the first of them is a set of its own: none needs the answer of a later one. None where the addresses
    of the pages do not say what is asked.
    """
    pages = observed[-MAX_PAGES:]
    urls = [page.page_url for page in pages]
    known = known_of(template or page_template(urls), urls)
    if known is None:
        return None
    learnable = [_learnable(page) for page in pages]
    candidates: list[_Found] = []
    for parts in learnable[-1]:
        request = _on_all_pages(parts, learnable[:-1], known)
        if request is not None and not any(one.parts == request.parts for one in candidates):
            if request.follows_page:  # what the same question is answered with another time is good for once
                known.add_answers(len(candidates), [one.exchange.body for one in request.parts])
            candidates.append(request)
    if not any(one.follows_page for one in candidates) and (len(set(urls)) > 1 or not candidates):
        return None
    order = _ordered(candidates)[:MAX_REQUESTS]
    return tuple(_request(candidates[number], order, logged_in=pages[-1].logged_in) for number in order)


def answers_of(requests: Sequence[ApiRequest], page: str, observed: Observed) -> tuple[Any, ...] | None:
    """Return what answered each request on a page with this template; None where it did not make one of them."""
    slots = match(page, observed.page_url)
    if slots is None:
        return None
    answers: list[Any] = []
    for request in requests:
        try:
            requested = ApiExchange(
                url=fill(request.url, slots, answers), method=request.method, sent=fill(request.body, slots, answers)
            )
        except ValueError:
            return None
        exchange = next((one for one in observed.exchanges if _is_answer(one) and same_request(requested, one)), None)
        if exchange is None:
            return None
        answers.append(exchange.body)
    return tuple(answers)


def _is_answer(exchange: ApiExchange) -> bool:
    return exchange.body is not None and not exchange.from_state and 200 <= exchange.status < 300  # noqa: PLR2004 - OK


def _learnable(page: Observed) -> tuple[RequestParts, ...]:
    allowed = (one for one in page.exchanges if not refusal(one, page.page_url) and _has_login(one, page))
    return tuple(parts for exchange in allowed if (parts := request_parts(exchange)) is not None)


def _has_login(exchange: ApiExchange, page: Observed) -> bool:
    """Return whether a request can be made with the login of its page, which no other site hears of.

    Without one it has no credentials: those that a page got for itself cannot be had again.
    """
    if page.logged_in:
        return site_or_nothing(exchange.url) == site_or_nothing(page.page_url)
    return not credential_headers(exchange)


def _on_all_pages(parts: RequestParts, others: Sequence[Sequence[RequestParts]], known: KnownValues) -> _Found | None:
    """Find a request of the last page on the others, too; None where one has none that is like it."""
    last = len(others)
    chosen: list[RequestParts] = []
    for number, page in enumerate(others):
        both = known.of((number, last))
        alike = [one for one in page if one.skeleton == parts.skeleton and _explained((one, parts), both) is not None]
        if not alike:
            return None
        chosen.append(max(alike, key=lambda one: _likeness(one, parts)))
    leaves = _explained((*chosen, parts), known)
    is_search = parts.exchange.method == "POST" and not _is_graphql(parts)
    # A search is sent again only where pages themselves do that.
    return None if leaves is None or (is_search and not others) else _Found((*chosen, parts), leaves)


def _explained(parts: Sequence[RequestParts], known: KnownValues) -> tuple[tuple[Piece, ...], ...] | None:
    explained: list[tuple[Piece, ...]] = []
    for number, column in enumerate(zip(*(one.leaves for one in parts), strict=True)):
        pieces = known.explain(column)
        if pieces is None and _names_build(parts[-1].leaves[:number]):
            pieces = (column[-1].text,)
        if pieces is None:
            return None
        explained.append(pieces)
    return tuple(explained)


def _names_build(before: Sequence[RequestLeaf]) -> bool:
    return tuple(leaf.text for leaf in before[-len(_BUILDS) :]) == _BUILDS


def _likeness(one: RequestParts, other: RequestParts) -> int:
    return sum(first.text == second.text for first, second in zip(one.leaves, other.leaves, strict=True))


def _is_graphql(parts: RequestParts) -> bool:
    return any(leaf.kind == "document" for leaf in parts.leaves)


def _ordered(candidates: Sequence[_Found]) -> list[int]:
    """Return the numbers of requests: those that follow from the page first, the largest answers before others."""
    order: list[int] = []
    for number in sorted(
        range(len(candidates)), key=lambda one: (not candidates[one].follows_page, -_size(candidates[one]), one)
    ):
        _place(number, candidates, order)
    return order


def _place(number: int, candidates: Sequence[_Found], order: list[int]) -> None:
    for need in sorted(candidates[number].needs):
        _place(need, candidates, order)
    if number not in order:
        order.append(number)


def _size(request: _Found) -> int:
    return len(msgspec.json.encode(request.parts[-1].exchange.body))


def _request(candidates: _Found, order: Sequence[int], *, logged_in: bool) -> ApiRequest:
    last = candidates.parts[-1].exchange
    url, body = written_request(
        candidates.parts[-1], [tuple(_renumbered(one, order) for one in leaf) for leaf in candidates.leaves]
    )
    credentials = credential_headers(last)
    return ApiRequest(
        method=last.method,
        url=url,
        headers=_headers(candidates),
        body=body,
        auth=_auth(last, credentials) if logged_in else None,
        auth_headers=credentials if logged_in else (),
    )


def _renumbered(piece: Piece, order: Sequence[int]) -> Piece:
    return AnswerSlot(order.index(piece.number), piece.way) if isinstance(piece, AnswerSlot) else piece


def _headers(candidates: _Found) -> dict[str, str]:
    """Return the headers that have the same value on all pages."""
    given = [header_values(one.exchange, headers_worth_asking(one.exchange)) for one in candidates.parts]
    headers = {name: value for name, value in given[-1].items() if all(one.get(name) == value for one in given)}
    last = candidates.parts[-1].exchange
    return headers | header_values(last, ("content-type",)) if last.method == "POST" else headers


def _auth(exchange: ApiExchange, credentials: Sequence[str]) -> AuthKind | None:
    if "authorization" in credentials:
        return "bearer"
    if credentials:
        return "header"
    return "cookie" if exchange.with_cookies else None
