"""What is chosen of a page, and how surely."""

from __future__ import annotations

import pytest

from actors.extraction.assets import CONTENT_MODEL, bytes_of
from actors.extraction.decide import content
from actors.extraction.decide.blocks import blocks
from actors.extraction.decide.content import Content, choose_content
from actors.extraction.decide.model import content_model
from actors.extraction.parse import tree
from protocol.confidence import Source
from protocol.page import PageType

URL = "https://site.example/2024/05/a-walk-along-the-river"
SENTENCES = (
    "The river begins high in the hills, where two small streams meet under an old stone bridge.",
    "From there it takes its time, turning left and right between meadows, farms and a few quiet villages.",
    "We followed it for three days, and wherever we asked for the way, people told us to listen for the water.",
    "On the second evening, rain came down so hard that we had to wait in a barn until the morning.",
    "At its mouth, the river is wide and slow, and nobody there has ever seen the bridge from which it comes.",
)
ARTICLE = "".join(f"<p>{one} {two}</p>" for one in SENTENCES for two in SENTENCES[:2])
MENU = "".join(f'<li><a href="/{word}">{word}</a></li>' for word in ("News", "Sports", "Culture", "Contact", "Log in"))
PAGE = f"""<html><head><title>A walk along the river</title></head><body>
<header class="site-header"><nav class="main-menu"><ul>{MENU}</ul></nav></header>
<main><article class="post"><h1>A walk along the river</h1><div class="entry-content">{ARTICLE}</div></article></main>
<aside class="sidebar"><h3>Related</h3><ul><li><a href="/x">Ten other walks</a></li></ul></aside>
<footer class="footer"><p>© 2024 Site. All rights reserved.</p><a href="/privacy">Privacy policy</a></footer>
</body></html>"""


def chosen(source: str, elsewhere: tuple[str, ...] = (), url: str = URL) -> Content:
    page = tree.read(source, url)
    return choose_content(page, blocks(page), elsewhere)


def test_keeps_the_article_and_nothing_around_it() -> None:
    found = chosen(PAGE)

    paragraphs = [f"{one} {two}" for one in SENTENCES for two in SENTENCES[:2]]
    assert [line for line in found.text.split("\n") if line != "A walk along the river"] == paragraphs
    assert found.confidence.score > 0.8
    assert found.confidence.source is Source.SELECTOR_MATCH
    assert [attempt.selector for attempt in found.attempts if attempt.selected] == ["main"]
    assert found.text_elsewhere == ""


def test_knows_every_element_that_holds_what_was_kept() -> None:
    page = tree.read(PAGE, URL)

    found = choose_content(page, blocks(page))

    inside = ("html", "body", "main", "article", "div.entry-content", "div.entry-content p")
    assert [page.root.select_one(name) in found.holders for name in inside[1:]] == [True] * 5
    assert [page.root.select_one(name) in found.holders for name in ("header", "aside", "footer", "nav ul")] == [
        False
    ] * 4


def test_says_what_the_page_is_for() -> None:
    found = chosen(PAGE)

    assert max(found.page_types, key=lambda kind: found.page_types[kind]) is PageType.ARTICLE
    assert sum(found.page_types.values()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("url", "kind"),
    [("https://site.example/", PageType.HOME), ("https://site.example/search?q=rivers", PageType.SEARCH)],
)
def test_reads_home_pages_and_searches_from_the_address(url: str, kind: PageType) -> None:
    found = chosen(PAGE, url=url)

    assert max(found.page_types, key=lambda one: found.page_types[one]) is kind
    assert sum(found.page_types.values()) == pytest.approx(1)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("", id="nothing"),
        pytest.param('<html><body><div id="root"></div><script>run()</script></body></html>', id="shell"),
        pytest.param('<div id="app"><p>Loading…</p></div><noscript>Enable JavaScript.</noscript>', id="waiting"),
        pytest.param("<p>\u200b</p>", id="nothing to see"),
    ],
)
def test_an_empty_shell_gives_no_confidence(source: str) -> None:
    found = chosen(source)

    assert found.confidence.score < 0.05
    assert sum(found.page_types.values()) == pytest.approx(1)


def test_takes_the_text_of_the_data_where_the_blocks_have_next_to_none() -> None:
    found = chosen("<div>Loading</div>", (" ".join(SENTENCES), "less"))

    assert found.text_elsewhere == " ".join(SENTENCES) == found.text
    assert (found.blocks, found.holders) == ((), frozenset())
    assert found.confidence.source is Source.FRAMEWORK_DATA
    assert 0.1 < found.confidence.score < 0.4
    assert [attempt.selector for attempt in found.attempts if attempt.selected] == ["data"]


