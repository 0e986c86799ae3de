"""The data of a page are read whoever wrote them, and say what the page says."""

from __future__ import annotations

import json

import pytest

from actors.extraction.evidence.embedded import EmbeddedData
from actors.extraction.evidence.json_values import Json
from actors.extraction.evidence.states import Framework
from actors.extraction.parse.tree import read
from protocol.page import StructuredItem

URL = "https://shop.example/things/1"
SENTENCE = "The quick brown fox jumps over the lazy dog near the river, every day."
PROSE = "\n".join(f"{SENTENCE[:-1]}, number {number}." for number in range(4))


def embedded(markup: str) -> EmbeddedData:
    page = read(markup, URL)
    return EmbeddedData.of(page.document, page.root, URL)


def linked(*blocks: Json) -> str:
    return "".join(f'<script type="application/ld+json">{json.dumps(block)}</script>' for block in blocks)


def push(text: str) -> str:
    return f"<script>self.__next_f.push({json.dumps([1, text])})</script>"


def state(value: Json) -> str:
    return f'<script id="__NEXT_DATA__" type="application/json">{json.dumps(value)}</script>'


STATES = {
    "next": (
        '<script id="__NEXT_DATA__" type="application/json">{"props":{"a":1}}</script>',
        Framework.NEXT,
        {"props": {"a": 1}},
    ),
    "next, streamed": (push('0:{"a":1}\n'), Framework.NEXT, [{"a": 1}]),
    "nuxt 2": ('<script>window.__NUXT__={"data":[1]}</script>', Framework.NUXT, {"data": [1]}),
    "nuxt 3": (
        '<script type="application/json" id="__NUXT_DATA__">[["Reactive",1],{"a":2},"x"]</script>',
        Framework.NUXT,
        {"a": "x"},
    ),
    "apollo": ("<script>window.__APOLLO_STATE__ = {'a': {b: 1}};</script>", Framework.APOLLO, {"a": {"b": 1}}),
    "redux": ('<script>window.__PRELOADED_STATE__ = {"a":1}</script>', Framework.REDUX, {"a": 1}),
    "remix": ('<script>window.__remixContext = {"state":{"a":1}};</script>', Framework.REMIX, {"state": {"a": 1}}),
    "remix, streamed": (
        r'<script>window.__reactRouterContext.streamController.enqueue("[{\"_1\":2},\"a\",\"x\"]\n");</script>',
        Framework.REMIX,
        {"a": "x"},
    ),
    "sveltekit": (
        "<script>kit.start(app, element, {data: [null,{type:'data',data:{a:1},uses:{}}]})</script>",
        Framework.SVELTEKIT,
        [None, {"type": "data", "data": {"a": 1}, "uses": {}}],
    ),
    "sveltekit, fetched": (
        '<script type="application/json" data-sveltekit-fetched>{"status":200,"body":"{\\"a\\":1}"}</script>',
        Framework.SVELTEKIT,
        {"a": 1},
    ),
    "gatsby": (
        "<script>window.page={path:'/a',component:'x'}</script>",
        Framework.GATSBY,
        {"path": "/a", "component": "x"},
    ),
    "angular": ('<script id="ng-state" type="application/json">{"a":1}</script>', Framework.ANGULAR, {"a": 1}),
    "angular, older": (
        '<script id="serverApp-state" type="application/json">{&q;a&q;:&q;x&q;}</script>',
        Framework.ANGULAR,
        {"a": "x"},
    ),
    "inertia": ('<div id=app data-page=\'{"component":"A"}\'></div>', Framework.INERTIA, {"component": "A"}),
    "discourse": (
        '<div data-preloaded="{&quot;topic_1&quot;:&quot;{\\&quot;a\\&quot;:1}&quot;}"></div>',
        Framework.DISCOURSE,
        {"topic_1": {"a": 1}},
    ),
    "another": ('<script type="application/json" id="own">{"a":1}</script>', Framework.OTHER, {"a": 1}),
}


@pytest.mark.parametrize(("markup", "framework", "value"), STATES.values(), ids=STATES)
def test_reads_states(markup: str, framework: Framework, value: Json) -> None:
    (found,) = embedded(markup).states

    assert (found.framework, found.value) == (framework, value)


def test_defers_what_must_be_run() -> None:
    data = embedded("<script>window.__NUXT__=(function(a){return {a:a}}(1));</script>")

    assert data.states == ()
    assert data.deferred == ("(function(a){return {a:a}}(1));",)


