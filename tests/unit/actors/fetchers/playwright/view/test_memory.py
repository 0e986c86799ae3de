"""Ids are remembered beyond a document, and no more of them than fit."""

from __future__ import annotations

from actors.fetchers.playwright.view.memory import Listing, Memory


def test_what_was_noted_of_a_page_is_told_wherever_in_it_one_is() -> None:
    memory = Memory()
    memory.note("https://a.example/x#top", [("button_go", {"label": "Go"})])

    assert memory.of("https://a.example/x#end") == (("button_go", {"label": "Go"}),)
    assert memory.of("https://a.example/y") == ()


def test_pages_and_ids_that_were_noted_first_go_first() -> None:
    memory = Memory()
    for number in range(20):
        memory.note(f"https://a.example/{number}", [(f"button_{at}", {}) for at in range(2_000)])

    assert memory.of("https://a.example/0") == ()
    kept = [name for name, _ in memory.of("https://a.example/19")]
    assert len(kept) < 2_000
    assert kept[-1] == "button_1999"


def test_listings_have_names_that_last_while_they_are_kept() -> None:
    memory = Memory()
    listings = [Listing("p", "https://a.example/", visible_only=True, ids=(str(number),)) for number in range(6)]
    names = [memory.keep(listing) for listing in listings]

    assert memory.keep(listings[-1]) == names[-1]
    assert memory.listing(names[-1]) == listings[-1]
    assert memory.listing(names[0]) is None


def test_a_node_is_new_until_it_is_noted() -> None:
    memory = Memory()
    memory.note_heard("p", [1])

    assert memory.unheard("p", [1, 2, 2]) == (2,)
    assert memory.unheard("q", [1]) == (1,)
    memory.note_heard("q", [3])
    assert memory.unheard("q", [1, 3]) == (1,)
