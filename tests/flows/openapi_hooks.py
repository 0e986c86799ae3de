"""Keeps what schemathesis makes up from leaving this machine: pages are those of the test site, or none at all.

It is loaded by the name in SCHEMATHESIS_HOOKS; WEFT_TEST_PAGE holds the address of a page that is quickly read,
WEFT_TEST_RUN and WEFT_TEST_ARTIFACT the ids of a run that has ended and of a file of it, WEFT_TEST_CONVERSATION that
of a conversation, WEFT_TEST_CHAT and WEFT_TEST_TASK those of a chat session and a task in it, WEFT_TEST_ACT that of
a task on a page of ours. Of the limits that are alike (of one operation, of one kind, in one place) one in
LIMITS_ONE_IN is tried, and the first always.
"""

from __future__ import annotations

import copy
import os
import re
import uuid
from collections import Counter
from typing import Any, cast
from urllib.parse import unquote

import schemathesis
from schemathesis import Case, HookContext
from schemathesis.generation.meta import CoveragePhaseData

from actors.gateway.rest.browse import HOST as HOST_PATTERN
from actors.gateway.rest.browse import SITE
from actors.gateway.rest.runs import MAX_NUMBER
from actors.page_addresses import page_address
from actors.sites import site_of
from protocol.agent import TransformType
from protocol.browse import MAX_URL_CHARS
from protocol.faults import FaultError
from protocol.models import Provider
from protocol.tools.runs import MAX_HANDLE_CHARS

PAGE = os.environ["WEFT_TEST_PAGE"]
KNOWN = {"runId": os.environ["WEFT_TEST_RUN"], "artifactId": os.environ["WEFT_TEST_ARTIFACT"]}
TALK = os.environ["WEFT_TEST_CONVERSATION"]
KEPT = {
    ("GET", "/api/sources/{id}"): os.environ["WEFT_TEST_SOURCE"],
    ("POST", "/api/sources/{id}/refresh"): os.environ["WEFT_TEST_SOURCE"],
    ("DELETE", "/api/sources/{id}"): os.environ["WEFT_TEST_FORGOTTEN_SOURCE"],
    ("GET", "/api/approvals/{id}"): os.environ["WEFT_TEST_APPROVAL"],
    ("POST", "/api/approvals/{id}"): os.environ["WEFT_TEST_APPROVAL"],
    ("GET", "/api/captures/{name}"): os.environ["WEFT_TEST_CAPTURE"],
    ("GET", "/api/visits/{id}/screenshot"): os.environ["WEFT_TEST_VISIT"],
    ("GET", "/api/patterns/{id}"): os.environ["WEFT_TEST_PATTERN"],
    ("DELETE", "/api/patterns/{id}"): os.environ["WEFT_TEST_FORGOTTEN_PATTERN"],
    ("POST", "/api/patterns/{id}/verify"): os.environ["WEFT_TEST_PATTERN"],
    ("POST", "/api/patterns/{id}/call"): os.environ["WEFT_TEST_PATTERN"],
    ("POST", "/api/patterns/{id}/feedback"): os.environ["WEFT_TEST_PATTERN"],
}
"""What there is, by the operation that names it."""

CHAT = {"id": os.environ["WEFT_TEST_CHAT"], "taskId": os.environ["WEFT_TEST_TASK"]}
CHATS = "/api/session"
_UUID = re.compile(r"^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\Z")
LIMITS_ONE_IN = int(os.environ["LIMITS_ONE_IN"])
HOST = "127.0.0.1"
SAVED = {"DELETE": "to-forget", "POST": "to-renew"}
"""The profiles under which a login of the site is saved, by what is done with it."""

NOT_FETCHED = "about:blank"
TEMPLATE = "batch_extract_pages"
KNOWN_TEMPLATES = (TEMPLATE, "crawl_site", "multi_tab_compare", "login_keep_session", "replay_flow")

