"""The OpenAPI document says all that the table says, its examples and rules hold, and people can read it as a page."""

from __future__ import annotations

import base64
import hashlib
import itertools
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, get_args

import jsonschema
import msgspec
import pytest
from msgspec import NODEFAULT, Struct, structs

from actors.gateway.access.caller import Scope
from actors.gateway.answers import AnswerRequest, ExtractRequest, SummarizeRequest
from actors.gateway.http import EVENTS
from actors.gateway.interact import check_artefacts
from actors.gateway.rest import console
from actors.gateway.rest.docs import page
from actors.gateway.rest.endpoints import ENDPOINTS, RULES, document
from actors.gateway.rest.packet_types import ResponsePacket
from actors.gateway.rest.routing import TAGS
from protocol.acting.interact import InteractRequest
from protocol.browse import BrowseOptions, contradiction
from protocol.faults import FaultError
from protocol.patterns.listing import PatternFile
from protocol.recordings import ConversationRecording
from protocol.tiers import TIERS
from tests.requirements import requirement
from tests.unit.actors.gateway.answer_data import ANSWERED, EXTRACTED
from tests.unit.actors.gateway.rest.calling import client
from tests.unit.actors.gateway_data import FakeBus

DOCUMENT: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(document("1.2.3")))
OPERATIONS = {one.name: DOCUMENT["paths"][one.path][one.method.lower()] for one in ENDPOINTS}
NOTE: dict[str, Any] = {
    "doc_id": "note-1",
    "kind": "web.observation.summary.v1",
    "trust": "untrusted",
    "content": {"doc_type": "web.observation.summary.v1", "url": "", "title": "", "markdown": "A note."},
}
ANYWHERE = re.compile(r"""(?:src|href|action|content)\s*=\s*["']?\s*(?:https?:)?//|@import|url\(""", re.IGNORECASE)

OF_ANOTHER_FORM = {PatternFile, ConversationRecording, ResponsePacket}
"""Files and packets, which say by words of their own what form they have."""


def check(value: Any, schema: dict[str, Any]) -> bool:
    """Return whether a value is what a schema of the document says."""
    whole = {**schema, "components": DOCUMENT["components"]}
    try:
        jsonschema.validate(value, whole)
    except jsonschema.ValidationError:
        return False
    return True


def types_of(answer: Any) -> set[type[Struct]]:
    """Return the types that an answer may have."""
    return {answer} if isinstance(answer, type) else {one for part in get_args(answer) for one in types_of(part)}


@requirement("000.1.schema-version")
def test_every_answer_says_which_contract_it_follows() -> None:
    without = {
        kind
        for endpoint in ENDPOINTS
        if not (endpoint.interacts or endpoint.enveloped)  # these are as 001 has them, or in an envelope that says it
        for kind in types_of(endpoint.answer) | types_of(endpoint.accepted)
        if not always_written(kind, "schema_version")
    }

    assert without == OF_ANOTHER_FORM


@requirement("002.5.artifacts")
def test_who_names_no_limit_gets_what_a_piece_of_a_file_may_have() -> None:
    (limit,) = [one for one in OPERATIONS["getArtifact"]["parameters"] if one["name"] == "limit"]

    assert limit["schema"]["default"] is None


def always_written(kind: type[Struct], name: str) -> bool:
    """Return whether a field stands in what is written of a struct even where nobody has given it a value."""
    field = next((one for one in structs.fields(kind) if one.name == name), None)
    omitted = kind.__struct_config__.omit_defaults
    return field is not None and not (omitted and field.default_factory is NODEFAULT)


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.name)
def test_an_operation_says_what_its_row_says(endpoint: Any) -> None:
    operation = OPERATIONS[endpoint.name]

    assert (operation["operationId"], operation["summary"]) == (endpoint.name, endpoint.summary)
    assert operation["tags"] == [endpoint.tag.value]
    assert operation["security"] == ([] if endpoint.open else [{"bearer": [endpoint.scope.value]}])
    assert {int(status) for status in operation["responses"]} == {*endpoint.answers, *endpoint.statuses}
    told = operation["responses"].get("200", {"content": {}})["content"]
    assert (EVENTS in told) == (endpoint.events is not None or EVENTS in endpoint.media)
    assert all(one["description"] for one in operation["responses"].values())


@pytest.mark.parametrize("endpoint", [one for one in ENDPOINTS if one.body], ids=lambda endpoint: endpoint.name)
def test_every_body_has_an_example_that_is_one(endpoint: Any) -> None:
    content = OPERATIONS[endpoint.name]["requestBody"]["content"]["application/json"]

    assert content["example"] == endpoint.example
    assert check(content["example"], content["schema"])
    msgspec.convert(content["example"], endpoint.body)


