"""Finding elements by words, reading what a page says, what it is for, and what changed."""

# ruff: noqa: E501 - markup and scripts stand as a page has them

from __future__ import annotations

from collections.abc import Generator

import msgspec
import pytest

from actors.fetchers.playwright import view
from protocol.faults import Code, FaultError
from tests.integration.playwright.viewing import Viewing, viewing
from tests.support.scale import first

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.full]

PROSE = "The weaver lays the warp first, thread beside thread, and only then throws the shuttle from side to side. " * 4


@pytest.fixture(scope="module")
def web() -> Generator[Viewing]:
    with viewing() as running:
        yield running


PAGE = (
    "<title>Shop</title><nav aria-label=Top><a href=/>Home</a><a href=/cart>Basket</a></nav><main><h1>Shop</h1>"
    "<form role=search><input type=search name=q placeholder='Search the shop'><button>Find</button></form>"
    "<p style='height:2000px'></p><button>Add to basket</button><button data-testid=wish-list>♡</button><form><input type=email name=mail>"
    "<button>Subscribe to our newsletter</button></form></main>"
)


@pytest.mark.parametrize(
    ("query", "name", "score"),
    [
        ("button_add_to_basket", "button_add_to_basket", 1.0),
        ("Add to basket", "button_add_to_basket", 0.9),
        ("add to BASKET button", "button_add_to_basket", 0.9),
        ("newsletter", "button_subscribe_to_our_newsletter", 0.8),
        ("to our news", "button_subscribe_to_our_newsletter", 0.6),
        ("wish list", "button_wish_list", 0.8),
        ("cart", "link_basket", 0.5),
        ("q", "input_search_the_shop", 0.5),
        ("please open the basket for me", "link_basket", 0.4),
        ("link", "link_home", 0.8),
        ("a textbox", "input_search_the_shop", 0.3),
    ],
)
def test_elements_are_found_by_what_they_say_or_are(web: Viewing, query: str, name: str, score: float) -> None:
    web.show(PAGE)
    best = web.find(query)[0]

    assert (best.id, best.score) == (name, score)
    assert best.match_reason


@pytest.mark.parametrize(
    ("query", "name"),
    [("newslettr subscribe", "button_subscribe_to_our_newsletter"), ("serch shop", "input_search_the_shop")],
)
def test_words_that_are_nearly_right_help_a_little(web: Viewing, query: str, name: str) -> None:
    web.show(PAGE)
    best = web.find(query)[0]

    assert best.id == name
    assert 0 < best.score < 0.4


def test_nothing_is_found_where_nothing_fits_and_five_at_most(web: Viewing) -> None:
    web.show("<button>Go</button>" * 9)

    assert web.find("zebra crossing") == ()
    assert len(web.find("go")) == 5


def test_a_listing_goes_on_while_the_page_stands_and_no_longer(web: Viewing) -> None:
    web.show(
        "<main></main><script>for (let i = 0; i < 120; i++) document.querySelector('main').insertAdjacentHTML('beforeend', `<button>Do ${i}</button>`)</script>"
    )
    first = web.info()
    web.run(
        "document.querySelector('main').prepend(Object.assign(document.createElement('button'), {textContent: 'New'})); document.querySelectorAll('button')[35].remove()"
    )
    second = web.info(cursor=first.next_cursor, max_elements=5)

    assert [element.id for element in second.elements] == [f"button_do_{number}" for number in (30, 31, 32, 33, 35)]
    web.run("history.pushState(null, '', '/elsewhere')")
    for cursor in (first.next_cursor, "nonsense", "a.b", f"{str(first.next_cursor).partition('.')[0]}.99999"):
        with pytest.raises(FaultError) as caught:
            web.info(cursor=cursor)
        assert (caught.value.fault.code, caught.value.fault.field) == (Code.VALIDATION_INVALID_REQUEST, "cursor")


