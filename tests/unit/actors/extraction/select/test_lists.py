"""Lists of records: cards, results, posts."""

from __future__ import annotations

import pytest
from msgspec import structs

from actors.extraction.select.lists import MAX_LISTS, MAX_ROWS, record_lists
from actors.extraction.select.records import MAX_COLUMNS
from protocol.page import PageType, RecordList
from tests.support.whole_page import parsed, whole

SITE = "https://site.example"


def read(body: str, within: str = "body") -> list[RecordList]:
    page = parsed(body)
    return record_lists(page, whole(page, within))


def card(name: str, price: str, rest: str = "") -> str:
    return (
        f"<li class='card card-{len(name)} odd'><a href=/{name}><img src=/{name}.png width=200 alt=''></a>"
        f"<h3><a href=/{name}>{name} loom</a></h3><span class=price>{price}</span>{rest}<button>Add to cart"
        f"</button></li>"
    )


def test_cards_are_rows_with_the_same_columns() -> None:
    body = (
        "<h2>All looms</h2><ul>"
        + card("rigid", "$19.99", "<p class=card__brand>Acme</p>")
        + card("floor", "<del>$400</del> $350")
        + card("table", "120 €", "<p class=card__brand>Bolt</p>")
        + "</ul>"
    )

    assert read(body) == [
        RecordList(
            columns=("title", "url", "image", "price", "old price", "brand"),
            rows=(
                ("rigid loom", f"{SITE}/rigid", f"{SITE}/rigid.png", "$19.99", "", "Acme"),
                ("floor loom", f"{SITE}/floor", f"{SITE}/floor.png", "$350", "$400", ""),
                ("table loom", f"{SITE}/table", f"{SITE}/table.png", "120 €", "", "Bolt"),
            ),
            caption="All looms",
        )
    ]


def test_posts_of_a_thread_have_authors_dates_and_texts() -> None:
    texts = [f"{word} " * 30 for word in ("warp", "weft", "reed")]
    posts = "".join(
        f"<article class='post' id=p{number}><div class=user><a class=username href=/u/{number}>User {number}</a>"
        f"<h5 class=userTitle>Member</h5></div><a href=/t#p{number}><time datetime=2024-05-0{number}>x</time></a>"
        f"<div class=post-content><p>{text}</p></div><a href=/reply>Reply</a></article>"
        for number, text in enumerate(texts, 1)
    )

    (found,) = read(f"<h1>A thread</h1><div>{posts}</div>")

    assert found.columns[:4] == ("url", "author", "date", "text")
    assert [row[:4] for row in found.rows] == [
        (f"{SITE}/t#p{number}", f"User {number}", f"2024-05-0{number}", text.strip())
        for number, text in enumerate(texts, 1)
    ]


def test_an_author_is_known_by_the_page_that_the_name_leads_to() -> None:
    posts = "".join(
        f"<div class=post><div itemprop=author><a href=/members/{number}>{name[0]}</a><b class=card-name><a"
        f" href=/members/{number}>{name}</a></b><i>12 posts</i></div><p class=post-body>{'Words. ' * 20}{number}</p>"
        f"<a href=/likes/{number}>Someone and {number} others liked it</a></div>"
        for number, name in enumerate(("Ada", "Bo", "Cid"))
    )

    (found,) = read(f"<main>{posts}</main>")

    place = found.columns.index("author")
    assert "title" not in found.columns
    assert [row[place] for row in found.rows] == ["Ada", "Bo", "Cid"]


def test_without_telling_classes_texts_tell_what_they_are() -> None:
    rows = "".join(
        f"<div><div><a href=/job/{name}>Weaver in {name}</a></div><div>$3{number},000</div>"
        f"<div>{number} days ago</div></div>"
        for number, name in enumerate(("Gent", "Lyon", "Oslo"), 2)
    )

    (found,) = read(f"<section>{rows}</section>")

    assert found == RecordList(
        columns=("title", "url", "price", "date"),
        rows=tuple(
            (f"Weaver in {name}", f"{SITE}/job/{name}", f"$3{number},000", f"{number} days ago")
            for number, name in enumerate(("Gent", "Lyon", "Oslo"), 2)
        ),
    )