def test_every_parameter_of_a_path_is_required_and_one_segment() -> None:
    found = [one for operation in OPERATIONS.values() for one in operation.get("parameters", ()) if one["in"] == "path"]

    assert found
    assert all((one["required"], one["schema"]["minLength"]) == (True, 1) for one in found)
    assert not any(re.search(one["schema"]["pattern"], "a/b") for one in found)


def test_the_errors_that_any_request_may_meet_are_documented() -> None:
    usual = {400, 403, 421, 429, 500}

    assert all(usual <= set(map(int, operation["responses"])) for operation in OPERATIONS.values())
    assert all({401} <= set(map(int, OPERATIONS[one.name]["responses"])) for one in ENDPOINTS if not one.open)
    assert all({413, 415} <= set(map(int, OPERATIONS[one.name]["responses"])) for one in ENDPOINTS if one.body)
    assert all(
        "Retry-After" in operation["responses"][status]["headers"]
        for operation in OPERATIONS.values()
        for status in {"429", "503"} & set(operation["responses"])
    )


def test_all_that_the_document_names_is_described() -> None:
    (scheme,) = DOCUMENT["components"]["securitySchemes"].values()

    assert all(scope.value in scheme["description"] for scope in Scope)
    assert {tag["name"] for tag in DOCUMENT["tags"]} == {tag.value for tag in TAGS}
    assert all(schema["description"] for schema in DOCUMENT["components"]["schemas"].values())
    assert DOCUMENT["servers"][0]["url"] == "/"


def options() -> list[dict[str, Any]]:
    """Every combination of the options that may contradict each other."""
    forced: list[dict[str, Any]] = [{}, {"forceTier": None}, *({"forceTier": tier.value} for tier in TIERS)]
    highest: list[dict[str, Any]] = [{}, *({"maxCostTier": tier.value} for tier in TIERS)]
    awaited: list[dict[str, Any]] = [{}, {"waitForSelector": None}, {"waitForSelector": "main"}]
    scrolled: list[dict[str, Any]] = [{}, {"scrollToLoad": False}, {"scrollToLoad": True}]
    return [{**a, **b, **c, **d} for a, b, c, d in itertools.product(forced, highest, awaited, scrolled)]


def test_the_rules_of_the_document_are_those_of_weft() -> None:
    assert set(RULES) == {"BrowseOptions", "FetchRequest", "InteractRequest", "SourceDocument"} | set(OF_SOURCES)
    for chosen in options():
        taken = contradiction(msgspec.convert(chosen, BrowseOptions)) is None
        assert check(chosen, {"$ref": "#/components/schemas/BrowseOptions"}) is taken, chosen


OF_SOURCES = {
    "SummarizeRequest": SummarizeRequest,
    "AnswerRequest": AnswerRequest,
    "ExtractRequest": ExtractRequest,
}
_KNOWN = {"url": "https://a.example/", "urls": ["https://a.example/"], "documents": [NOTE]}


@pytest.mark.parametrize("name", OF_SOURCES)
async def test_the_rules_of_sources_are_those_of_weft(name: str) -> None:
    asked: dict[str, Any] = {"question": "What?"} if name == "AnswerRequest" else {}
    asked |= {"schema": {"type": "object"}} if name == "ExtractRequest" else {}
    named: list[dict[str, Any]] = [{}, {"url": _KNOWN["url"]}, {"urls": []}, {"urls": _KNOWN["urls"]}, _KNOWN]
    named += [{"url": None, "documents": [NOTE]}, {"documents": []}, {"urls": [], "url": _KNOWN["url"]}]
    pins: list[dict[str, Any]] = [{}, {"provider": "openai"}, {"model": "x", "provider": None}]
    pins += [{"provider": "openai", "model": "x", "localOnly": local} for local in (False, True)]
    path = {"SummarizeRequest": "summarize", "AnswerRequest": "answer", "ExtractRequest": "extract"}[name]
    bus = FakeBus(EXTRACTED if path == "extract" else ANSWERED)
    async with client(bus) as http:
        for body in ({**asked, **sources, **pin} for sources in named for pin in pins):
            taken = (await http.post(f"/api/{path}", json=body)).status_code == 200
            assert check(body, {"$ref": f"#/components/schemas/{name}"}) is taken, body


