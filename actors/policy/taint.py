"""Finds which arguments of a call carry what untrusted documents say and the user did not: it is not run unasked.

What may leave decides: addresses, queries, what is shared or typed elsewhere. What is only kept is looked at for the
addresses in it. A document that speaks to models, rather than to readers, is believed nothing at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Enum, auto
from typing import Any, Final, cast

import msgspec
from msgspec import Struct

from actors.policy.addresses import Address, addresses_in, looks_like, parsed
from actors.policy.decoding import decoded_forms, turned_forms
from actors.policy.reading import DocumentWords, UserSpeech, read_document, tokens_of
from protocol.policy import ToolContext
from protocol.tools.tool import Risk, Tool

MAX_CARRIED_CHARS: Final = 80
_NAME_WORDS: Final = 3.0
"""Words of a page that a query may have beside the user's: one name."""

_SENT_WORDS: Final = 2.0
_KEPT_WORDS: Final = 6.0
_OPAQUE: Final = re.compile(r"(?=[\w~+/=-]*\d)(?=[\w~+/=-]*[A-Za-z])[\w~+/=-]{20,}")


class TaintFinding(Struct, frozen=True):
    """One argument that carries what a document says: what, of which document ("" where of none), and why it counts."""

    argument: str
    carries: str
    document: str
    why: str


class _Use(Enum):
    """What becomes of an argument."""

    ADDRESS = auto()
    QUERY = auto()
    SENT = auto()
    KEPT = auto()
    COMPUTED = auto()


_BY_RISK: Final = {
    Risk.SEARCH: _Use.QUERY,
    Risk.READ: _Use.QUERY,
    Risk.RUN: _Use.SENT,
    Risk.ACT: _Use.SENT,
    Risk.SHARE: _Use.SENT,
    Risk.CALCULATE: _Use.COMPUTED,
}
"""What becomes of words in the arguments of a tool; of all other tools they are kept."""

_NAMES_NOTHING: Final = frozenset(
    {"tool", "type", "mode", "format", "target", "handleId", "element_id", "sessionId", "tabId", "collectionId"}
    | {"to_element_id", "attribute"}
    | {"sourceId", "artifactId", "idempotencyKey", "direction", "condition", "selector", "key", "engine", "redaction"}
)
"""Arguments that carry a choice or an id, nothing that anybody said."""


class _Evidence(Struct, frozen=True):
    """What a call comes out of."""

    user: UserSpeech
    documents: tuple[DocumentWords, ...]

    def foreign(self, site: str) -> tuple[DocumentWords, ...]:
        """Return the documents of other sites."""
        return tuple(one for one in self.documents if not site or one.site != site)


def tainted(arguments: Struct, context: ToolContext, tool: Tool[Any], page_url: str = "") -> tuple[TaintFinding, ...]:
    """Return the arguments of a call that carry what an untrusted document says and the user did not name.

    `arguments` are in the form that all surfaces share; `page_url` is the page that something is typed into.
    """
    if not context.documents:
        return ()
    documents = tuple(read_document(one.doc_id, one.content) for one in context.documents)
    evidence = _Evidence(UserSpeech.of(context.user_words), documents)
    here = parsed(page_url or context.origin)
    findings: dict[tuple[str, str], TaintFinding] = {}
    for finding in _of_tool(tool, evidence):
        findings[finding.argument, finding.why] = finding
    for name, value in _strings(msgspec.to_builtins(arguments), ""):
        use = _use_of(name, value, tool)
        for finding in _findings(name, value, use, evidence, here.site if here is not None else ""):
            findings.setdefault((finding.argument, finding.why), finding)
    return tuple(findings.values())


def is_permitted(tool: Tool[Any], context: ToolContext) -> bool:
    """Whether the user's task wants a tool, by any of its names."""
    permitted = context.permitted
    return permitted is None or tool.name in permitted or any(name in permitted for name in tool.aliases.values())


def _strings(value: object, path: str) -> Iterator[tuple[str, str]]:
    """Return every text among arguments with its path; of a payload the names and numbers too."""
    if isinstance(value, str) and value.strip():
        yield path, value
    elif isinstance(value, dict):
        for key, inner in cast("dict[str, object]", value).items():
            below = f"{path}.{key}" if path else key
            if path.startswith("payload"):
                yield below, key
            yield from _strings(inner, below)
    elif isinstance(value, list | tuple):
        for at, inner in enumerate(cast("Sequence[object]", value)):
            yield from _strings(inner, f"{path}[{at}]")
    elif isinstance(value, int | float) and path.startswith("payload"):
        yield path, str(value)