ACT = "/api/act"
ACT_TASK = os.environ["WEFT_TEST_ACT"]
ACTS_ONE_IN = 12
"""How many of the goals and of the words to a task go to a page that there is: each takes a browser a moment."""

WATCH = "/api/collections/{id}/watch"
MAX_NAME = 100
"""Characters of the name of a program."""
TOOL = "/api/tools/{name}"
REPLAY = "/api/flows/{flowId}/replay"
SEARCH = "/api/search"
_MAX_ENGINE_CHARS = 64
GOALS = ("/plan", "/api/plan", "/api/agent")
PLANS = ("/plan", "/api/plan")
_MAX_ORIGIN_CHARS = 2_000
CONVERSATION = "/api/conversations/{"
ANSWERS = ("/api/summarize", "/api/answer", "/api/extract", "/api/agent")
CAPTURING = "/api/collections/{id}/capture"
PATTERN = "/api/patterns/{id}/"
IMPORTING = "/api/collections/{id}/import"
DOCUMENT = {
    "doc_id": "document",
    "kind": "web.observation.summary.v1",
    "trust": "untrusted",
    "content": {"doc_type": "web.observation.summary.v1", "url": PAGE, "title": "Looms", "markdown": "A loom weaves."},
}
ANSWERING = ("web.summarize", "web.answer", "web.extract")

_PLACES = {
    "/api/patterns": ("cursor", re.compile(r".{1,400}", re.DOTALL)),
    "/api/runs": ("after", re.compile(rf".{{0,{MAX_HANDLE_CHARS}}}", re.DOTALL)),
    "/api/browsers/{id}/window": ("tab", re.compile(r"[1-9]\d{0,17}")),
}
"""What names a place in a list, or a tab, by the path, and what its schema allows."""

BY_HAND = "/api/browsers/{id}/act"
_KEY = r"^[\x21-\x7e]{1,255}\Z"
_ENOUGH_MS = 20_000
_MAX_HOST_CHARS = 253
_MAX_KEY_CHARS = 200
_LONGEST = 256
_NEEDS_MORE = ("forceTier", "waitForSelector", "scrollToLoad", "followPagination", "sessionProfile")
_OF_ONE_PAGE = ("cursor", "section", "query")
"""What is known only to who has read the page: a cursor that is made up belongs to none."""


_limits = Counter[tuple[object, ...]]()
"""How often a limit of a kind came."""

_acts = Counter[str]()
"""How often something was asked of the pages of tasks, by the path."""


@schemathesis.hook  # pyright: ignore[reportUnknownMemberType] - its types leave something open
def filter_case(context: HookContext, case: Case[Any]) -> bool:
    """Return whether to make this request: of limits that are alike, some."""
    limit = case.meta.phase.data if case.meta is not None else None
    if not isinstance(limit, CoveragePhaseData):
        return True
    operation = cast("Any", context).operation
    kind = (operation.label, limit.scenario, limit.parameter_location, limit.parameter)
    _limits[kind] += 1
    return (_limits[kind] - 1) % LIMITS_ONE_IN == 0