def test_the_rules_of_rounds_are_those_of_weft() -> None:
    urls: list[dict[str, Any]] = [{}, {"url": None}, {"url": "https://a.example/"}]
    modes: list[dict[str, Any]] = [{}, *({"domMode": mode} for mode in ("semantic", "skeleton", "hybrid", "full"))]
    parts: list[dict[str, Any]] = [{}, {"interactiveTree": []}, {"semanticNodes": []}, {"dom": ""}, {"dom": "<p>"}]
    parts += [{"skeletonDom": "<p>"}, {"interactiveTreeHash": "h"}, {"interactiveTree": None, "interactive_tree": []}]
    for url, mode, part in itertools.product(urls, modes, parts):
        body = {"query": "Click it", **url, **mode, **part}
        try:
            check_artefacts(msgspec.convert(body, InteractRequest))
            taken = True
        except FaultError:
            taken = False
        assert check(body, {"$ref": "#/components/schemas/InteractRequest"}) is taken, body


def test_the_rule_of_documents_is_that_of_weft() -> None:
    chunk: dict[str, Any] = {"doc_type": "web.observation.chunk.v1", "url": "", "title": "", "markdown": ""}
    others: list[dict[str, Any]] = [
        {"trust": "trusted"},
        {"kind": "collection.index.v1"},
        {"content": {**chunk, "chunk_index": 1}},
    ]
    for given, allowed in [(NOTE, True), *(({**NOTE, **other}, False) for other in others)]:
        assert check(given, {"$ref": "#/components/schemas/SourceDocument"}) is allowed, given


# -- the page ------------------------------------------------------------------------------------------------------


class Seen(HTMLParser):
    """The tags, ids and links of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags, self.ids, self.links = set[str](), list[str](), set[str]()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            assert not name.startswith("on")
            assert name != "style"
            if name == "id":
                self.ids.append(value or "")
            if name == "href":
                self.links.add(value or "")


async def test_the_page_shows_every_operation_and_schema_and_runs_nothing() -> None:
    async with client(FakeBus()) as http:
        del http.headers["authorization"]
        answer = await http.get("/docs")

    seen = Seen(answer.text)
    policy = answer.headers["content-security-policy"]
    style = re.search("<style>(.*?)</style>", answer.text, re.DOTALL)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert set(OPERATIONS) | {f"schema-{name}" for name in DOCUMENT["components"]["schemas"]} <= set(seen.ids)
    assert len(seen.ids) == len(set(seen.ids))
    assert {link.removeprefix("#") for link in seen.links} - {"/openapi.json"} <= set(seen.ids)
    assert not {"script", "link", "img", "iframe", "object", "form"} & seen.tags
    assert not ANYWHERE.search(answer.text)
    assert style is not None
    assert f"'sha256-{base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()}'" in policy
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "prefers-color-scheme:dark" in style[1]


async def test_a_person_at_the_root_sees_what_runs_here_and_a_program_is_asked_for_its_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the packages of the console are missing; it says how to get them."""
    monkeypatch.setattr(console, "FOLDER", tmp_path)
    async with client(FakeBus()) as http:
        keyed = await http.get("/")
        del http.headers["authorization"]
        shown = await http.get("/", headers={"accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
        refused = [await http.get("/", headers={"accept": accept}) for accept in ("*/*", "application/json")]
        posted = await http.post("/", headers={"accept": "text/html"})

    seen, base = Seen(shown.text), str(http.base_url).rstrip("/")
    assert (shown.status_code, shown.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "Accept" in shown.headers["vary"]
    assert shown.headers["content-security-policy"].startswith("default-src 'none'; style-src 'sha256-")
    assert all(
        words in shown.text for words in ("1.2.3", f"{base}/mcp", f"{base}/api/browse", "weft keys add", "scripts/run")
    )
    assert seen.links == {"/docs", "/openapi.json", "/readyz"}
    assert not {"script", "link", "img", "iframe", "object", "form"} & seen.tags
    assert not ANYWHERE.search(shown.text)
    assert [answer.status_code for answer in (*refused, posted, keyed)] == [401, 401, 401, 404]
    assert refused[0].json()["code"] == "AUTH_INVALID_CREDENTIALS"


def test_nothing_of_the_document_is_markup_on_the_page() -> None:
    evil = '"><script>alert(1)</script>'
    schemas = {evil: {"type": "object", "description": evil, "properties": {evil: {"enum": [evil], "default": evil}}}}

    shown = page({**DOCUMENT, "components": {**DOCUMENT["components"], "schemas": schemas}})

    assert "<script" not in shown
