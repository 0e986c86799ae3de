"""Which blocks are a banner that asks for consent."""

from __future__ import annotations

import pytest

from actors.extraction.decide.block_arrays import BlockArrays
from actors.extraction.decide.blocks import blocks
from actors.extraction.decide.consent import consent_banners
from actors.extraction.parse import tree

STORY = f"<main><h1>A story</h1><p>{'It goes on and on. ' * 30}</p></main>"
ASKS = "<p>We and our partners use cookies to store data.</p><button>Accept all</button>"


def banners(body: str) -> list[bool]:
    arrays = BlockArrays.of(blocks(tree.read(f"<body>{body}</body>", "https://site.example/")))
    found: list[bool] = consent_banners(arrays).tolist()
    return found


@pytest.mark.parametrize("names", ["class=cookie-bar", "id=gdpr", "role=dialog", "class='c-modal is-open'"])
def test_an_element_that_is_named_so_and_asks_is_one(names: str) -> None:
    assert banners(f"{STORY}<div {names}>{ASKS}</div>") == [False, False, True, True]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(f"{STORY}<div>{ASKS}</div>", id="no name"),
        pytest.param(f"{STORY}<div role=dialog><p>The size of a shoe is measured so.</p></div>", id="another dialog"),
        pytest.param(f"<h1>Cookies</h1><div class=cookies>{ASKS * 9}</div>", id="a page about them"),
        pytest.param(f"<div class=cookie-page>{STORY}{ASKS}</div>", id="all of the page"),
    ],
)
def test_nothing_else_is(body: str) -> None:
    assert not any(banners(body))