@schemathesis.hook  # pyright: ignore[reportUnknownMemberType] - its types leave something open
def before_call(context: HookContext, case: Case[Any], kwargs: dict[str, Any]) -> None:
    """Send the request to pages of ours."""
    del context, kwargs
    _give_own(case)
    _give_plain(case)
    if isinstance(case.body, dict):
        body = case.body = copy.deepcopy(cast("dict[str, Any]", case.body))  # others are made from the one that came
        _keep_here(body)
        _keep_here(_inside(body, "input", "task", "args"))
        arguments = _inside(body, "input", "task", "args")
        if _names_nothing(arguments.get("domain")):
            arguments["domain"] = HOST
        _give_cookie(body)
        _give_template(body)
        _mend_documents(body.get("documents"))
        _mend_documents(_inside(body, "context").get("documents"))
        _give_task(body)
        _give_call(case, body)
        _give_goal(case, body)
        if case.path in ANSWERS:
            _give_sources(body, body.get("documents"))
    there = TALK if case.path.startswith(CONVERSATION) else KEPT.get((case.method.upper(), case.path))
    if there is not None and _is_some_id(case.path_parameters):
        case.path_parameters = dict.fromkeys(case.path_parameters, there)
    if case.path_parameters and _names_nothing(case.path_parameters.get("domain")):
        case.path_parameters = {**case.path_parameters, "domain": HOST}
    profile = SAVED.get(case.method.upper() if "/sessions/" in case.path else "")
    if profile and case.path_parameters and not case.query and _well_formed(case.path_parameters.get("domain")):
        case.path_parameters = {**case.path_parameters, "domain": HOST}
        case.query = {"profile": profile}
    if case.path.endswith("/share") and case.path_parameters and _well_formed(case.path_parameters.get("domain")):
        _give_grant(case)
    _give_place(case)
    _give_chat(case)
    _give_act(case)
    if case.path_parameters and KNOWN.keys() & case.path_parameters.keys():
        _give_known(case)


def _give_goal(case: Case[Any], body: dict[str, Any]) -> None:
    """Begin each task under an id of its own on the page that is open, and tell no program: no schema names those."""
    if case.path == ACT and _UUID.search(str(body.get("taskId"))):
        body["taskId"] = str(uuid.uuid4())
    if case.path == ACT and (body.get("url") is None or _well_named(body["url"])):
        plain = body.get("session") is None and body.get("again") is None
        body["url"] = PAGE if plain and _is_turn(case) else None
    if case.path == WATCH and isinstance(webhook := body.get("webhook"), str) and 1 <= len(webhook) <= MAX_NAME:
        del body["webhook"]


def _is_turn(case: Case[Any]) -> bool:
    """Return whether this request is one of those that go to a page that there is."""
    _acts[case.path] += 1
    return _acts[case.path] % ACTS_ONE_IN == 1


def _give_act(case: Case[Any]) -> None:
    """Name the task that there is, where one is named that may be, in some requests."""
    named = case.path.startswith(f"{ACT}/") and _UUID.search(str((case.path_parameters or {}).get("taskId")))
    if named and (case.method.upper() == "GET" or _is_turn(case)):
        case.path_parameters = {"taskId": ACT_TASK}


def _give_chat(case: Case[Any]) -> None:
    """Name the chat session that there is, and its task, where one is named that may be."""
    if case.path != CHATS and not case.path.startswith(f"{CHATS}/"):
        return
    if isinstance(case.body, dict) and case.path == CHATS and _UUID.search(str(case.body.get("sessionId"))):
        case.body["sessionId"] = CHAT["id"]
    if case.path_parameters and all(_UUID.search(str(case.path_parameters.get(name))) for name in CHAT):
        case.path_parameters = dict(CHAT)
    elif (
        case.path_parameters
        and "taskId" not in case.path_parameters
        and _UUID.search(str(case.path_parameters.get("id")))
    ):
        case.path_parameters = {"id": CHAT["id"]}


def _give_call(case: Case[Any], body: dict[str, Any]) -> None:
    """Plan on a page that is one, and replay a flow without values for parameters that it may not have."""
    if case.path == REPLAY and isinstance(body.get("parameters"), dict):
        body["parameters"] = {}
    if case.path == SEARCH and "engine" in body and 1 <= len(str(body["engine"])) <= _MAX_ENGINE_CHARS:
        body["engine"] = "local"
    if case.path == CAPTURING and _well_named(body.get("url")):
        body["url"] = PAGE
    for item in _objects(body.get("sources")):
        if _well_named(item.get("url")):
            item["url"] = PAGE
    if case.path.startswith(PATTERN):
        _give_pattern(body)
    if case.path == "/api/agent" and isinstance(body.get("collection"), str):
        body["collection"] = None
    if case.path in GOALS and isinstance(body.get("goal"), str) and not body["goal"].strip():
        body["goal"] = "2 + 2"
    context = _inside(body, "context")
    origin = context.get("origin")
    if case.path in PLANS and isinstance(origin, str) and 1 <= len(origin) <= _MAX_ORIGIN_CHARS:
        context["origin"] = "https://example.com"


