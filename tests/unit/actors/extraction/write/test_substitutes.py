"""What is played, mapped or rated among the content is written in words; what serves the site is not."""

from __future__ import annotations

import pytest

from tests.unit.actors.extraction.write.pages import markdown


@pytest.mark.parametrize(
    ("embedded", "expected"),
    [
        ("<iframe src='//play.example.net/embed/1'></iframe>", "[Embedded page](https://play.example.net/embed/1)"),
        (
            "<div><iframe src='/video/1?utm_source=a' title='To [weave](x) *well*'></iframe></div>",
            "[Video: To \\[weave\\](x) \\*well\\*](https://example.org/video/1)",
        ),
        (
            "<iframe src=about:blank data-lazy-src='https://example.net/maps/embed?pb=1'></iframe>",
            "[Map](https://example.net/maps/embed?pb=1)",
        ),
        (
            "<iframe src='https://example.net/EmbeddedPlayer/album=1'></iframe>",
            "[Player](https://example.net/EmbeddedPlayer/album=1)",
        ),
        ("<audio controls><source src=/a.mp3></audio>", "[Audio](https://example.org/a.mp3)"),
        ("<video src=/a.mp4 controls aria-label='Our video'></video>", "[Our video](https://example.org/a.mp4)"),
        ("<video src=/a.mp4 width=² height=99999999999></video>", "[Video](https://example.org/a.mp4)"),
        ("<video src=/a.mp4 autoplay muted loop></video>", ""),
        ("<video src='blob:https://example.org/1'></video>", ""),
        ("<iframe src='javascript:embed()'></iframe><iframe src='data:text/html,embed'></iframe>", ""),
        ("<iframe src='https://example.net/ads/video/1'></iframe>", ""),
        ("<iframe src='https://example.net/plugins/like.php?u=/video/'></iframe>", ""),
        ("<iframe src='https://example.net/comments'></iframe>", ""),
        ("<iframe src='/video/1' width=1 height=1></iframe>", ""),
        ("<div hidden><iframe src='/video/1'></iframe></div>", ""),
    ],
)
def test_players_and_maps_among_the_content_are_links(embedded: str, expected: str) -> None:
    assert markdown(f"<div><p>a</p>{embedded}<p>b</p></div>") == "\n\n".join(filter(None, ("a", expected, "b")))


def test_a_post_that_was_left_out_is_a_link_to_it() -> None:
    post = (
        "<blockquote class=a-tweet><p>Warp and weft</p>Ann, <a href='https://example.net/ann/1'>May 1</a></blockquote>"
    )

    left_out = markdown(f"<div><p>a</p>{post}<p>b</p></div>", "Warp and weft", "Ann, May 1")

    assert left_out == "a\n\n[Post: Warp and weft Ann, May 1](https://example.net/ann/1)\n\nb"


def test_a_player_stands_once_and_in_its_line() -> None:
    player = "<iframe src='https://example.net/video/1'></iframe>"

    assert markdown(f"<ul><li>a {player}<li>b {player}</ul>") == "- a [Video](https://example.net/video/1)\n- b"


@pytest.mark.parametrize(
    ("rating", "expected"),
    [
        ("<span role=img aria-label='Rated 4.5 out of 5 stars'><svg></svg></span>", "a ★ 4.5/5 b"),
        ("<i class=stars title='4,5/5'></i>", "a ★ 4,5/5 b"),
        ("<img class=star-icon src=/s.gif alt='4,5 von 5 Sternen'>", "a ★ 4,5/5 b"),
        ("<span title='5つ星のうち4.7'></span>", "a ★ 4.7/5 b"),
        ("<span class=stars title='4.5 out of 5'></span> 4.5", "a 4.5 b"),
        ("<span aria-label='2 of 5'></span>", "a b"),
        ("<i class=star title=1/5></i><i class=star title=2/5></i><i class=star title=3/5></i>", "a b"),
        ("<form><span class=star title='4 of 5'></span></form>", "a b"),
        ("<span hidden><i title='4 of 5 stars'></i></span>", "a b"),
    ],
)
def test_ratings_that_are_drawn_are_written(rating: str, expected: str) -> None:
    assert markdown(f"<div>a {rating} b</div>") == expected
