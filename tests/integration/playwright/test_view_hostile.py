"""Pages that mean harm: looking at them takes bounded time, gives a bounded answer, and leaves no trace."""

# ruff: noqa: E501 - markup and scripts stand as a page has them

from __future__ import annotations

from collections.abc import Generator

import anyio
import msgspec
import pytest

from actors.fetchers.playwright import view
from actors.fetchers.playwright.tab import Tab
from protocol.browsers.operations import GetPageInfo
from protocol.browsers.results import PageInfo
from tests.integration.playwright.viewing import Viewing, beside, viewing
from tests.support.scale import one_in

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.full]

MAX_BYTES = 20_000
BOUND_S = 90.0
"""What a look may take on a machine that has much else to do."""


@pytest.fixture(scope="module")
def browser() -> Generator[Viewing]:
    with viewing() as running:
        yield running


@pytest.fixture
def web(browser: Viewing) -> Generator[Viewing]:
    """Open a tab in a context of its own: what a page does there harms no other."""
    with beside(browser) as running:
        yield running


HOSTILE = {
    "many elements": "document.body.innerHTML += '<div><a href=/x>Link</a><button>Do</button></div>'.repeat(34000)",
    "deep shadow": "let root = document.body; for (let i = 0; i < 300; i++) { const e = root.appendChild(document.createElement('div')); root = e.attachShadow({mode: 'open'}); root.innerHTML = '<i></i>'; } root.innerHTML = '<button>Deep</button>'",
    "deep nesting": "let e = document.body; for (let i = 0; i < 400; i++) e = e.appendChild(document.createElement('div')); e.innerHTML = '<button>Deep</button>'",
    "huge text": "document.body.insertAdjacentHTML('beforeend', '<button>' + 'word '.repeat(2e6) + '</button>')",
    "huge values": "for (let i = 0; i < 30; i++) { document.body.insertAdjacentHTML('beforeend', '<textarea aria-label=T' + i + '></textarea>'); document.body.lastChild.value = 'v '.repeat(1e5); }",
    "huge attributes": "for (let i = 0; i < 60; i++) { const a = document.createElement('a'); a.href = '/?' + 'x'.repeat(1e5); a.title = 't'.repeat(1e5); a.id = 'i'.repeat(1e5); a.textContent = 'Go ' + i; document.body.append(a); }",
    "many options": "document.body.insertAdjacentHTML('beforeend', '<select>' + '<option>One'.repeat(1e5) + '</select>')",
    "one row": "document.body.insertAdjacentHTML('beforeend', '<ul>' + '<li><button>Same</button></li>'.repeat(3000) + '</ul>')",
    "labels in circles": "document.body.insertAdjacentHTML('beforeend', '<button id=c1 aria-labelledby=\"c1 c2\">A</button><button id=c2 aria-labelledby=\"c2 c1\">B</button>')",
    "many frames": "for (let i = 0; i < 60; i++) { const f = document.createElement('iframe'); f.srcdoc = '<button>In</button>'; document.body.append(f); }",
    "throwing getters": "for (const name of ['localName', 'children', 'childNodes', 'parentNode', 'shadowRoot', 'textContent', 'id']) Object.defineProperty(Element.prototype, name, { get() { throw new Error(name); } })",
    "polluted globals": "Array.prototype.push = Map.prototype.get = Object.assign = JSON.stringify = Element.prototype.getAttribute = String.prototype.replace = () => { throw new Error('no'); }; Object.prototype.get = 1; Array.prototype[Symbol.iterator] = () => { throw new Error('no'); }",
    "clobbered form": "document.body.insertAdjacentHTML('beforeend', '<form>' + ['localName', 'parentNode', 'children', 'childNodes', 'shadowRoot', 'nodeType', 'getAttribute', 'matches', 'checkVisibility', 'getBoundingClientRect', 'attributes', 'previousElementSibling', 'nextElementSibling', 'querySelector', 'inert', 'isContentEditable', 'assignedSlot', 'tagName', 'id'].map((n) => `<input name=${n} aria-label=${n}>`).join('') + '</form>')",
    "clobbered document": "document.body.insertAdjacentHTML('beforeend', ['documentElement', 'body', 'querySelector', 'querySelectorAll', 'elementFromPoint', 'readyState', 'title', 'designMode', 'getElementsByTagName', 'children', 'childNodes'].map((n) => `<img name=${n}><form name=${n}></form>`).join(''))",
    "odd names": "const d = document.createElement('x-y:z'); d.setAttribute('role', '  BUTTON  x'); d.tabIndex = 0; d.textContent = '\\ud800 \\u202e odd'; document.body.append(d)",
    "moving": "setInterval(() => { document.body.append(document.createElement('hr')); document.querySelector('hr').remove(); }, 1)",
}


@pytest.mark.parametrize("name", one_in(4, [*HOSTILE][1:] + [*HOSTILE][:1]))
def test_no_page_makes_a_look_endless_or_its_answer_large(web: Viewing, name: str) -> None:
    web.show("<title>Page</title><button>First</button>")
    web.run(f"{{ {HOSTILE[name]} }} 0")
    info = web.do(in_time)
    hidden = web.info(visible_only=False)
    words = web.content()

    assert info.elements
    for told in (info, hidden, words):
        assert len(msgspec.json.encode(told)) <= MAX_BYTES
    assert web.find("First")[0].id == "button_first"
    web.do(located, "button_first")


async def in_time(one: Tab) -> PageInfo:

    await view.describe(one, GetPageInfo())
    with anyio.fail_after(BOUND_S):
        return await view.describe(one, GetPageInfo())


def test_the_deepest_shadow_is_seen(web: Viewing) -> None:
    web.show("<title>Page</title><button>First</button>")
    web.run(f"{{ {HOSTILE['deep shadow'].replace('300', '60')} }} 0")

    assert web.at("button_deep", "e => e.textContent") == "Deep"


def test_nothing_of_ours_is_seen_by_the_page(web: Viewing) -> None:
    web.show(
        "<title>Page</title><main><form><input aria-label=Name><input type=password></form><button>Go</button><x-s></x-s></main><script>"
        "window.before = new Set(Object.getOwnPropertyNames(window));"
        "document.querySelector('x-s').attachShadow({mode: 'open'}).innerHTML = '<button>In</button>';"
        "window.seen = []; const note = (what) => window.seen.push(what);"
        "new MutationObserver((all) => all.forEach((one) => note(one.type + one.attributeName))).observe(document, {subtree: true, childList: true, attributes: true, characterData: true});"
        "for (const name of ['querySelector', 'querySelectorAll', 'getAttribute', 'getBoundingClientRect', 'checkVisibility', 'matches']) {"
        "  const own = Element.prototype[name]; Element.prototype[name] = function (...args) { note(name); return own.apply(this, args); }; }"
        "const own = document.elementFromPoint; Document.prototype.elementFromPoint = function (...args) { note('hit'); return own.apply(this, args); };"
        "for (const name of ['focus', 'blur', 'scroll', 'keydown', 'click', 'selectionchange']) addEventListener(name, () => note(name), true);"
        "</script>"
    )
    markup = web.run("document.documentElement.outerHTML")
    web.info()
    web.find("Go")
    web.content()
    web.do(located, "button_in")

    assert web.run("seen") == []
    assert web.run("document.documentElement.outerHTML") == markup
    assert (
        web.run(
            "Object.getOwnPropertyNames(window).filter((name) => !before.has(name) && !['before', 'seen'].includes(name))"
        )
        == []
    )


async def located(one: Tab, name: str) -> None:

    assert await view.locate(one, name) is not None