def test_cards_in_rows_of_a_grid_are_one_list() -> None:
    cards = [card(name, "$5") for name in ("a", "b", "c", "d", "e", "f")]
    body = f"<div class=grid><div class=row>{''.join(cards[:3])}</div><div class=row>{''.join(cards[3:])}</div></div>"

    assert [len(found.rows) for found in read(body)] == [6]


def test_cards_in_sections_are_lists_of_their_own() -> None:
    cards = "".join(card(name, "$5") for name in ("a", "b", "c", "d"))
    body = "".join(
        f"<section class=part><h2>{name}</h2><ul>{cards}</ul></section>" for name in ("Looms", "Reeds", "Pins")
    )

    found = read(f"<div>{body}</div>")

    assert [(one.caption, len(one.rows)) for one in found] == [("Looms", 4), ("Reeds", 4), ("Pins", 4)]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("<p>One paragraph.</p>" * 9, id="paragraphs"),
        pytest.param("<ul>" + "<li>Some words without a link in an item</li>" * 9 + "</ul>", id="items"),
        pytest.param("<nav><ul>" + "<li><a href=/x>Somewhere far away in it</a></li>" * 9 + "</ul></nav>", id="menu"),
        pytest.param("<ul>" + "".join(f"<li><a href=/{n}>{n}</a></li>" for n in range(30)) + "</ul>", id="short links"),
        pytest.param("<footer>" + "<div><h4>Help</h4><a href=/x>Contact us</a></div>" * 4 + "</footer>", id="foot"),
        pytest.param(
            "<table><tr><th>Loom<th>Since" + "<tr><td><a href=/x>A loom</a><td><time>2019</time>" * 5 + "</table>",
            id="a table",
        ),
        pytest.param(card("a", "$5") + card("b", "$5"), id="too few"),
    ],
)
def test_what_is_no_list_of_records(body: str) -> None:
    assert read(body) == []


def test_a_list_outside_of_the_main_content_is_left_out() -> None:
    cards = "".join(card(name, "$5") for name in ("a", "b", "c"))

    assert read(f"<main><p>Words</p></main><aside><ul>{cards}</ul></aside>", "main") == []


def test_the_kind_of_page_decides_where_records_are_looked_for() -> None:
    cards = "".join(card(name, "$5") for name in ("a", "b", "c", "d"))
    page = parsed(f"<main><p>Words</p></main><div><ul>{cards}</ul></div>")
    content = whole(page, "main")

    listing = record_lists(page, structs.replace(content, page_types={PageType.COLLECTION: 0.9}))
    article = record_lists(page, structs.replace(whole(page), page_types={PageType.ARTICLE: 1.0}))

    assert [len(found.rows) for found in listing] == [4]
    assert article == []


def test_what_nobody_sees_is_in_no_row() -> None:
    cards = "".join(card(name, "$5", "<p class=brand hidden>secret</p>") for name in ("a", "b", "c"))

    assert "secret" not in repr(read(f"<ul>{cards}</ul>"))


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("<ul>" + card("a", "$5") * 5_000 + "</ul>", id="cards"),
        pytest.param("<ul class=a>" + card("a", "$5") * 3 + "</ul>", id="few"),
        pytest.param(f"<ul>{card('a', '$5', '<p class=x><a href=/y>y</a></p>' * 5_000) * 5}</ul>", id="wide cards"),
        pytest.param("".join(f"<section><ul>{card('a', '$5') * 4}</ul></section>" for _ in range(500)), id="lists"),
        pytest.param("<div class=a><a href=/x>x</a>" * 3_000, id="deep"),
        pytest.param(
            "<div class=a><a href=/x>words of a link</a></div>" * 2 + "<div class=a>" * 3_000, id="deep groups"
        ),
        pytest.param("<div class=a><a href=/x>long words of a link</a></div><div class=a>" * 3_000, id="nested groups"),
        pytest.param("".join(f"<div class=c{'x' * n}><a href=/x>words</a></div>" for n in range(1_000)), id="classes"),
    ],
)
@pytest.mark.slow
def test_hostile_lists_are_bounded(body: str) -> None:
    found = read(body)

    assert len(found) <= MAX_LISTS
    assert all(len(one.rows) <= MAX_ROWS and len(one.columns) <= MAX_COLUMNS for one in found)
