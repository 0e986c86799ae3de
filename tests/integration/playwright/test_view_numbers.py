"""Numbers of elements: one for good, in a tab never another's, stamped on what has it."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from actors.fetchers.playwright.tab import Tab
from protocol.faults import Code, FaultError
from tests.integration.playwright.markup import page
from tests.integration.playwright.viewing import Viewing, beside, viewing

pytestmark = [pytest.mark.browser]

STAMPS = (
    "Object.fromEntries([...document.querySelectorAll('[data-llm-id]')].map((e) => [e.textContent, e.dataset.llmId]))"
)
FORM = "<main><button>Save</button><button>Send</button><p>Text</p></main>"


@pytest.fixture(scope="module")
def browser() -> Generator[Viewing]:
    with viewing() as running:
        yield running


@pytest.fixture
def web(browser: Viewing) -> Generator[Viewing]:
    with beside(browser) as tab:
        yield tab


def stamps(web: Viewing) -> dict[str, str]:
    """Return the number that each element of these words wears."""
    web.tree()
    return {str(words): str(number) for words, number in web.run(STAMPS).items()}


def test_a_number_is_as_good_as_an_id(web: Viewing) -> None:
    web.show(FORM)
    numbers = stamps(web)

    assert numbers == {"Save": "1", "Send": "2"}
    assert web.at("2", "e => e.textContent") == "Send"


def test_no_number_comes_back_for_anything_else_in_a_tab(web: Viewing) -> None:
    web.show(FORM)
    first = stamps(web)
    web.show("<main><button>Delete</button><button>Leave</button></main>")
    second = stamps(web)

    assert not set(first.values()) & set(second.values())
    with pytest.raises(FaultError) as caught:
        web.at(first["Save"], "e => e")
    assert caught.value.fault.code is Code.ELEMENT_NOT_FOUND
    assert caught.value.fault.field == "element_id"


def test_numbers_last_when_a_page_is_loaded_again(web: Viewing) -> None:
    where = page(FORM)
    web.open(where)
    first = stamps(web)
    web.show("<main><button>Delete</button></main>")
    web.open(where)

    assert stamps(web) == first


def test_a_page_that_copies_takes_or_writes_numbers_misleads_nobody(web: Viewing) -> None:
    web.show("<main><button>Save</button><button>Send</button><a data-llm-id=1 href=/x>Other</a></main>")
    first = stamps(web)
    web.run(
        "for (const one of document.querySelectorAll('button')) {"
        "  const copy = one.cloneNode(true); copy.textContent += ' all';"
        "  one.after(copy); one.removeAttribute('data-llm-id'); }"
        "document.querySelector('a').setAttribute('data-llm-id', '2')"
    )
    second = stamps(web)

    assert len({*first.values()}) == len(first)
    assert len({*second.values()}) == len(second) == 5
    assert {words: number for words, number in second.items() if words in first} == first
    assert web.at(first["Send"], "e => e.textContent") == "Send"


def test_an_element_of_a_frame_has_the_number_of_its_frame_before_its_own(web: Viewing) -> None:
    inner = page("<button>Pay</button>")
    web.show(f"<main><button>Save</button><iframe src='{inner}' width=300 height=100></iframe></main>")
    (node,) = [one for one in web.tree().nodes if one.name == "Pay"]
    number = web.do(_number_in_frame)

    assert (node.id, node.frame) == (f"f1_{number}", 1)
    assert web.at(node.id, "e => e.textContent") == "Pay"
    with pytest.raises(FaultError):
        web.at(f"f2_{number}", "e => e")


async def _number_in_frame(tab: Tab) -> str:
    (frame,) = [one for one in tab.page.frames if one.parent_frame is not None]
    return str(await frame.evaluate("document.querySelector('button').dataset.llmId"))


def test_a_page_that_is_drawn_anew_as_it_was_has_the_hash_that_it_had(web: Viewing) -> None:
    web.show("<main><h1>Shop</h1><input aria-label=Name><button>Save</button></main>")
    first = web.tree()
    web.run("document.querySelector('main').outerHTML = document.querySelector('main').outerHTML")
    again = web.tree(known=first.hash)
    web.run("document.querySelector('input').value = 'Ann'")
    other = web.tree(known=first.hash)

    assert (again.hash, again.unchanged, again.nodes) == (first.hash, True, ())
    assert (other.unchanged, [node.value for node in other.nodes if node.role == "inp"]) == (False, ["Ann"])


def test_a_page_whose_elements_are_called_like_ours_is_read_as_any_other(web: Viewing) -> None:
    names = ("weft", "__weftView", "__weft", "chrome")
    web.show("".join(f"<form id={name}><input name=part><input name=dom></form>" for name in names) + FORM)

    assert stamps(web)["Save"]
    assert [node.name for node in web.tree().nodes if node.role == "btn"] == ["Save", "Send"]
