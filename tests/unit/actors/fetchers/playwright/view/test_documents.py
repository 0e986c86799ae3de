"""Ids are remembered beyond a document, and no more of them than fit."""

from __future__ import annotations

from actors.fetchers.playwright.view.documents import ElementListing, TabMemory


def test_what_was_noted_of_a_page_is_told_wherever_in_it_one_is() -> None:
    memory = TabMemory()
    memory.remember("https://a.example/x#top", [("button_go", {"label": "Go"})])

    assert memory.seeds("https://a.example/x#end").entries == (("button_go", {"label": "Go"}),)
    assert memory.seeds("https://a.example/y").entries == ()


def test_pages_and_ids_that_were_noted_first_go_first() -> None:
    memory = TabMemory()
    for number in range(20):
        memory.remember(f"https://a.example/{number}", [(f"button_{at}", {}) for at in range(2_000)])

    assert memory.seeds("https://a.example/0").entries == ()
    kept = [name for name, _ in memory.seeds("https://a.example/19").entries]
    assert len(kept) < 2_000
    assert kept[-1] == "button_1999"


def test_listings_have_names_that_last_while_they_are_kept() -> None:
    memory = TabMemory()
    listings = [ElementListing("p", "https://a.example/", visible_only=True, ids=(str(number),)) for number in range(6)]
    names = [memory.keep_listing(listing) for listing in listings]

    assert memory.keep_listing(listings[-1]) == names[-1]
    assert memory.listing(names[-1]) == listings[-1]
    assert memory.listing(names[0]) is None


def test_a_node_is_new_until_it_is_noted() -> None:
    memory = TabMemory()
    memory.mark_clickable("p", [1])

    assert memory.new_clickable("p", [1, 2, 2]) == (2,)
    assert memory.new_clickable("q", [1]) == (1,)
    memory.mark_clickable("q", [3])
    assert memory.new_clickable("q", [1, 3]) == (1,)


def test_a_number_with_its_frame_leads_through_the_frames_around_it() -> None:
    memory = TabMemory()
    outer = memory.number_frame(0, 7)
    inner = memory.number_frame(outer, 3)

    assert memory.number_frame(0, 7) == outer
    assert memory.id_parts("12") == ["12"]
    assert memory.id_parts(f"f{outer}_5") == ["7", "5"]
    assert memory.id_parts(f"f{inner}_5") == ["7", "3", "5"]
    assert memory.id_parts("frame_pay.button_go") == ["frame_pay", "button_go"]
    assert memory.id_parts("f9_5") == ("f9_5",)


def test_no_number_is_free_again_in_a_tab() -> None:
    memory = TabMemory()
    memory.reserve(40)
    memory.reserve(12)

    assert memory.seeds("https://a.example/").next == 40