def _give_pattern(body: dict[str, Any]) -> None:
    """Ask of a pattern what its own page says, without values, and hold a page of ours to be right."""
    if _well_named(body.get("url")):
        del body["url"]
    if _well_named(body.get("correctUrl")):
        body["correctUrl"] = PAGE
    if isinstance(body.get("parameters"), dict):
        body["parameters"] = {}


def _give_own(case: Case[Any]) -> None:
    """Call a tool with arguments of its own, and import a list that is one: no schema can say which are."""
    if case.path == TOOL:
        case.body, case.path_parameters = {"expression": "12 * (3 + 4)"}, {"name": "app.calculate"}
    if case.path == IMPORTING:
        case.body, case.query = PAGE.encode(), {}


def _give_place(case: Case[Any]) -> None:
    """Ask for no place in a list that no answer has named, for no tab, and for a host that is one."""
    name, allowed = _PLACES.get(case.path, ("", re.compile("")))
    if case.query and name in case.query and allowed.fullmatch(str(case.query[name])):
        case.query = {one: value for one, value in case.query.items() if one != name}
    if case.query and _names_nothing(case.query.get("domain")):
        case.query = {**case.query, "domain": HOST}


def _give_plain(case: Case[Any]) -> None:
    """Name no tools of a goal that may not be there, and make of a collection what needs nothing in particular."""
    if not isinstance(case.body, dict):
        return
    body = case.body = copy.deepcopy(cast("dict[str, Any]", case.body))
    if case.path == "/api/agent" and isinstance(body.get("tools"), list):
        body["tools"] = None
    if case.path == "/api/collections/{id}/transforms" and str(body.get("type")) in set(TransformType):
        body["type"] = "outline"
        body.pop("config", None)
    if case.path == BY_HAND and isinstance(body.get("tool"), str) and 1 <= len(body["tool"]) <= MAX_NAME:
        body["tool"] = "refresh"
        if isinstance(body.get("arguments"), dict):
            body["arguments"] = {}
    for source in _objects(body.get("sources")):
        text = source.get("text", "")
        if source.get("type") == "note" and (text is None or (isinstance(text, str) and not text.strip())):
            source["text"] = "A note."


def _well_named(url: object) -> bool:
    """Return whether this may be an address by its schema."""
    return isinstance(url, str) and 1 <= len(url) <= MAX_URL_CHARS


def _give_grant(case: Case[Any]) -> None:
    """Share a login that there is with a caller that there is."""
    if re.search(_KEY, str(case.query.get("with", ""))) and len(str(case.query["with"])) <= _MAX_KEY_CHARS:
        case.path_parameters = {**case.path_parameters, "domain": HOST}
        case.query = {**case.query, "with": "oauth-reader"}
        if case.query.get("profile", "default") == "default":
            case.query["profile"] = SAVED["POST"]


def _well_formed(domain: object) -> bool:
    """Return whether this may be the host of a site by its schema; what stands in a path is percent-encoded."""
    host = unquote(str(domain))
    return len(host) <= _MAX_HOST_CHARS and re.search(HOST_PATTERN, host) is not None


def _names_nothing(domain: object) -> bool:
    """Return whether letters outside ASCII are written as a host, and name none: no schema can say which do."""
    if not _well_formed(domain):
        return False
    try:
        site_of(unquote(str(domain)))
    except FaultError:
        return True
    return False