def test_a_cursor_of_a_page_that_was_left_is_refused(web: Viewing) -> None:
    web.show("<button>Go</button>" * 40)
    cursor = web.info(max_elements=5).next_cursor
    web.show("<button>Go</button>" * 41)
    with pytest.raises(FaultError) as caught:
        web.info(cursor=cursor)

    assert caught.value.fault.field == "cursor"


TYPES = {
    "login": "<title>Welcome</title><form><input type=email><input type=password><button>Log in</button></form>",
    "registration": "<title>Sign up</title><form><input name=user><input type=password><input type=password><button>Create account</button></form>",
    "search": "<title>Find it</title><form role=search><input type=search name=q><button>Search</button></form>",
    "list": "<title>Posts</title><main><ul>"
    + "".join(f"<li><a href=/p{n}>Post {n}</a></li>" for n in range(20))
    + "</ul></main>",
    "product": "<title>Loom</title><main><h1>Loom</h1><p>$ 499</p><select aria-label=Size><option>S</select><button>Add to cart</button></main>",
    "checkout": "<title>Pay</title><form><input autocomplete=cc-number><input autocomplete=cc-csc><button>Pay now</button></form>",
    "form": "<title>Apply</title><form><input name=first><input name=last><input name=town><textarea name=why></textarea><button>Send</button></form>",
    "article": f"<title>On looms</title><article><h1>On looms</h1><p>{PROSE}</p><p>{PROSE}</p><p>{PROSE}</p><p>{PROSE}</p></article>",
    "dashboard": "<title>Dashboard</title><main><h1>Overview</h1><a href=/a>A</a></main>",
    "media": "<title>Film</title><video controls style='width:800px;height:500px'></video>",
    "error": "<title>404 Not Found</title><h1>Not found</h1><a href=/>Home</a>",
    "other": "<title>Hm</title><button>Go</button>",
}


@pytest.mark.parametrize("name", TYPES)
def test_a_page_is_told_by_what_it_is_for(web: Viewing, name: str) -> None:
    web.show(TYPES[name])
    page = web.info().page

    assert page.type.value == name
    assert page.summary.endswith(".")


def test_results_of_a_search_are_told_by_the_address(web: Viewing) -> None:
    web.show(TYPES["list"], q="looms")

    assert web.info().page.type.value == "search_results"


def test_a_page_that_the_site_calls_an_error_is_one(web: Viewing) -> None:
    web.show("<title>Oh</title><a href=/>Home</a>", status=503)

    assert web.info().page.type.value == "error"


ARTICLE = (
    "<html lang=en><title>On looms</title><meta name=description content='About looms'><meta name=author content=Ada>"
    "<nav><a href=/>Home</a></nav><main><article><h1>On looms</h1><p>"
    + PROSE
    + "</p><h2>The warp</h2><p>The warp is <b>tight</b>.</p>"
    "<ul><li>One</li><li>Two</li></ul><p hidden>secret words</p><p style='display:none'>more secret words</p><p aria-hidden=true>unread</p>"
    "<img src=/loom.png alt='A loom' width=300 height=200><p>See <a href='/more?token=abc'>more</a>.</p></article></main><footer><p>Imprint and such</p></footer>"
)


def test_the_words_of_a_page_come_in_sections(web: Viewing) -> None:
    web.show(ARTICLE)
    words = web.content()
    texts = [section.text for section in words.sections]

    assert words.title == "On looms"
    assert (
        texts[1:4] == ["On looms", PROSE.strip()[:499].strip() + ("…" if len(PROSE.strip()) > 500 else ""), "The warp"]
        or texts[1] == "On looms"
    )
    assert "The warp is tight." in texts
    assert not [text for text in texts if "secret" in text or "unread" in text]
    assert next(one for one in words.sections if one.text == "The warp is tight.").heading == "The warp"
    weight = {section.text: section.attention for section in words.sections}
    assert weight["On looms"] > weight["The warp is tight."] > weight["Imprint and such"]
    assert [(link.text, link.url.partition("/m")[2]) for link in words.links if link.text == "more"] == [
        ("more", "ore?token=[redacted]")
    ]
    assert [image.alt for image in words.images] == ["A loom"]
    assert words.metadata["description"] == "About looms"
    assert words.metadata["language"] == "en"
    assert not words.truncated


