"""What a page said lately: also what was shown for a moment only, and whether it says that something went wrong."""

from __future__ import annotations

import json
from collections.abc import Generator

import pytest

from actors.fetchers.playwright.tab import Tab
from tests.integration.playwright.viewing import Viewing, viewing
from tests.support.scale import one_in

pytestmark = [pytest.mark.browser, pytest.mark.full]

TOAST = (
    "const t = Object.assign(document.createElement('div'), {{className: '{0}', textContent: {1}}});"
    "document.body.append(t);"
)
STAMP = "document.querySelector('button').dataset.llmId"
LOOKING_ON = (
    "new Promise((done) => { const look = () => { const stamp = document.querySelectorAll('button')[1].dataset.llmId;"
    " stamp ? done(stamp) : requestAnimationFrame(look); }; look(); })"
)
WRONG = [
    *(
        "Invalid ZIP code",
        "Die Postleitzahl ist ungültig",
        "Adresse invalide",
        "Código incorrecto",
        "Password errata: errore",
    ),
    *("Senha inválida", "Ongeldig adres", "Your message could not be sent", "无效的邮箱", "Saving failed"),
]
WELL = [
    *(
        "Saved",
        "Gespeichert",
        "Message envoyé",
        "Guardado con éxito",
        "Salvato",
        "Obrigado",
        "Opgeslagen",
        "保存しました",
    ),
    *("Uploaded without errors", "Thank you for your order"),
]


@pytest.fixture(scope="module")
def web() -> Generator[Viewing]:
    with viewing() as running:
        yield running


def events(web: Viewing) -> tuple[list[str], bool, bool]:
    """Return what the page says now, without how long ago, and whether that is of errors or success."""
    tree = web.tree()
    return [line.partition("s ago] ")[2] for line in tree.recent_events], tree.has_errors, tree.has_success


def test_a_toast_that_is_gone_at_once_was_heard(web: Viewing) -> None:
    web.show("<main><button>Save</button></main>")
    web.tree()
    web.run(
        "new Promise((done) => {"
        + TOAST.format("toast", "'Shipping saved'")
        + "setTimeout(() => { t.remove(); done(); }, 60); })"
    )

    assert web.content().sections == ()
    (said, *gone), *tones = events(web)
    assert (said, tones) == ("Success: 'Shipping saved'", [False, True])
    assert gone in ([], ["Removed: 'Shipping saved'"])  # a page that takes long is let alone for a while


def test_messages_are_told_apart_in_the_languages_of_sites(web: Viewing) -> None:
    web.show("<main><button>Save</button></main>")
    told: dict[str, str] = {}
    for batch in (WRONG, WELL):
        web.tree()
        web.run("".join("{" + TOAST.format("note", json.dumps(words)) + "}" for words in batch))
        told |= {line.partition(": ")[2].strip("'"): line.partition(": ")[0] for line in events(web)[0]}

    assert told == {**dict.fromkeys(WRONG, "Error"), **dict.fromkeys(WELL, "Success")}


@pytest.mark.parametrize(
    ("markup", "wrong", "well"),
    one_in(
        3,
        [
            (
                "<p>Ordinary words about the success of errors in history and what else there is to be said of them</p>"
                * 3,
                False,
                False,
            ),
            ("<label>Mail <input aria-invalid=true></label>", True, False),
            ("<div role=alert>Your card was declined</div>", True, False),
            ("<div role=alert hidden>Your card was declined</div>", False, False),
            ("<div class='alert alert-success'>Well then</div>", False, True),
            ("<div role=status>3 results</div>", False, False),
            ("<p class=help>A password must have eight letters, and a name is required</p>", False, False),
            ("<ul><li class=message>Your payment failed</li><li class=message>Thanks, sent</li></ul>", False, False),
            ("<span class='field-error'>A name is required</span>", True, False),
        ],
    ),
    ids=["prose", "invalid", "alert", "hidden", "styled", "status", "help", "mails", "required"],
)
def test_what_stands_on_a_page_says_whether_something_went_wrong(
    web: Viewing, markup: str, *, wrong: bool, well: bool
) -> None:
    web.show(f"<main>{markup}</main>")
    web.tree()

    assert events(web)[1:] == (wrong, well)