def test_gives_items_of_every_notation() -> None:
    data = embedded(
        linked(
            {"@context": "https://schema.org", "@type": ["Thing", "NewsArticle"], "headline": "On blue", "url": "/a"}
        )
        + '<meta property="og:type" content="product"><meta property="og:title" content="Blue thing">'
        + '<meta property="product:price:amount" content="5"><meta property="product:price:currency" content="EUR">'
        + '<div itemscope itemtype="http://schema.org/Product"><b itemprop=name>Blue</b>'
        + "<a itemprop=url href=/b>b</a></div>"
        + '<div vocab="https://schema.org/" typeof="Person"><b property="name">Ada</b></div>'
    )

    assert data.items() == (
        StructuredItem(
            type="Thing", format="json-ld", properties={"headline": "On blue", "url": "https://shop.example/a"}
        ),
        StructuredItem(
            type="Product", format="microdata", properties={"name": "Blue", "url": "https://shop.example/b"}
        ),
        StructuredItem(type="Person", format="rdfa", properties={"name": "Ada"}),
        StructuredItem(
            type="Product",
            format="opengraph",
            properties={"name": "Blue thing", "offers": {"@type": "Offer", "price": "5", "priceCurrency": "EUR"}},
        ),
    )


def test_gives_the_records_that_bear_the_title() -> None:
    data = embedded(
        "<title>On blue things</title>"
        + state(
            {"post": {"__typename": "Post", "title": "On blue things", "tags": ["a"]}, "other": {"title": "Red is red"}}
        )
    )

    assert data.items() == (
        StructuredItem(
            type="Post", format="framework", properties={"__typename": "Post", "title": "On blue things", "tags": "a"}
        ),
    )


def test_resolves_references_and_ends_circles() -> None:
    data = embedded(
        linked(
            {
                "@graph": [
                    {"@id": "#a", "@type": "Article", "author": {"@id": "#p"}, "publisher": {"@id": "#gone"}},
                    {"@id": "#p", "@type": "Person", "name": "Ada", "worksFor": {"@id": "#p"}},
                ]
            }
        )
    )

    assert [item.properties for item in data.items()] == [
        {"author": {"@type": "Person", "name": "Ada", "worksFor": "#p"}, "publisher": "#gone"},
        {"name": "Ada", "worksFor": "#p"},
    ]


def test_bounds_what_items_say() -> None:
    nodes: list[Json] = [{"@type": "Thing", "name": "x" * 1_500, "number": number} for number in range(1_000)]

    items = embedded(linked(nodes)).items()

    assert 0 < len(items) <= 100
    assert sum(len(str(item.properties)) for item in items) < 100_000


def test_reads_ten_thousand_blocks_in_part() -> None:
    blocks: list[Json] = [{"@type": "Thing", "name": str(number)} for number in range(10_000)]

    data = embedded(linked(*blocks))

    assert 100 < len(data.json_ld) <= 2_000


@pytest.mark.parametrize(
    ("markup", "first"),
    [
        pytest.param(
            linked({"@type": "Article", "articleBody": PROSE, "description": SENTENCE}), PROSE, id="body of an article"
        ),
        pytest.param(
            state({"post": {"html": f"<p>{SENTENCE}</p><p>{PROSE}</p>"}, "i18n": {"a": SENTENCE * 9}}),
            f"{SENTENCE}\n{' '.join(PROSE.split())}",
            id="HTML in a state, translations left out",
        ),
        pytest.param(
            push(
                '1:["$","p",null,{"children":["Read ",["$","b",null,{"children":"this"}]," now: ' + SENTENCE + '"]}]\n'
            )
            + push(f'2:["$","p",null,{{"children":{json.dumps(PROSE.splitlines()[1])}}}]\n'),
            f"Read this now: {SENTENCE}\n{PROSE.splitlines()[1]}",
            id="elements that Next.js streams",
        ),
        pytest.param(
            linked(
                {
                    "@type": "DiscussionForumPosting",
                    "text": SENTENCE,
                    "comment": [{"@type": "Comment", "text": "I think so, too."}, {"@type": "Comment", "text": "No."}],
                }
            ),
            f"{SENTENCE}\nI think so, too.\nNo.",
            id="posts of a thread",
        ),
        pytest.param(f'<meta property="og:description" content="{SENTENCE}">', SENTENCE, id="a description"),
    ],
)
def test_gives_the_prose_of_the_data(markup: str, first: str) -> None:
    assert embedded(markup).texts()[0] == first


def test_gives_the_prose_of_what_was_run() -> None:
    data = embedded("<title>x</title>")

    assert data.texts([{"body": PROSE}]) == ("\n".join(PROSE.splitlines()),)
    assert data.texts() == ()


@pytest.mark.parametrize(
    "notice",
    ["Loading", "https://a.example/this/is/an/address?with=words", ".css { color: red; margin: 0 }", "a b c d e f g"],
)
def test_takes_no_settings_for_prose(notice: str) -> None:
    settings = state({f"k{number}": f"{notice}{number}" for number in range(50)})

    assert embedded(settings).texts() == ()