def test_takes_the_whole_text_of_the_data_where_the_page_shows_its_beginning() -> None:
    teaser = f"<main><article><p>{SENTENCES[0]}</p><p>{SENTENCES[1]}</p></article></main>"

    whole = chosen(teaser, (" ".join(SENTENCES * 3),))
    other = chosen(teaser, ("quite another text of many words " * 30,))

    assert whole.text_elsewhere == " ".join(SENTENCES * 3)
    assert other.text_elsewhere == ""


def test_leaves_data_whose_words_stand_elsewhere_or_do_not_begin_with_what_is_shown() -> None:
    beginning = " ".join(SENTENCES[:2])
    rest = [f"Shuttle {number} of the weavers' museum" for number in range(100, 160)]
    teaser = f"<main><article><p>{SENTENCES[0]}</p><p>{SENTENCES[1]}</p></article></main>"
    links = f"<nav><ul>{''.join(f'<li><a href=/{at}>{name}</a>' for at, name in enumerate(rest))}</ul></nav>"

    assert chosen(teaser, (" ".join((beginning, *rest)),)).text_elsewhere != ""
    assert chosen(teaser, (" ".join((*rest, beginning)),)).text_elsewhere == ""
    assert chosen(teaser + links, (" ".join((beginning, *rest)),)).text_elsewhere == ""


def test_leaves_a_text_of_the_data_that_says_no_more() -> None:
    assert chosen(PAGE, (" ".join(SENTENCES),)).text_elsewhere == ""


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("<div>" * 50_000 + "deep" + "</div>" * 50_000, id="deep"),
        pytest.param("<table>" + "<tr><td>1<td>2" * 15_000 + "</table>", id="many cells"),
        pytest.param("<p>" + "word " * 500_000, id="one long block"),
        pytest.param("<p>\ud800 lone \udfff surrogates and \x00 NUL</p>" + ARTICLE, id="broken characters"),
        pytest.param('<p class="' + "a-b_C " * 100_000 + '">x</p>' + ARTICLE, id="giant class"),
        pytest.param('<script type="application/ld+json">{"description": "' + "\\" * 100_000 + "</script>", id="bait"),
    ],
)
@pytest.mark.slow
def test_bears_whatever_a_page_may_be(source: str) -> None:
    assert 0 <= chosen(source).confidence.score <= 1


def test_what_lies_beyond_the_last_block_looked_at_shares_the_lot_of_its_look_alikes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = chosen(PAGE)
    monkeypatch.setattr(content, "MAX_BLOCKS", len(MENU.split("<li>")) + 5)

    assert chosen(PAGE).text == whole.text


def test_the_same_page_gives_the_same_choice() -> None:
    assert chosen(PAGE).text == chosen(PAGE).text
    assert chosen(PAGE).confidence == chosen(PAGE).confidence


def test_the_model_is_small() -> None:
    assert len(bytes_of(CONTENT_MODEL)) < 2_000_000
    assert content_model() is content_model()


def test_a_label_that_something_was_paid_for_stays_on_it_alone() -> None:
    story = " ".join(SENTENCES)
    hit = f"<li><span>Sponsored</span><h3><a href=/1>{SENTENCES[0]}</a></h3><p>{SENTENCES[0]}</p></li>"

    assert chosen(f"<main><h1>Hits</h1><ul>{hit}</ul><p>{story}</p></main>").text.split("\n").count("Sponsored") == 1
    assert "Sponsored" not in chosen(f"<main><span>Sponsored</span><h1>A story</h1><p>{story} {story}</p></main>").text


def test_a_page_of_a_few_words_without_chrome_is_kept_whole() -> None:
    note = "<h1>Reserved</h1><p>This domain is for use in examples.</p><p><a href=/more>Learn more</a></p>"

    assert "Learn more" in chosen(f"<body><div>{note}</div>").text
    assert "Home" not in chosen(f"<body><nav><a href=/>Home</a></nav><main>{note}</main>").text


def test_the_menu_that_leads_to_this_very_page_is_that_of_its_site() -> None:
    names = "".join(f"<li><a href=walk-{number}>Walk number {number} of them</a>" for number in range(200))
    itself = '<li><a href="#">A walk along the river</a>'
    page = f"<title>A walk along the river</title><h1>A walk along the river</h1><p>{SENTENCES[0]}</p><ul>{{}}</ul>"

    assert chosen(page.format(names + itself)).text.split("\n")[-1] == SENTENCES[0]
    assert "Walk number 7" in chosen(page.format(names)).text
