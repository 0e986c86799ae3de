"""Makes a page of what its API answers: asks the requests of a learned pattern in the place of the page's document."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from itertools import chain
from typing import Any, Final

import anyio
import msgspec
from msgspec import UNSET

from actors.extraction.assets import vendors_of_answer, vendors_of_body
from actors.extraction.extraction import Extraction
from actors.fetchers import page_answer
from actors.fetchers.credentials import resolved, same_site
from actors.fetchers.logins import Login
from actors.fetchers.page_answer import is_json
from actors.markdown.plain_text import plain_text
from actors.patterns.acceptance import replay_refusal
from actors.patterns.addresses import fill
from actors.patterns.answer_checks import first_unmet, mark_of
from actors.patterns.mapping import DriftError, render
from actors.patterns.shapes import drift_of
from actors.web.exchange import WebRequest, WebResponse
from actors.web.rate_limits import retry_after_ms
from protocol.browse import SelectorAttempt, TitleAttempt
from protocol.confidence import Source, confidence
from protocol.documents import WebObservationSummary
from protocol.faults import Code, Fault, FaultContext, FaultError, fault, rate_limited
from protocol.page import wire_names
from protocol.pages import VISIBLE_CHARS, Fetched, FetchPage, PageEvidence
from protocol.patterns.api_calls import ApiAnswers
from protocol.patterns.pattern import ApiRequest
from protocol.patterns.use import Drift, PatternCall
from protocol.sessions import origin_of
from protocol.tiers import RenderTier

Ask = Callable[[WebRequest], Awaitable[WebResponse]]
"""Sends a request with the cookies of the login, within the time that there is."""

MAX_ANSWER_BYTES: Final = 4_000_000
MAX_TEXT_BYTES: Final = 256 * 1024

_CHANGED: Final = "The API behind the page no longer answers as it did"
_NEW_KIND: Final = "The page is of a kind that its pattern has not met"
_NEEDS: Final = re.compile(r"\{(\d+):")
_LOGIN_FORM: Final = re.compile(rb"""type\s{0,3}=\s{0,3}["']?password""", re.IGNORECASE)
_HEAD_BYTES: Final = 65_536
_JSON, _FORM = "application/json", "application/x-www-form-urlencoded"
_FIRST_SERVER_ERROR: Final = 500
_WALLED: Final = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})
_GONE: Final = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.GONE})
_LATER: Final = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY})


