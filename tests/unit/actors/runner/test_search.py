"""Searching: each kind of engine is asked as its API says, what comes back is cleaned, and somebody else answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest

from actors.runner.searching.ranking import FoundResult, best_hits
from actors.tool_files import ENGINES_FORM, read_engines
from protocol.documents import WebObservationSummary
from protocol.faults import FaultError
from protocol.policy import ToolErrorCode, ToolResult, ToolStatus
from protocol.search import EngineKind, FoundPassage, SearchResults
from tests.unit.actors.runner.outside import LOOPBACK, ME, Asked, World, json_of, serving, world

QUERY = "bread oven"
KEY = "secret-key-of-the-engine"


def engine(kind: str, url: str, name: str = "mine", more: str = "") -> str:
    return f'[[engines]]\nname = "{name}"\nkind = "{kind}"\nurl = "{url}"\n{LOOPBACK}\n{more}\n'


def results(ran: ToolResult) -> SearchResults:
    assert ran.status is ToolStatus.OK, ran
    return msgspec.convert(ran.payload, SearchResults)


def urls(ran: ToolResult) -> list[str]:
    return [hit.url for hit in results(ran).hits]


async def search(here: World, caller: str = ME, **more: Any) -> ToolResult:
    return await here.call("search", caller, **{"query": QUERY, **more})


async def test_searxng(tmp_path: Path) -> None:
    found = {
        "url": "https://oven.example/bread",
        "title": "Bread in an oven",
        "content": "How to <b>bake</b>.",
        "score": 2.0,
    }
    async with (
        serving(lambda _: json_of({"query": QUERY, "results": [found], "answers": []})) as server,
        world(tmp_path, engines=engine("searxng", f"{server.url}/search")) as here,
    ):
        ran = await search(here)

        assert parse_qs(urlsplit(server.asked[0].target).query) == {"q": [QUERY], "format": ["json"]}
        hit = results(ran).hits[0]
        assert (hit.url, hit.title, hit.snippet) == (found["url"], found["title"], "How to bake.")
        assert 0.8 < hit.confidence < 0.9
        assert (results(ran).engine, results(ran).note) == ("mine", "")
        content = ran.documents[0].content
        assert isinstance(content, WebObservationSummary)
        assert (content.url, content.markdown, ran.documents[0].trust.value) == (hit.url, hit.snippet, "untrusted")


async def test_brave(tmp_path: Path) -> None:
    page = {
        "title": "Oven",
        "url": "https://oven.example/",
        "description": "A <strong>bread</strong> oven",
        "age": "1 day",
    }
    async with (
        serving(lambda _: json_of({"type": "search", "web": {"type": "search", "results": [page]}})) as server,
        world(
            tmp_path,
            engines=engine("brave", f"{server.url}/res/v1/web/search", more='key_variable = "SEARCH_KEY_MINE"'),
            environment={"SEARCH_KEY_MINE": KEY},
        ) as here,
    ):
        ran = await search(here)

        assert server.asked[0].headers["x-subscription-token"] == KEY
        assert [hit.snippet for hit in results(ran).hits] == ["A bread oven"]
        assert KEY not in repr(ran)


async def test_tavily(tmp_path: Path) -> None:
    found = [
        {"title": f"Oven {n}", "url": f"https://{n}.example/", "content": "bread oven", "score": n / 10} for n in (9, 2)
    ]
    async with (
        serving(lambda _: json_of({"query": QUERY, "results": found, "response_time": 1.2})) as server,
        world(
            tmp_path,
            engines=engine("tavily", f"{server.url}/search", more='key_variable = "TAVILY_API_KEY"'),
            environment={"TAVILY_API_KEY": KEY},
        ) as here,
    ):
        ran = await search(here)

        assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
        assert msgspec.json.decode(server.asked[0].body)["query"] == QUERY
        first, second = results(ran).hits
        assert first.confidence > second.confidence + 0.2


ROWS = "".join(
    f'<li class="result"><h3><a href="https://{host}.example/bread">Bread of the {host} oven</a></h3>'
    f"<p class=snippet>All about the bread that the {host} oven bakes, and how long it takes.</p></li>"
    for host in ("stone", "clay", "steel", "brick")
)
PAGE = f"""<html><head><title>bread oven - search</title></head><body><main><h1>Results</h1>
<ol><li class="result">
<h3><a href="https://finder.example/l/?uddg=https%3A%2F%2Fwood.example%2Fbread">Wood oven bread</a></h3>
<p class=snippet>How the wood fired oven makes bread, step by step for beginners.</p></li>
<li class="result"><h3><a href="https://ads.finder.example/aclick?u=1">Cheap ovens today only</a></h3>
<p class=snippet>The cheapest of all ovens, buy now and never bake again at home.</p></li>
{ROWS}</ol></main></body></html>"""


async def test_a_result_page(tmp_path: Path) -> None:
    async with world(tmp_path, engines=engine("page", "https://finder.example/find?q={query}")) as here:
        here.pages["https://finder.example/find"] = PAGE

        ran = await search(here, query="bread & oven")

        assert (here.browsed[0].url, here.browsed[0].obey_robots) == (
            "https://finder.example/find?q=bread%20%26%20oven",
            True,
        )
        assert urls(ran) == [f"https://{host}.example/bread" for host in ("wood", "stone", "clay", "steel", "brick")]
        assert all(0.4 < hit.confidence <= 0.7 for hit in results(ran).hits)


def test_poisoned_results() -> None:
    found = [
        FoundResult(url="javascript:alert(1)", title="Bread"),
        FoundResult(url="data:text/html,x", title="Bread"),
        FoundResult(url="ftp://oven.example/", title="Bread"),
        FoundResult(url="https://user:pw@oven.example/", title="Bread"),
        FoundResult(url="http://[", title="Bread"),
        *(FoundResult(url=f"https://www.many.example/{number}", title="Bread") for number in range(50)),
        FoundResult(url="https://oven.example/a?utm_source=x#top", title="Bread"),
        FoundResult(url="https://oven.example/a/", title="Bread, too"),
        FoundResult(url="https://engine.example/settings", title="Settings"),
        FoundResult(url="https://ad.doubleclick.net/clk", title="Bread"),
        FoundResult(url="https://empty.example/", title="<b></b> "),
        FoundResult(url="https://huge.example/", title="bread " * 90_000, snippet="<i>" * 90_000),
        *(FoundResult(url=f"https://{number}.example/", title="Oven") for number in range(50)),
    ]

    hits = best_hits(found, QUERY, EngineKind.PAGE, "https://www.engine.example/search?q={query}")

    assert [hit.url for hit in hits[:4]] == [
        "https://www.many.example/0",
        "https://www.many.example/1",
        "https://oven.example/a?utm_source=x#top",
        "https://huge.example/",
    ]
    assert len(hits) == 10
    assert max(len(hit.title) for hit in hits) <= 301
    assert all(0.2 < hit.confidence <= 0.7 for hit in hits)


@pytest.mark.slow
async def test_the_next_engine_answers_for_one_that_fails_and_then_the_own_index(tmp_path: Path) -> None:
    def moody(asked: Asked) -> Any:
        good = {"results": [{"url": "https://oven.example/", "title": "Bread oven"}]}
        return json_of(good) if "good" in asked.target else (503, {"Retry-After": "1"}, b"busy")

    async with serving(moody) as server:
        files = engine("searxng", f"{server.url}/bad", "first"), engine("searxng", f"{server.url}/good", "second")
        async with world(tmp_path, engines="".join(files)) as here:
            ran = await search(here)
            named = await search(here, engine="second")

        assert (results(ran).engine, urls(ran)) == ("second", ["https://oven.example/"])
        assert "first has not answered" in results(ran).note
        assert [one.target.split("?")[0] for one in server.asked] == ["/bad", "/bad", "/good", "/good"]
        assert results(named).note == ""
        async with world(tmp_path, engines=files[0]) as here:
            here.passages[ME] = (
                FoundPassage(url="https://kept.example/", title="Kept", text="of bread", score=2.0, kind="page"),
                FoundPassage(url="", title="Mine", text="an oven", score=1.0, kind="source", source_id="src_1"),
            )
            local = await search(here)
            stranger = await search(here, "key_you")

        assert (results(local).engine, urls(local)) == ("local", ["https://kept.example/", "weft://sources/src_1"])
        assert "not the web" in results(local).note
        assert (stranger.status, stranger.code) == (ToolStatus.ERROR, ToolErrorCode.SEARCH_FAILED)


@pytest.mark.parametrize(
    "answer",
    [(200, {}, b"<html>"), (200, {}, b'{"results": 3}'), (302, {"Location": "/x"}, b""), (200, {}, b"[" * 3_000_000)],
)
async def test_what_is_no_answer_is_none(tmp_path: Path, answer: Any) -> None:
    async with (
        serving(lambda _: answer) as server,
        world(tmp_path, engines=engine("searxng", f"{server.url}/search")) as here,
    ):
        ran = await search(here)

        assert (ran.status, ran.code) == (ToolStatus.ERROR, ToolErrorCode.SEARCH_FAILED)
        assert len(server.asked) == 1


async def test_what_cannot_be_asked(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        assert (await search(here)).code is ToolErrorCode.SEARCH_UNAVAILABLE
        for wrong, field in (({"query": "x" * 513}, "query"), ({"query": " "}, "query")):
            ran = await search(here, **wrong)
            assert (ran.code, ran.fault and ran.fault.field) == (ToolErrorCode.INVALID_ARGUMENTS, field)
        unknown = await search(here, engine="google")
        assert unknown.code is ToolErrorCode.INVALID_ARGUMENTS
        assert "There are: local." in (unknown.fault.message if unknown.fault else "")


async def test_a_private_engine_is_asked_only_where_the_operator_allows_it(tmp_path: Path) -> None:
    async with serving(lambda _: json_of({"results": []})) as server:
        closed = engine("searxng", f"{server.url}/search").replace(LOOPBACK, "")
        async with world(tmp_path, engines=closed) as here:
            ran = await search(here)

        assert ran.code is ToolErrorCode.SEARCH_FAILED
        assert "private network" in (ran.fault.message if ran.fault else "")
        assert server.asked == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (engine("page", "https://x.example/"), 4),
        (engine("brave", "https://x.example/") * 2, 8),
        (engine("nonsense", "https://x.example/"), 3),
        (engine("brave", "https://x.example/", more='key_variable = "HOME"'), 6),
        (engine("brave", "https://x.example/", "local"), 2),
    ],
)
def test_a_wrong_file_names_its_line(tmp_path: Path, text: str, line: int) -> None:
    (own := tmp_path / "search.toml").write_text(text)

    with pytest.raises(FaultError, match=f"line {line}:"):
        read_engines(own)


def test_what_is_shipped_asks_nobody_without_a_key() -> None:
    assert [one.name for one in ENGINES_FORM.shipped.engines if one.enabled and one.key_variable is None] == []
    assert {"google", "duckduckgo", "bing", "yahoo"} <= {one.name for one in ENGINES_FORM.shipped.engines}