def test_what_ticks_is_one_event(web: Viewing) -> None:
    web.show("<main><button>Save</button><p>12:00:00</p></main>")
    web.tree()
    for second in range(3):
        web.run(f"document.querySelector('p').textContent = '12:00:0{second + 1}'")

    assert events(web)[0] == ["Changed: '12:00:03'"]


def test_what_comes_has_its_number_before_anybody_asks(web: Viewing) -> None:
    web.show("<main><button>Save</button></main>")
    web.tree()
    web.run("document.querySelector('main').append(document.querySelector('button').cloneNode())")
    web.run("document.querySelectorAll('button')[1].textContent = 'Go'")
    number = web.run(LOOKING_ON)

    assert web.at(number, "e => e.textContent") == "Go"


def test_a_page_that_never_stops_changing_is_still_read(web: Viewing) -> None:
    web.show("<main><button>Save</button><p>0</p><i></i></main>")
    before = web.labels()
    web.tree()
    number = web.run(STAMP)
    web.run(
        "setInterval(() => { const i = document.querySelector('i'); for (let n = 0; n < 2000; n++) {"
        " i.className = 'n' + n; i.textContent = n; i.removeAttribute('data-llm-id'); } }, 5);"
        "setInterval(() => document.querySelector('button').removeAttribute('data-llm-id'), 5)"
    )

    assert web.labels() == before
    assert web.at(number, "e => e.textContent") == "Save"


def test_a_message_of_the_next_page_is_heard_though_it_is_gone_when_one_looks(web: Viewing) -> None:
    web.tree()
    web.show(
        "<main><button>Save</button><div class=toast>Order placed</div><p>Much else</p></main>"
        "<script>setTimeout(() => document.querySelector('.toast').remove(), 30)</script>"
    )

    assert events(web) == (["Success: 'Order placed'", "Removed: 'Order placed'"], False, True)


def test_controls_and_lists_that_come_say_nothing_of_success(web: Viewing) -> None:
    web.show("<main><button>Save</button></main>")
    web.tree()
    web.run(
        "document.querySelector('main').insertAdjacentHTML('beforeend',"
        " '<button>Try again</button><ul><li>Sent</li><li>Failed</li></ul><p>Please choose a colour</p>')"
    )

    assert events(web)[1:] == (False, False)


MOVING = (
    "<main><button id=meant>Save</button><button id=other>Delete</button><label>All <input type=checkbox></label>"
    "<div id=host></div></main>"
    "<script>host.attachShadow({mode: 'closed'}).innerHTML = '<button>Inside</button>';</script>"
)


def test_what_a_click_reaches_is_seen_whatever_was_meant(web: Viewing) -> None:
    web.show(MOVING)
    ids = {node.name: node.id for node in web.tree().nodes}
    spots = {node.name: node.centre for node in web.tree().nodes}

    web.run("other.click()")  # by a script
    assert web.tree().inputs == ()
    for name in ("Save", "All", "Inside"):
        web.do(_clicked, spots[name])
        last = [one.ids for one in web.tree().inputs if one.kind in {"pointerdown", "click"}]
        assert any(ids[name] in reached for reached in last[-4:]), name
        assert not any(ids["Delete"] in reached for reached in last), name


def test_the_words_that_are_selected_are_told_and_no_secret(web: Viewing) -> None:
    web.show("<main><p>Two words</p><input type=password value=hidden></main>")
    web.tree()
    web.run("getSelection().selectAllChildren(document.querySelector('p'))")
    said = web.tree().selection
    web.run("document.querySelector('input').select()")

    assert (said, web.tree().selection) == ("Two words", "")


async def _clicked(tab: Tab, spot: tuple[float, float] | None) -> None:
    assert spot is not None
    await tab.page.mouse.click(*spot)
