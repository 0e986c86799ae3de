"""The schema of a GraphQL server, where a page itself speaks to one: each field of its Query type is a hint."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any, ClassVar, Final
from urllib.parse import quote

from msgspec import Struct

from actors.learner.patterns.sources.source import (
    MAX_NODES,
    ApiEndpoint,
    Ask,
    hints,
    items,
    members,
    of_site,
    origin_of,
    text,
    web_address,
)
from protocol.patterns.pattern import PagePattern, PatternSource
from protocol.patterns.sample import ApiExchange, PageSample

MAX_FIELDS: Final = 20
"""Fields of an object that are asked for."""

_TYPE: Final = "kind name ofType{kind name ofType{kind name ofType{kind name}}}"
INTROSPECTION: Final = "{__schema{queryType{name} types{kind name fields{name args{name type{_}} type{_}}}}}".replace(
    "_}", _TYPE + "}"
)
"""The only question: what can be queried. Nothing of mutations."""

_VALUES: Final = ("SCALAR", "ENUM")


class GraphQlIntrospection(Struct, frozen=True):
    """Asks a server once for its schema, by GET; one that answers no GET is not asked otherwise."""

    name: ClassVar[PatternSource] = PatternSource.GRAPHQL_INTROSPECTION

    async def find(self, sample: PageSample, ask: Ask) -> tuple[PagePattern, ...]:
        """Return the fields that can be queried at the server that the page speaks to."""
        server = next(_servers(sample), "")
        if not server:
            return ()
        answer = await ask.json(f"{server}?query={quote(INTROSPECTION, safe='')}")
        schema = members(members(members(answer).get("data")).get("__schema"))
        return hints(self.name, sample, queries(schema, server))


def _servers(sample: PageSample) -> Iterator[str]:
    for exchange in sample.exchanges:
        parts = web_address(exchange.url)
        if parts and _speaks_graphql(exchange) and of_site(exchange.url, sample.final_url):
            yield origin_of(exchange.url) + parts.path


def _speaks_graphql(exchange: ApiExchange) -> bool:
    if not {"data", "errors"} & members(exchange.body).keys():
        return False
    if "graphql" in exchange.url.partition("?")[0].lower():
        return True
    try:
        sent = members(json.loads(exchange.sent)) if exchange.sent else {}
    except (ValueError, RecursionError):
        return False
    return "{" in text(sent.get("query")) or "persistedQuery" in members(sent.get("extensions"))


def queries(schema: dict[str, Any], server: str) -> Iterator[ApiEndpoint]:
    """Yield a query by GET for each field of the Query type, with its arguments as JSON in `{variables}`."""
    types = {text(members(one).get("name")): members(one) for one in items(schema.get("types"))}
    root = types.get(text(members(schema.get("queryType")).get("name")), {})
    for one in islice(items(root.get("fields")), MAX_NODES):
        field = members(one)
        name = text(field.get("name"))
        selected = _selection(types.get(_named(field.get("type")), {}))
        arguments = [members(argument) for argument in items(field.get("args"))][:MAX_FIELDS]
        if not _is_name(name) or selected is None or not all(_is_name(text(one.get("name"))) for one in arguments):
            continue
        declared = ",".join(f"${one['name']}:{_type_text(one.get('type'))}" for one in arguments)
        given = ",".join(f"{one['name']}:${one['name']}" for one in arguments)
        query = f"query{f'({declared})' if declared else ''}{{{name}{f'({given})' if given else ''}{selected}}}"
        variables = "&variables={variables}" if arguments else ""
        reason = f"the field {name} of the GraphQL schema"
        yield ApiEndpoint(url=f"{server}?query={quote(query, safe='')}{variables}", reason=reason)


def _selection(kind: dict[str, Any]) -> str | None:
    """Return what is asked of an object: its plain fields; None where it has none, `""` for what is no object."""
    if text(kind.get("kind")) in _VALUES:
        return ""
    fields = [members(one) for one in items(kind.get("fields"))]
    names = [text(one.get("name")) for one in fields if _is_plain(one)][:MAX_FIELDS]
    return "{" + " ".join(names) + "}" if names else None


def _is_plain(field: dict[str, Any]) -> bool:
    kind = members(field.get("type"))
    for _ in range(4):
        if text(kind.get("kind")) in _VALUES:
            return _is_name(text(field.get("name"))) and not items(field.get("args"))
        kind = members(kind.get("ofType"))
    return False


def _named(value: object) -> str:
    """Return the name of a type without what is wrapped around it."""
    kind = members(value)
    for _ in range(4):
        if name := text(kind.get("name")):
            return name
        kind = members(kind.get("ofType"))
    return ""


def _type_text(value: object, depth: int = 4) -> str:
    """Return a type as a query declares it: `[ID!]!`."""
    kind = members(value)
    inner = kind.get("ofType") if depth else None
    match text(kind.get("kind")):
        case "NON_NULL":
            return f"{_type_text(inner, depth - 1)}!"
        case "LIST":
            return f"[{_type_text(inner, depth - 1)}]"
        case _:
            name = text(kind.get("name"))
            return name if _is_name(name) else "String"


def _is_name(name: str) -> bool:
    """Return whether a name is one of GraphQL's, and none of its own."""
    return name.isascii() and name.isidentifier() and not name.startswith("__")