@pytest.mark.parametrize("most", [50, 300, 1_000, 8_000, 50_000])
def test_the_length_bounds_the_whole(web: Viewing, most: int) -> None:
    web.show(
        "<main></main><script>document.querySelector('main').innerHTML = Array.from({length: 200}, (_, i) => `<h2>Part ${i}</h2><p>"
        + PROSE
        + "</p><a href=/x${i}>Link ${i}</a>`).join('')</script>"
    )
    words = web.content(max_length=most)

    size = sum(len(one.text) for one in words.sections) + sum(len(one.text + one.url) for one in words.links)
    assert most * 0.5 < size <= most or most > 25_000
    assert len(words.sections) <= 50
    assert all(len(one.text) <= 500 for one in words.sections)
    assert words.truncated
    assert len(msgspec.json.encode(words)) <= max(20_000, 2 * most)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("1", "Nothing has changed."),
        ("document.querySelector('p').textContent = 'Then'", "new words: “Then”."),
        ("document.querySelector('s').textContent = 'Unseen'", "Words of the page changed, nothing to act on."),
        (
            "new Promise((done) => { const told = document.querySelector('output'); told.textContent = 'Copied'; setTimeout(() => { told.textContent = ''; done(); }, 60); })",
            "a notice said “Copied”.",
        ),
        (
            "document.querySelector('form').requestSubmit()",
            "the browser does not accept the field “Day”: “Please fill out this field.”.",
        ),
        ("document.querySelector('output').textContent = 'Saved'", "a notice says “Saved”."),
        (
            "document.querySelector('main').insertAdjacentHTML('beforeend', '<button>New</button>')",
            "1 element came (“New”).",
        ),
        ("document.querySelector('a').remove()", "1 element went (“Home”)."),
        ("document.querySelector('button').textContent = 'Clicked'", "1 element says something else now (“Clicked”)."),
        ("document.querySelector('input').value = 'Ada'", "1 element changed its state (“Name”)."),
        ("document.title = 'New title'", "the title is now “New title”."),
        ("history.pushState(null, '', '/next?token=abc')", "the page is now"),
        ("document.querySelector('dialog').showModal()", "a dialog opened"),
    ],
)
def test_what_changed_is_said_in_a_sentence(web: Viewing, script: str, said: str) -> None:
    web.show(
        "<title>T</title><main><a href=/>Home</a><button>Click</button><input aria-label=Name><p>Now</p><s hidden></s><output role=status></output><form><input required aria-label=Day></form><dialog><p>Wait</p></dialog></main>"
    )
    before = web.do(view.outline)
    web.run(script)
    sentence = view.difference(before, web.do(view.outline))

    assert sentence.startswith(said)
    assert "abc" not in sentence
    assert len(sentence) <= 401


@pytest.mark.parametrize(
    ("path", "words"),
    first(
        2,
        [
            ("/apps/elements/", "8 swatches were cut from the cloth."),
            ("/apps/elements/", "Harbour grey"),
            ("/apps/lit-list/", "The counter closes when the light goes."),
            ("/apps/frames/", "From the great hall one looks through two windows:"),
            ("/apps/frames/", "Six vats stand here in a row"),
        ],
    ),
)
def test_words_in_components_and_frames_are_read(web: Viewing, path: str, words: str) -> None:
    web.open(path)

    assert words in " ".join(section.text for section in web.content(max_length=50_000).sections)


def test_what_a_component_is_given_to_say_is_its_name(web: Viewing) -> None:
    web.show(
        "<x-b>Buy <b>now</b></x-b><script>customElements.define('x-b', class extends HTMLElement { constructor() { super();"
        "this.attachShadow({mode: 'open'}).innerHTML = '<button><slot></slot></button>' } })</script>"
    )

    assert web.labels() == {"button_buy_now": "Buy now"}