@dataclass
class ApiPage:
    """One page that is made by a pattern; `ask` sends its requests."""

    request: FetchPage
    call: PatternCall
    login: Login
    ask: Ask
    as_text: bool = False
    """Whether what is neither JSON nor a page is an answer, too: its text."""

    answers: dict[int, Any] = field(default_factory=dict[int, Any], init=False)
    responses: dict[int, WebResponse] = field(default_factory=dict[int, WebResponse], init=False)

    async def make(self) -> Fetched:
        """Ask, check each answer, and make the page; requests that need no answer of another are asked at once.

        Raises:
            FaultError: SITE_STRUCTURE_CHANGED with how the API drifted; HTTP_NOT_FOUND; RATE_LIMIT_EXCEEDED, HTTP_*,
                BLOCKED_* or NETWORK_* of what passes by.
        """
        await self._ask_in_order()
        return self._page(datetime.now(UTC))

    async def answered(self) -> ApiAnswers:
        """Ask, and return the answers alone; raises as `make`."""
        await self._ask_in_order()
        numbers = range(len(self.call.requests))
        return ApiAnswers(
            answers=tuple(self.answers[number] for number in numbers),
            urls=tuple(self.responses[number].url for number in numbers),
            from_cache=all(response.from_cache for response in self.responses.values()),
        )

    async def _ask_in_order(self) -> None:
        left = dict(enumerate(self.call.requests))
        while left:
            ready = [number for number, request in left.items() if needs(request) <= self.answers.keys()]
            if not ready:
                raise changed(Drift.MISSING, "requests")
            await self._ask_all({number: left.pop(number) for number in ready})

    async def _ask_all(self, requests: Mapping[int, ApiRequest]) -> None:
        if len(requests) == 1:
            await self._ask_one(*next(iter(requests.items())))
            return
        failed: list[FaultError] = []

        async def one(number: int, request: ApiRequest) -> None:
            try:
                await self._ask_one(number, request)
            except FaultError as error:
                failed.append(error)
                tasks.cancel_scope.cancel()

        async with anyio.create_task_group() as tasks:
            for number, request in requests.items():
                tasks.start_soon(one, number, request)
        if failed:
            raise failed[0]

    async def _ask_one(self, number: int, request: ApiRequest) -> None:
        response = await self.ask(self._web_request(request))
        self.responses[number] = response
        answer = read_answer(response, as_text=self.as_text)
        drifted = drift_of(self.call.shapes[number], answer) if number < len(self.call.shapes) else None
        if drifted is not None:
            raise changed(drifted[0], f"{number}:{drifted[1]}")
        self.answers[number] = answer

    def _web_request(self, request: ApiRequest) -> WebRequest:
        known = [self.answers.get(number) for number in range(len(self.call.requests))]
        try:
            url = fill(request.url, self.call.slots, known)
            body = fill(request.body, self.call.slots, known) if request.body else ""
        except ValueError:
            raise changed(Drift.MISSING, "slots") from None
        if why := replay_refusal(request, url, body, self.request.url):
            raise FaultError(fault(Code.SECURITY_URL_BLOCKED, f"A request of a learned pattern is not sent: {why}."))
        return WebRequest(
            url,
            method=request.method,
            headers=tuple(self._headers(request, url, body).items()),
            body=body.encode(),
            freshness=self.request.freshness,
            partition=self.login.partition,
            record_body=self.request.include_network,
            obey_robots=self.request.obey_robots,
            single_shot=self.request.single_shot,
        )

    def _headers(self, request: ApiRequest, url: str, body: str) -> dict[str, str]:
        """Return the headers of a request, with the credentials that the login has for it."""
        sent = {"content-type": _JSON if body.startswith(("{", "[")) else _FORM} if body else {}
        headers = {"accept": "*/*", **_initiator(self.request.url, url), **sent, **request.headers}
        for name in dict.fromkeys((*request.auth_headers, *request.auth_places)):
            place = request.auth_places.get(name)
            value = resolved(place, self.login, self.request.url) if place else None
            if value is None or not same_site(url, self.request.url):
                raise changed(Drift.LOGIN_WALL, name)
            headers[name] = value
        return headers

    def _page(self, captured_at: datetime) -> Fetched:
        answers = [self.answers[number] for number in range(len(self.call.requests))]
        if unmet := first_unmet(self.call.checks, self.call.slots, answers):
            raise changed(Drift.UNLIKE, unmet)
        try:
            summary = render(self.call.mapping, answers, self.request.url, self.call.slots, captured_at)
        except DriftError as error:
            raise changed(error.drift, error.where) from None
        if self.call.other_marks and mark_of(self.call.mapping, answers) in self.call.other_marks:
            raise changed(Drift.UNLIKE, "another page")
        responses = [self.responses[number] for number in range(len(answers))]
        return page_answer.fetched(
            RenderTier.INTELLIGENCE,
            extraction_of(summary),
            outlinks=self.request.outlinks,
            status=HTTPStatus.OK.value,
            content_type=responses[-1].content_type,
            fetched_at=int(min(response.received_at for response in responses) * 1000),
            from_cache=all(response.from_cache for response in responses),
            retry_count=sum(response.retry_count for response in responses),
            pattern=self.call.pattern_id,
            **page_answer.traffic(self.request, chain.from_iterable(response.exchanges for response in responses)),
        )


def _initiator(page_url: str, url: str) -> dict[str, str]:
    """Return the headers that say which page asks, as a browser sends them."""
    origin = origin_of(page_url)
    if origin == origin_of(url):
        return {"referer": page_url.partition("#")[0]}
    return {"referer": f"{origin}/", "origin": origin}


def needs(request: ApiRequest) -> set[int]:
    """Return the numbers of the requests whose answers a request is filled from."""
    return {int(number) for number in _NEEDS.findall(f"{request.url}{request.body}")}