def _of_tool(tool: Tool[Any], evidence: _Evidence) -> Iterator[TaintFinding]:
    """Judge a tool that a document names and the user does not: a page is no place to be told which tools to use."""
    names = {tool.name, *tool.aliases.values()}
    if any(evidence.user.has_text(name) for name in names):
        return
    teller = next((one for one in evidence.documents if names & one.tools), None)
    if teller is not None:
        yield TaintFinding("name", tool.name, teller.doc_id, "a document names the tool")


def _use_of(name: str, value: str, tool: Tool[Any]) -> _Use | None:
    last = name.rpartition(".")[2].partition("[")[0]
    if last in _NAMES_NOTHING and not name.startswith("payload"):
        return None
    if last in ("url", "urls", "startUrl") or re.match(r"\s*https?:", value, re.IGNORECASE):
        return _Use.ADDRESS
    return _BY_RISK.get(tool.risk, _Use.KEPT)


def _findings(name: str, value: str, use: _Use | None, evidence: _Evidence, site: str) -> Iterator[TaintFinding]:
    match use:
        case _Use.COMPUTED:
            yield from _of_expression(name, value, evidence)
        case _Use.ADDRESS:
            yield from _of_address(name, value, evidence)
        case _Use.QUERY:
            yield from _of_query(name, value, evidence)
        case _Use.SENT:
            yield from _of_sent(name, value, evidence.user, evidence.foreign(site))
        case _Use.KEPT:
            yield from _of_kept(name, value, evidence)
        case None:
            pass


# -- addresses ---------------------------------------------------------------------------------------------------------


def _of_address(name: str, value: str, evidence: _Evidence) -> Iterator[TaintFinding]:
    address = parsed(value)
    if address is None:
        yield from _of_sent(name, value, evidence.user, evidence.documents)
        return
    if address.userinfo:
        yield TaintFinding(name, _cut(address.userinfo), "", "it has a user name, which hides where it leads")
        return
    if evidence.user.names(address):
        return
    if (shape := _disguise(address, evidence)) is not None:
        yield TaintFinding(name, address.host, "", f"its host looks like {shape} and is another")
        return
    links = [one for one in evidence.documents if address.normal in one.links]
    speaking = next((one for one in links if one.speaks_to_models), None)
    if speaking is not None and not evidence.user.knows(address.site):
        yield TaintFinding(name, _cut(value), speaking.doc_id, "it stands in a document that speaks to models")
    elif links:
        yield from _of_link(name, address, links, evidence)
    else:
        yield from _of_composed(name, address, evidence)


def _disguise(address: Address, evidence: _Evidence) -> str | None:
    """Return the host that this one only looks like, or what is odd about its letters."""
    known = [*evidence.user.hosts, *(one.host for one in evidence.documents if one.host)]
    return looks_like(address.host, known)


def _of_link(
    name: str, address: Address, links: Sequence[DocumentWords], evidence: _Evidence
) -> Iterator[TaintFinding]:
    """Judge a link as a document has it: what it carries of others counts, at a host that nobody knows."""
    if evidence.user.knows(address.site) or any(address.site == one.site for one in evidence.documents):
        return
    others = [one for one in evidence.documents if one not in links]
    plain = decoded_forms(address.data)
    for text in (*plain, *turned_forms(plain)):
        for document in (*others, *links):
            secret = document.secret_in(text, evidence.user)
            if secret and (document in others or document.holds_beside(secret, address.normal)):
                yield TaintFinding(name, _cut(secret), document.doc_id, "a link to a new host carries it")
                return
    for text in plain[1:]:
        for document in others:
            run = document.longest_run(tokens_of(text), evidence.user)
            if run.words >= _SENT_WORDS:
                yield TaintFinding(name, _cut(run.text), document.doc_id, "a link to a new host carries its words")
                return


def _of_composed(name: str, address: Address, evidence: _Evidence) -> Iterator[TaintFinding]:
    """Judge an address that is no link: what it is made of must be the user's, or of its own site."""
    known = evidence.user.knows(address.site)
    own = any(address.site == one.site for one in evidence.documents)
    foreign = evidence.foreign(address.site)
    if not known and not own:
        teller = next((one for one in evidence.documents if one.mentions_host(address)), None)
        if teller is not None:
            yield TaintFinding(name, address.host, teller.doc_id, "the host comes from a document")
            return
    parts = address.data if known or own else f"{address.subdomain} {address.data}"
    user = evidence.user.knowing([one for one in evidence.documents if one.site == address.site])
    yield from _of_data(name, parts, user, foreign, strict=True)
    if not known and not own and _OPAQUE.search(address.data) and not evidence.user.has_text(address.data):
        yield TaintFinding(name, _cut(address.data), "", "it carries data that nobody can read")


