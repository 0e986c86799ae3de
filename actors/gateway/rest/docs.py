"""The pages for people: what runs here, and the OpenAPI document. They run nothing and load nothing."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from actors.gateway.http import FRONT, is_visit, nothing_here, refusal
from actors.gateway.rest.console import INDEX, ConsoleFiles

MEDIA = "text/html; charset=utf-8"
_STYLE = """\
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#57606a;--paper:#fff;--panel:#f6f8fa;--line:#d0d7de;--link:#0757ba;
--get:#116329;--post:#0757ba;--delete:#a40e26}
@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9da7b3;--paper:#0d1117;--panel:#161b22;--line:#30363d;
--link:#6cb6ff;--get:#56d364;--post:#6cb6ff;--delete:#ff8182}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1.5rem;max-width:76rem;background:var(--paper);color:var(--ink);
font:1rem/1.55 system-ui,sans-serif}
h1,h2,h3,h4{line-height:1.25;margin:1.6em 0 .5em}h1{margin-top:0}small{color:var(--soft);font-weight:400}
a{color:var(--link)}p{margin:.5em 0;max-width:52rem}
code,pre{font:.9em/1.5 ui-monospace,monospace}code{overflow-wrap:anywhere}
pre{background:var(--panel);border:1px solid var(--line);border-radius:6px;padding:.8rem;overflow:auto}
nav ul{list-style:none;padding:.8rem 1rem;background:var(--panel);border:1px solid var(--line);border-radius:6px;
columns:22rem}
article{border-top:1px solid var(--line);padding-bottom:1rem}
.method{display:inline-block;min-width:4.2em;font:700 .8em ui-monospace,monospace;color:var(--soft)}
.get{color:var(--get)}.post{color:var(--post)}.delete{color:var(--delete)}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.92em}
th,td{text-align:left;vertical-align:top;padding:.4rem .6rem;border-bottom:1px solid var(--line)}
summary{cursor:pointer;padding:.3rem 0}div:target{outline:2px solid var(--link);outline-offset:4px}
"""
"""How the page looks, in light and in dark."""

_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
_ABOUT = """Gives LLM agents a web that they can trust: a page goes in; clean Markdown with a confidence on every field
comes out, or an error with the next thing to try."""

_ABOUT_KEY = """Every call needs one: `Authorization: Bearer KEY`. Weft made the first when it was first started, and
`weft up` says which file keeps it, on the machine where it runs. Whoever has that one makes keys for others:
`weft keys add NAME --scope browse`."""

_ABOUT_CONSOLE = """It shows here what this Weft does, once its packages are in place: install `npm` (Node.js 20 or
newer), then start Weft by `./scripts/run`."""

_REF = "#/components/schemas/"
_LIMITS = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern", "format", "default")


class FrontPage(Struct, frozen=True):
    """ASGI: shows a person the console; for programs there is nothing at this path.

    Where the packages of the console are missing, it tells what runs here and how to reach it. Whoever sees it needs no
    key, so it holds nothing that /openapi.json does not. `public_url` is the address of the settings; without it, the
    Host of the request stands there, which the gate has compared with those that are ours.
    """

    version: str
    console: ConsoleFiles
    public_url: str = ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope)
        if not is_visit(request.method, FRONT, request.headers.getlist("accept")):
            response = refusal(nothing_here())
        elif await self.console.complete():
            response = await self.console.response(INDEX, request)
        else:
            base = self.public_url or f"{scope['scheme']}://{request.headers['host']}"
            response = Response(front(self.version, base), headers={**HEADERS, "Vary": "Accept"}, media_type=MEDIA)
        await response(scope, receive, send)


def front(version: str, base: str) -> str:
    """Write the page at the root of a Weft of this version, which clients reach at `base`."""
    at, bearer = escape(base), '"Authorization: Bearer $WEFT_API_KEY"'
    rows = (
        ("MCP", "/mcp", "for agents"),
        ("REST", "/api/browse", f"for programs: {_link('/docs', 'every endpoint')}, {_link('/openapi.json')}"),
        ("Health", "/readyz", f"{_link('/readyz', 'whether all is there that a page needs')}"),
    )
    listed = "".join(
        f"<tr><th>{name}</th><td><code>{at}{path}</code></td><td>{about}</td></tr>" for name, path, about in rows
    )
    body = "-H 'Content-Type: application/json' -d '{\"url\": \"https://example.com\"}'"
    curl = f"export WEFT_API_KEY=...\ncurl -s {base}/api/browse -H {bearer} \\\n  {body}"
    claude = f"claude mcp add --transport http weft {base}/mcp --header {bearer}"
    return "".join(
        [
            _head("Weft"),
            f"<header><h1>Weft <small>{escape(version)}</small></h1><p>{_ABOUT}</p></header>",
            f'<main><div class="wide"><table>{listed}</table></div><h2>The key</h2><p>{_prose(_ABOUT_KEY)}</p>',
            f"<h2>A first page</h2><pre><code>{escape(curl)}</code></pre>",
            f"<h2>An agent</h2><pre><code>{escape(claude)}</code></pre>",
            f"<h2>The console</h2><p>{_prose(_ABOUT_CONSOLE)}</p></main></body></html>\n",
        ]
    )


def page(document: Mapping[str, Any]) -> str:
    """Write the page of an OpenAPI document."""
    info, (scheme,) = document["info"], document["components"]["securitySchemes"].values()
    return "".join(
        [
            _head(f"{info['title']} API"),
            f"<header><h1>{escape(info['title'])} <small>{escape(info['version'])}</small></h1>",
            f"<p>{_prose(info['summary'])}</p><p>{_prose(info['description'])}</p>",
            '<p><a href="/openapi.json">openapi.json</a></p></header>',
            _contents(document),
            "<main>",
            *(_family(tag, document) for tag in document["tags"]),
            f'<section id="key"><h2>The key</h2><p><code>Authorization: Bearer KEY</code></p>{_paragraphs(scheme)}',
            '</section><section id="schemas"><h2>Schemas</h2>',
            *(_schema(name, shape) for name, shape in document["components"]["schemas"].items()),
            "</section></main></body></html>\n",
        ]
    )


def _head(title: str) -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>"
    )


def _link(path: str, text: str = "") -> str:
    return f'<a href="{path}">{text or path.removeprefix("/")}</a>'


def _operations(document: Mapping[str, Any], tag: str) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if tag in operation["tags"]:
                yield method, path, operation


def _contents(document: Mapping[str, Any]) -> str:
    rows = "".join(
        f'<li><a href="#{escape(operation["operationId"])}">{_method(method)} {escape(path)}</a></li>'
        for tag in document["tags"]
        for method, path, operation in _operations(document, tag["name"])
    )
    return f'<nav aria-label="Contents"><ul>{rows}</ul></nav>'


def _family(tag: Mapping[str, str], document: Mapping[str, Any]) -> str:
    shown = "".join(_operation(*one) for one in _operations(document, tag["name"]))
    return f"<section><h2>{escape(tag['name'])}</h2><p>{_prose(tag['description'])}</p>{shown}</section>"


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> str:
    scopes = [scope for requirement in operation["security"] for names in requirement.values() for scope in names]
    key = f'A <a href="#key">key</a> with the scope <code>{escape(", ".join(scopes))}</code>.' if scopes else "No key."
    about = f"<p>{_prose(operation['description'])}</p>" if "description" in operation else ""
    return (
        f'<article id="{escape(operation["operationId"])}"><h3>{_method(method)} <code>{escape(path)}</code></h3>'
        f"<p><strong>{_prose(operation['summary'])}</strong></p>{about}<p>{key}</p>"
        f"{_parameters(operation.get('parameters', ()))}{_body(operation.get('requestBody'))}"
        f"{_responses(operation['responses'])}</article>"
    )


def _parameters(parameters: Sequence[Mapping[str, Any]]) -> str:
    if not parameters:
        return ""
    rows = "".join(
        f"<tr><td><code>{escape(one['name'])}</code></td><td>{escape(one['in'])}</td><td>{_type(one['schema'])}</td>"
        f"<td>{_prose(one.get('description', ''))}</td></tr>"
        for one in parameters
    )
    return f"<h4>Parameters</h4>{_table(('Name', 'In', 'Type', 'Meaning'), rows)}"


def _body(body: Mapping[str, Any] | None) -> str:
    if body is None:
        return ""
    ((media, content),) = body["content"].items()
    example = json.dumps(content["example"], indent=2) if "example" in content else ""
    shown = f"<pre><code>{escape(example)}</code></pre>" if example else ""
    return f"<h4>Body</h4><p><code>{escape(media)}</code>: {_type(content['schema'])}</p>{shown}"


def _responses(responses: Mapping[str, Mapping[str, Any]]) -> str:
    rows = "".join(
        f"<tr><td><code>{escape(status)}</code></td><td>{_prose(response['description'])}</td><td>"
        + "<br>".join(
            f"<code>{escape(media)}</code>: {_type(one['schema'])}" for media, one in response["content"].items()
        )
        + "</td></tr>"
        for status, response in responses.items()
    )
    return f"<details><summary>Answers</summary>{_table(('Status', 'Meaning', 'Content'), rows)}</details>"


def _schema(name: str, shape: Mapping[str, Any]) -> str:
    required = set(shape.get("required", ()))
    rows = "".join(
        f"<tr><td><code>{escape(field)}</code>{' *' if field in required else ''}</td><td>{_type(inner)}</td>"
        f"<td>{_prose(inner.get('description', ''))}</td></tr>"
        for field, inner in shape.get("properties", {}).items()
    )
    table = _table(("Field", "Type", "Meaning"), rows) if rows else f"<p>{_type(shape)}</p>"
    # A browser opens what a link leads into, but not what it leads to: the name stands inside.
    return (
        f"<details><summary><code>{escape(name)}</code></summary>"
        f'<div id="schema-{escape(name)}">{_paragraphs(shape)}{table}</div></details>'
    )


def _type(shape: Mapping[str, Any]) -> str:
    """Write a type in few words, its parts as links to their own."""
    if "$ref" in shape:
        name = escape(shape["$ref"].removeprefix(_REF))
        return f'<a href="#schema-{name}">{name}</a>'
    if choices := shape.get("anyOf") or shape.get("oneOf"):
        return " or ".join(_type(choice) for choice in choices)
    if "enum" in shape:
        return " | ".join(f"<code>{escape(json.dumps(value))}</code>" for value in shape["enum"])
    if "const" in shape:
        return f"<code>{escape(json.dumps(shape['const']))}</code>"
    kind = escape(str(shape.get("type", "any")))
    if isinstance(shape.get("items"), dict):
        kind += f" of {_type(shape['items'])}"
    if isinstance(shape.get("additionalProperties"), dict):
        kind += f" of text to {_type(shape['additionalProperties'])}"
    limits = ", ".join(f"{name} {json.dumps(shape[name])}" for name in _LIMITS if name in shape)
    return f"{kind} <small>{escape(limits)}</small>" if limits else kind


def _method(method: str) -> str:
    return f'<span class="method {escape(method)}">{escape(method.upper())}</span>'


def _table(heads: Sequence[str], rows: str) -> str:
    titles = "".join(f"<th>{escape(head)}</th>" for head in heads)
    return f'<div class="wide"><table><thead><tr>{titles}</tr></thead><tbody>{rows}</tbody></table></div>'


def _paragraphs(described: Mapping[str, Any]) -> str:
    return "".join(f"<p>{_prose(text)}</p>" for text in described.get("description", "").split("\n\n") if text)


def _prose(text: str) -> str:
    """Write a text of ours, in which code stands between backquotes."""
    pieces = escape(text).split("`")
    shown = "".join(f"<code>{piece}</code>" if place % 2 else piece for place, piece in enumerate(pieces))
    return shown.replace("\n- ", "<br>• ")