def _is_some_id(parameters: dict[str, Any] | None) -> bool:
    """Return whether one thing is named that there may be, in about every other request."""
    name = "".join(map(str, (parameters or {}).values()))
    return len(name) % 2 == 0 and re.search(r"^[A-Za-z0-9_.:-]{1,200}\Z", name) is not None


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
    if template in KNOWN_TEMPLATES or len(template) % 2:
        body["templateId"] = TEMPLATE
        body["inputs"] = {"urls": [PAGE]}
        if re.search(_KEY, str(body.get("idempotencyKey", ""))):  # the same key goes with the same request only
            body.pop("idempotencyKey")


def _give_sources(asked: dict[str, Any], documents: object) -> None:
    """Have an answer be asked of what there is, where that is well formed: a page, documents with words, no model."""
    if asked.get("url") is None and asked.get("urls") in (None, []) and isinstance(documents, list | None):
        options = asked.get("options")  # what documents say may be nothing
        cheap = not isinstance(options, dict) or _is_cheap(cast("dict[str, Any]", options))
        asked["url"] = PAGE if cheap else NOT_FETCHED
    elif isinstance(asked.get("url"), str) and isinstance(asked.get("urls"), list):
        asked.pop("urls")
    named = [asked.get("provider"), asked.get("model")]
    if named[0] in (None, *Provider) and (named[1] is None or 1 <= len(str(named[1])) <= _MAX_KEY_CHARS):
        asked |= {"provider": None, "model": None}  # no provider has such a model
    if isinstance(asked.get("schema"), dict):  # which keywords are understood, no schema says
        asked["schema"] = {"type": "object", "properties": {"title": {"type": "string"}}}


def _give_task(body: dict[str, Any]) -> None:
    """Do the same for a packet, whose parts no schema ties together."""
    task = _inside(body, "input", "task")
    if task.get("name") == "transform.run" and _inside(body, "context").get("documents") in (None, []):
        body["context"] = {**_inside(body, "context"), "documents": [DOCUMENT]}
    if task.get("name") == "transform.run" and str(_inside(task, "args").get("type")) in set(TransformType):
        task["args"] |= {"type": "outline", "config": {}}
    if task.get("name") not in ANSWERING or not isinstance(task.setdefault("args", {}), dict):
        return
    if task["name"] == "web.answer" and task["args"].get("question") is None:
        task["args"]["question"] = "What is it about?"
    _give_sources(task["args"], _inside(body, "context").get("documents"))


def _mend_documents(documents: object) -> None:
    """Use an id of its own for each document that has one, which no schema can say, and have its content be some."""
    for at, document in enumerate(_objects(documents)):
        if isinstance(document.get("doc_id"), str) and document["doc_id"]:
            document["doc_id"] = f"document-{at}"
        _mend(_inside(document, "content"))


def _mend(content: dict[str, Any]) -> None:
    """Have no chunk come after the last, and times be times, which msgspec's schema does not say of all."""
    index, count = content.get("chunk_index"), content.get("chunk_count")
    if isinstance(index, int | float) and isinstance(count, int | float) and 1 <= count < index:
        content["chunk_count"] = index
    for one in (content, *_objects(content.get("sources"))):
        if isinstance(one.get("captured_at"), str):
            one["captured_at"] = "2026-01-01T12:00:00Z"


def _objects(values: object) -> list[dict[str, Any]]:
    """Return what is an object of a list."""
    listed = cast("list[dict[str, Any]]", values) if isinstance(values, list) else []
    return [one for one in listed if type(one) is dict]


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
    if not 1 <= len(url) <= MAX_URL_CHARS:
        return url
    if len(url) % 2 and cheap:
        return PAGE
    try:
        address = page_address(url)
    except FaultError:  # no schema can say what is no address
        return NOT_FETCHED
    return NOT_FETCHED if address.startswith("http") else url


def _inside(body: dict[str, Any], *names: str) -> dict[str, Any]:
    found: Any = body
    for name in names:
        found = cast("dict[str, Any]", found).get(name) if isinstance(found, dict) else None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}
