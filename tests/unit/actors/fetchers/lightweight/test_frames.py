"""Whose document a frame holds."""

from __future__ import annotations

from actors.fetchers.lightweight.origins import Frames

HOME, AWAY = "http://www.home.example/", "http://away.example/"


def shown(frames: Frames, frame: str, url: str, *, handed: bool = True) -> None:
    """Have a frame navigate to an address, and tell whether its document was handed over."""
    if handed:
        frames.handed(url, url)
    frames.navigated({"frame": {"id": frame, "loaderId": url, "url": url}})


def frames() -> Frames:
    found = Frames("main")
    shown(found, "main", HOME)
    found.attached({"frameId": "child", "parentFrameId": "main"})
    return found


def test_a_frame_without_a_document_is_of_who_made_it() -> None:
    assert frames().document("child") == HOME


def test_what_a_page_says_of_itself_does_not_count() -> None:
    here = frames()
    shown(here, "main", AWAY, handed=False)

    assert here.document("main") == HOME


def test_a_document_counts_from_when_it_is_there() -> None:
    here = frames()
    here.handed("loader", AWAY)
    before = here.document("main")
    here.navigated({"frame": {"id": "main", "loaderId": "loader", "url": AWAY}})

    assert (before, here.document("main")) == (HOME, AWAY)


def test_an_empty_document_keeps_who_was_there() -> None:
    here = frames()
    shown(here, "child", AWAY)
    shown(here, "child", "about:blank", handed=False)

    assert here.document("child") == AWAY


def test_data_belongs_to_nobody() -> None:
    here = frames()
    shown(here, "child", "data:text/html,x", handed=False)

    assert here.origin("child") == "null"


def test_who_is_unknown_is_nobody() -> None:
    here = frames()

    assert (here.document("popup"), here.known("popup"), here.within("popup", "home.example")) == ("", False, False)


def test_a_frame_is_within_a_site_if_all_around_it_are() -> None:
    here = frames()
    here.attached({"frameId": "inner", "parentFrameId": "child"})
    shown(here, "child", AWAY)
    shown(here, "inner", HOME)

    assert here.within("main", "home.example")
    assert not here.within("child", "home.example")
    assert not here.within("inner", "home.example")


def test_frames_in_a_circle_have_an_end() -> None:
    here = Frames("main")
    here.attached({"frameId": "a", "parentFrameId": "b"})
    here.attached({"frameId": "b", "parentFrameId": "a"})

    assert (here.document("a"), here.within("a", "")) == ("", False)
