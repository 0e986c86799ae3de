"""Keeps what schemathesis makes up from leaving this machine: pages are those of the test site, or none at all.

It is loaded by the name in SCHEMATHESIS_HOOKS; WEFT_TEST_PAGE holds the address of a page that is quickly read,
WEFT_TEST_RUN and WEFT_TEST_ARTIFACT the ids of a run that has ended and of a file of it.
"""

from __future__ import annotations

import copy
import os
import re
from typing import Any, cast

import schemathesis
from schemathesis import Case, HookContext

from actors.gateway.rest.browse import SITE
from actors.gateway.rest.runs import MAX_NUMBER
from actors.gateway.runs import MAX_HANDLE_CHARS
from protocol.browse import MAX_URL_CHARS

PAGE = os.environ["WEFT_TEST_PAGE"]
KNOWN = {"runId": os.environ["WEFT_TEST_RUN"], "artifactId": os.environ["WEFT_TEST_ARTIFACT"]}
HOST = "127.0.0.1"
NOT_FETCHED = "about:blank"
TEMPLATE = "batch_extract_pages"

_KEY = r"^[\x21-\x7e]{1,255}\Z"
_ENOUGH_MS = 20_000
_LONGEST = 256
_NEEDS_MORE = ("forceTier", "waitForSelector", "scrollToLoad", "followPagination", "sessionProfile")
_OF_ONE_PAGE = ("cursor", "section", "query")
"""What is known only to who has read the page: a cursor that is made up belongs to none."""


@schemathesis.hook  # pyright: ignore[reportUnknownMemberType] - its types leave something open
def before_call(context: HookContext, case: Case[Any], kwargs: dict[str, Any]) -> None:
    """Send the request to pages of ours."""
    del context, kwargs
    if isinstance(case.body, dict):
        body = case.body = copy.deepcopy(cast("dict[str, Any]", case.body))  # others are made from the one that came
        _keep_here(body)
        _keep_here(_inside(body, "input", "task", "args"))
        _give_cookie(body)
        _give_template(body)
    if case.path_parameters and KNOWN.keys() & case.path_parameters.keys():
        _give_known(case)


def _give_known(case: Case[Any]) -> None:
    """Name a run or a file that there is in about every other request, and ask nothing of it that it cannot give."""
    case.path_parameters = dict(case.path_parameters)
    for name, known in KNOWN.items():
        given = case.path_parameters.get(name)
        if not isinstance(given, str) or not 1 <= len(given) <= MAX_HANDLE_CHARS or "/" in given:
            continue
        if len(given) % 2 or given.startswith(("run_", "art_")):
            case.path_parameters[name] = known
            if isinstance(case.body, dict) and isinstance(case.body.get("inputs"), dict):
                case.body["inputs"] = {}
            offset = str(case.query.get("offset", ""))
            if offset.isdecimal() and int(offset) <= MAX_NUMBER:
                case.query = {**case.query, "offset": 0}


def _give_template(body: dict[str, Any]) -> None:
    """Name a template that there is in about every other request, and give it inputs that it takes."""
    template, inputs = body.get("templateId"), body.get("inputs")
    if not isinstance(template, str) or len(template) > MAX_HANDLE_CHARS or not isinstance(inputs, dict):
        return
    if template == TEMPLATE or len(template) % 2:
        body["templateId"] = TEMPLATE
        body["inputs"] = {"urls": [PAGE]}
        if re.search(_KEY, str(body.get("idempotencyKey", ""))):  # the same key goes with the same request only
            body.pop("idempotencyKey")


def _give_cookie(body: dict[str, Any]) -> None:
    """Have a login be one of the test site, with a cookie of it, where it is well formed."""
    state, domain = body.get("state"), body.get("domain")
    if isinstance(domain, str) and re.search(SITE, domain) and isinstance(state, dict):
        cookies = cast("dict[str, Any]", state).get("cookies", [])
        if isinstance(cookies, list):
            body["domain"] = HOST
            state["cookies"] = [*cookies, {"name": "sid", "value": "1", "domain": HOST}]
            address = body.get("address", "")
            if isinstance(address, str) and len(address) <= MAX_URL_CHARS:
                body["address"] = PAGE


def _keep_here(asked: dict[str, Any]) -> None:
    options = asked.get("options")
    cheap = not isinstance(options, dict) or _is_cheap(cast("dict[str, Any]", options))
    if isinstance(asked.get("url"), str):
        asked["url"] = _kept(asked["url"], cheap=cheap)
    if isinstance(asked.get("urls"), list):
        urls = cast("list[Any]", asked["urls"])
        asked["urls"] = [_kept(url, cheap=cheap) if isinstance(url, str) else url for url in urls]


def _is_cheap(options: dict[str, Any]) -> bool:
    """Return whether a page would be quickly read so; gives it time, and takes away what no page has."""
    if isinstance(options.get("maxLatencyMs"), int | float) and 1 <= options["maxLatencyMs"] < _ENOUGH_MS:
        options["maxLatencyMs"] = _ENOUGH_MS
    if any(options.get(name) for name in _NEEDS_MORE):
        return False
    for name in _OF_ONE_PAGE:
        if isinstance(options.get(name), str) and 1 <= len(options[name]) <= _LONGEST:
            options.pop(name)
    return True


def _kept(url: str, *, cheap: bool) -> str:
    """Return the page of ours for about every other address; whatever else is a web address is none any more."""
    if len(url) > MAX_URL_CHARS:
        return url
    if len(url) % 2 and cheap:
        return PAGE
    return NOT_FETCHED if url.strip().lower().startswith("http") else url


def _inside(body: dict[str, Any], *names: str) -> dict[str, Any]:
    found: Any = body
    for name in names:
        found = cast("dict[str, Any]", found).get(name) if isinstance(found, dict) else None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}
