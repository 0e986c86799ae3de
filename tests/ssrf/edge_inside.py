"""Asks a whole Weft, over REST and MCP, for addresses that nobody may reach, where every connect is seen.

`python -m tests.ssrf.edge_inside FOLDER FILE` writes what it answered.
"""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import httpx2
import msgspec
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from bus import telemetry
from tests.flows.system import CALL_S, System, weft_up
from tests.ssrf.corpus import corpus
from tests.ssrf.findings import Answer, AtTheEdge
from tests.ssrf.inside import forbidden
from tests.ssrf.internet import internet
from tests.support.wire import Wire, wire

SAMPLES = 3
"""So many addresses of each class."""

TWINS = (
    ("http://127.0.0.1:8080/", "http://127.0.0.1:8081/"),
    ("http://10.0.0.1:8080/", "http://10.0.0.1:8081/"),
    ("http://[::1]:8080/", "http://[::1]:8081/"),
    ("http://localtest.me:8080/", "http://localtest.me:8081/"),
    ("https://localtest.me:8443/", "https://localtest.me:8444/"),
    ("http://site.example/to?url=http://127.0.0.1:8080/", "http://site.example/to?url=http://127.0.0.1:8081/"),
)
"""Addresses of which the first has somebody who listens, and the second nobody."""


async def over_mcp(weft: System, urls: list[tuple[str, str]]) -> list[Answer]:
    """Ask with the official client."""
    headers = {"Authorization": f"Bearer {weft.key}"}
    answers: list[Answer] = []
    async with (
        httpx2.AsyncClient(headers=headers, trust_env=False, timeout=CALL_S) as http,
        Client(streamable_http_client(weft.ready.mcp, http_client=http)) as client,
    ):
        for kind, url in urls:
            result = await client.call_tool("browse", {"url": url})
            told = msgspec.convert(result.structured_content or {}, dict[str, object])
            answers.append(Answer("mcp", kind, url, is_error=bool(result.is_error), body=told))
    return answers


def over_rest(weft: System, urls: list[tuple[str, str]]) -> list[Answer]:
    """Ask as programs do."""
    answers: list[Answer] = []
    for kind, url in urls:
        answer = weft.browse(url)
        answers.append(Answer("rest", kind, url, is_error=not answer.is_success, body=answer.json()))
    return answers


def ask(folder: Path, heard: Wire) -> AtTheEdge:
    """Run a Weft, and ask."""
    urls = [(kind, one.url) for kind, addresses in corpus().attacks.items() for one in addresses[:SAMPLES]]
    twins = [("twin", url) for pair in TWINS for url in pair]
    with weft_up(folder, WEFT_ALLOW_PRIVATE="", WEFT_FETCH_HOST_RATE="0") as weft:
        answers = [*over_rest(weft, urls), *anyio.run(over_mcp, weft, urls)]
        alike = [*over_rest(weft, twins), *anyio.run(over_mcp, weft, twins)]
        leaks = forbidden(heard.take())
        honest = over_rest(weft, [("control", corpus().honest[0].url)])
    return AtTheEdge(answers=tuple(answers), alike=tuple(alike), honest=tuple(honest), leaks=leaks)


def main(folder: Path, file: Path) -> None:
    """Ask, and write what was answered."""
    with internet(), wire("lo") as heard:
        found = ask(folder, heard)
    file.write_bytes(msgspec.json.encode(found))


if __name__ == "__main__":
    telemetry.configure("error", "json")
    main(Path(sys.argv[1]), Path(sys.argv[2]))