def _of_data(
    name: str, text: str, user: UserSpeech, documents: Sequence[DocumentWords], *, strict: bool
) -> Iterator[TaintFinding]:
    """Judge what the parts of an address carry, in every form that it may be written in."""
    plain = decoded_forms(text)
    for form in (*plain, *turned_forms(plain)):
        for document in documents:
            if secret := document.secret_in(form, user):
                yield TaintFinding(name, _cut(secret), document.doc_id, "it carries what the document says")
                return
            run = document.longest_run(tokens_of(form), user)
            if run.words >= (1.0 if strict and form in plain else _SENT_WORDS):
                yield TaintFinding(name, _cut(run.text), document.doc_id, "it carries words of the document")
                return


# -- words -------------------------------------------------------------------------------------------------------------


def _of_query(name: str, value: str, evidence: _Evidence) -> Iterator[TaintFinding]:
    """Judge a query: it is the user's, with one name of the documents at most."""
    plain = decoded_forms(value)
    for document in evidence.documents:
        for form in (*plain, *turned_forms(plain)):
            if secret := document.secret_in(form, evidence.user):
                yield TaintFinding(name, _cut(secret), document.doc_id, "it carries what the document says")
                return
        why, run = _excess(document, plain, evidence.user)
        if why:
            yield TaintFinding(name, _cut(run), document.doc_id, why)
            return


def _excess(document: DocumentWords, forms: Sequence[str], user: UserSpeech) -> tuple[str, str]:
    """Return why words of a document are more than a name in a query, and the words."""
    for form in (*forms[1:], *turned_forms(forms)):
        run = document.longest_run(tokens_of(form), user)
        if run.words >= _SENT_WORDS or (run.words >= 1.0 and form in forms):
            return "it carries words of the document, written otherwise", run.text
    tokens = tokens_of(forms[0])
    run = document.longest_run(tokens, user)
    if run.words > _NAME_WORDS or (run.words and document.speaks_to_models):
        return "it carries words of the document", run.text
    if run.words and not user.owns_any(tokens):
        return "nothing of it is the user's", run.text
    if run.words and document.says(tokens) and (run.words >= _NAME_WORDS or document.wants_searched(tokens)):
        return "it stands in the document as it is", run.text
    return "", ""


def _of_sent(name: str, value: str, user: UserSpeech, documents: Sequence[DocumentWords]) -> Iterator[TaintFinding]:
    """Judge what is sent, or typed into a page of another site: it carries no words of documents."""
    for address in addresses_in(value):
        if not user.names(address) and any(
            address.normal in one.links or one.mentions_host(address) for one in documents
        ):
            teller = next(one for one in documents if address.normal in one.links or one.mentions_host(address))
            yield TaintFinding(name, _cut(address.normal), teller.doc_id, "the address comes from a document")
            return
    yield from _of_data(name, value, user, documents, strict=any(one.speaks_to_models for one in documents))


def _of_expression(name: str, value: str, evidence: _Evidence) -> Iterator[TaintFinding]:
    """Judge what is computed: what a page wants computed is the user's wish only where that is one for computing."""
    if evidence.user.wants_computing:
        return
    teller = next((one for one in evidence.documents if one.wants_computed(value)), None)
    if teller is not None:
        yield TaintFinding(name, _cut(value), teller.doc_id, "the document wants it computed")


def _of_kept(name: str, value: str, evidence: _Evidence) -> Iterator[TaintFinding]:
    """Judge what is kept: it sends nothing by itself, the addresses in it do once somebody follows them."""
    for address in addresses_in(value):
        yield from _of_address(name, address.given, evidence)
    tokens = tokens_of(value)
    for document in evidence.documents:
        if document.speaks_to_models:
            run = document.longest_run(tokens, evidence.user)
            if run.words >= _KEPT_WORDS or (run.words >= 1.0 and run.words * 2 >= len(tokens)):
                why = "it repeats a document that speaks to models"
                yield TaintFinding(name, _cut(run.text), document.doc_id, why)
                return


def _cut(text: str) -> str:
    return text if len(text) <= MAX_CARRIED_CHARS else f"{text[: MAX_CARRIED_CHARS - 1]}…"