def read_answer(response: WebResponse, *, as_text: bool = False) -> Any:
    """Return the JSON of an answer, or the text of what is neither that nor a page, where that is wanted.

    Raises:
        FaultError: as ApiPage.make.
    """
    if (passing := _passing(response)) is not None:
        raise FaultError(passing)
    if (drift := _drift(response)) is not None:
        if as_text and drift is Drift.NOT_JSON and "html" not in response.content_type:
            return response.body[:MAX_TEXT_BYTES].decode("utf-8", "replace")
        raise changed(drift, "", response.status)
    try:
        return msgspec.json.decode(response.body)
    except (msgspec.DecodeError, RecursionError):
        raise changed(Drift.NOT_JSON, "") from None


def changed(drift: Drift, where: str, status: int | None = None) -> FaultError:
    """Return the error of an API that is not what it was."""
    context = FaultContext(drift=drift.value, where=where)
    about = _NEW_KIND if drift is Drift.NEW_KIND else _CHANGED
    message = f"{about} ({drift.value}{f' at {where}' if where else ''})."
    return FaultError(fault(Code.SITE_STRUCTURE_CHANGED, message, context=context, http_status=status))


def _passing(response: WebResponse) -> Fault | None:
    """Return what is wrong with an answer and passes by, or is the page's own: a limit, a failure, no such page."""
    status, head = response.status, response.body[:_HEAD_BYTES]
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        wait_ms = retry_after_ms(response.headers.get("retry-after"), response.received_at)
        return rate_limited("The site allows fewer requests (429).", wait_ms)
    if status >= _FIRST_SERVER_ERROR or status in _LATER:
        return fault(Code.HTTP_SERVER_ERROR, http_status=status)
    marked = any(vendors_of_answer(response.headers.multi_items(), status))
    if marked or (not is_json(response.content_type) and any(vendors_of_body(head.decode("utf-8", "replace").lower()))):
        return fault(Code.BLOCKED_BOT_DETECTION, http_status=status)
    return fault(Code.HTTP_NOT_FOUND, http_status=status) if status in _GONE else None


def _drift(response: WebResponse) -> Drift | None:
    """Return how an answer, which is none that passes by, is not what an API gives."""
    if response.status in _WALLED:
        return Drift.LOGIN_WALL
    if not HTTPStatus.OK <= response.status < HTTPStatus.MULTIPLE_CHOICES:
        return Drift.STATUS
    if not is_json(response.content_type):
        return Drift.LOGIN_WALL if _LOGIN_FORM.search(response.body[:_HEAD_BYTES]) else Drift.NOT_JSON
    return Drift.UNLIKE if len(response.body) > MAX_ANSWER_BYTES else None


def extraction_of(summary: WebObservationSummary) -> Extraction:
    """Return a page that was made of data as an extraction: its fields are the API's, its whole a learned pattern's."""
    text = plain_text(summary.markdown) if summary.text is UNSET else summary.text
    title, content = confidence(Source.API_RESPONSE), confidence(Source.LEARNED_PATTERN, _REPRODUCED)
    return Extraction(
        summary=summary,
        evidence=PageEvidence(content_length=len(text), markup=False, visible=text[:VISIBLE_CHARS]),
        title=title if summary.title else confidence(Source.UNKNOWN),
        content=content if text else confidence(Source.UNKNOWN, 0.0),
        tables=tuple(confidence(Source.API_RESPONSE) for _ in summary.tables),
        fields={name: confidence(Source.API_RESPONSE) for name in wire_names(summary.parts.fields)},
        selectors=(
            SelectorAttempt(
                selector=":root",
                source="learned_pattern",
                matched=bool(text),
                content_length=len(text),
                confidence_score=content.score,
                selected=True,
            ),
        ),
        titles=(
            TitleAttempt(
                source="api",
                matched=bool(summary.title),
                confidence_score=title.score,
                selected=True,
                value=summary.title,
            ),
        ),
    )


_REPRODUCED: Final = 0.9
"""The score of content by a pattern: it has reproduced pages as they were rendered, to 95 % and more."""
