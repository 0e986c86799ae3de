"""What a page is cut into."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.extraction.decide.blocks import Block, blocks, count_words, words_in
from actors.extraction.parse import tree

URL = "https://site.example/page"
PROSE = "<p>" + "Many words of a long story follow one another here. " * 8 + "</p>"


def of(body: str) -> list[Block]:
    return blocks(tree.read(f"<html><head><title>t</title></head><body>{body}</body></html>", URL))


@pytest.mark.parametrize(
    ("body", "texts"),
    [
        pytest.param("<p>One</p><p>Two</p>", ["One", "Two"], id="paragraphs"),
        pytest.param("before<div>in</div>after", ["before", "in", "after"], id="text between boxes"),
        pytest.param("<p>a <b>bold</b> <i>word</i>\n here</p>", ["a bold word here"], id="inline elements"),
        pytest.param("<p>one<br>line<br><br>another</p>", ["one line", "another"], id="two breaks end a block"),
        pytest.param("<p>one<br> \n <br>another</p>", ["one", "another"], id="white space between breaks"),
        pytest.param("<ul><li>a<li>b</ul>", ["a", "b"], id="items"),
        pytest.param("<table><tr><td>1<td>2</table>", ["1", "2"], id="cells"),
        pytest.param("<dl><dt>Size<dd>Large</dl>", ["Size", "Large"], id="definitions"),
        pytest.param("<p>x</p><script>y</script><style>z</style><template>t</template>", ["x"], id="no text"),
        pytest.param("<svg><text>x</text></svg><select><option>y</select><textarea>z</textarea>", [], id="no prose"),
        pytest.param("<p>zero\u200bwidth\u202e and\u2066 bidi</p>", ["zerowidth and bidi"], id="shapeless characters"),
        pytest.param("<p>&nbsp;\u200b</p>", [], id="nothing but white space"),
    ],
)
def test_cuts_where_a_reader_sees_a_boundary(body: str, texts: list[str]) -> None:
    found = of(body)

    assert [block.text for block in found] == texts


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<p><span class=a>2019</span><span class=a>1h 54m</span><span class=a>R</span></p>", "2019 1h 54m R"),
        ("<a href=/x><span class=maker>Loomworks</span><span class=name>Shuttle</span></a>", "Loomworks Shuttle"),
        ("<p><span class=a>Shuttles</span><b class=b>14</b></p>", "Shuttles 14"),
        ("<p><span class=a>shut</span><span class=b>tle</span></p>", "shuttle"),
        ("<p><span class=a>i</span><span class=a>Loom</span></p>", "iLoom"),
        ("<p><span class=a>1</span><span class=a>9</span></p>", "19"),
        ("<p><span>Loom</span><span>Works</span></p>", "LoomWorks"),
        ("<p><span>SKU: A77</span><span>MFR: 20</span></p>", "SKU: A77 MFR: 20"),
        ("<p><span class=a>HALLAM</span><span class=a>Shuttle</span></p>", "HALLAM Shuttle"),
        ("<h4><b class=a><span>amount</span></b><span class=b>integer</span></h4>", "amount integer"),
        ("<h4><span class=a>shut</span><span class=b>tle</span></h4>", "shuttle"),
        ("<p><span class=a>(30)</span><span class=b>30 reviews</span></p>", "(30) 30 reviews"),
        ("<pre><span class=a>use</span><span class=a>Loom</span></pre>", "useLoom"),
    ],
)
def test_parts_of_a_card_are_words_of_their_own(body: str, text: str) -> None:
    assert [block.text for block in of(body)] == [text]


def test_tells_where_a_block_stands() -> None:
    found = of('<div class="post"><p id="x">See <a href="/y">the link</a></p></div><div><a href="/z">Home</a></div>')

    assert [(block.box.tag, block.box.key, block.box.depth) for block in found] == [("p", "x", 3), ("a", "", 3)]
    assert found[0].box.parent is not None
    assert found[0].box.parent.key == "post"
    assert [round(block.linked, 2) for block in found] == [0.67, 1.0]
    assert [[node.data for node in block.nodes] for block in found] == [["See ", "the link"], ["Home"]]


def test_marks_what_a_click_shows_and_leaves_out_what_nobody_sees() -> None:
    found = of("<details><summary>More</summary><p>folded</p></details><p hidden>unseen</p>" + PROSE * 3)

    assert [(block.text, block.collapsed) for block in found][:2] == [("More", False), ("folded", True)]
    assert "unseen" not in {block.text for block in found}


def test_opens_noscript_where_the_rest_says_hardly_anything() -> None:
    thread = f"<noscript>{PROSE * 3}</noscript>"

    assert [block.text for block in of(thread + "<p>Loading</p>")][-1] == "Loading"
    assert len(of(thread + "<p>Loading</p>")) == 4
    assert len(of(thread + PROSE * 3)) == 3


def test_takes_the_parts_that_react_sends_later() -> None:
    found = of('<div>Header</div><div hidden id="S:0"><p>Streamed</p></div>' + PROSE * 3)

    assert "Streamed" in {block.text for block in found}


@pytest.mark.parametrize(
    ("text", "count"),
    [("two words", 2), ("don't", 2), ("漢字かな", 4), ("iPhone 15を買う", 5), ("— … !", 0), ("x " * 60_000, 60_001)],
)
def test_counts_an_ideograph_as_a_word(text: str, count: int) -> None:
    assert count_words(text) == count


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("<div class=state>{}</div><p>Words</p>", 1),
        ("<pre><span>{}</span></pre><p>Words</p>", 2),
        ("<div>{} and words</div><p>Words</p>", 2),
        ('<div>[{}, {{"not": closed]</div><p>Words</p>', 2),
    ],
)
def test_data_that_a_script_reads_is_no_text_but_as_code(body: str, count: int) -> None:
    state = '{"painter": "grid", "items": [' + ", ".join(f'"item {number}"' for number in range(60)) + "]}"

    assert len(of(body.replace("{}", state, 1).replace("{{", "{"))) == count


@pytest.mark.slow
def test_walks_trees_deeper_than_calls_may_nest() -> None:
    found = of("<div><b>" * 100_000 + "deep")

    assert [block.text for block in found] == ["deep"]


@given(st.text(st.characters(max_codepoint=0x7F)))
def test_a_text_of_ascii_alone_has_the_words_that_it_has_beside_others(text: str) -> None:
    assert [*words_in(text), "\u00e9"] == words_in(f"{text} \u00e9")
