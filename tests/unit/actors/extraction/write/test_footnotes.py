"""Marks of footnotes and their texts find each other, wherever the page puts the texts."""

from __future__ import annotations

import pytest

from tests.unit.actors.extraction.write.pages import URL, markdown

EXPECTED = "a[^1] b\n\n[^1]: the note"


@pytest.mark.parametrize(
    "body",
    [
        "<p>a<sup><a href='#fn1'>1</a></sup> b</p><ol><li id=fn1>the note <a href='#r1'>↩</a></ol>",
        "<p>a<sup id=r1><a href='#fn:1'>[1]</a></sup> b</p><p id='fn:1'>[1] the note</p>",
        "<p>a<a href='#_ftn1'><sup>1</sup></a> b</p><p><a name=_ftn1 href='#_ftnref1'>[1]</a> the note</p>",
        "<p>a<a role=doc-noteref href='#n1'>1</a> b</p><aside id=n1>the note <a role=doc-backlink>x</a></aside>",
        "<p>a<a class=footnote id=D1 href='#F1'>1</a> b</p><h5><a id=F1 href='#D1'>(1)</a></h5><p>the note</p>",
        "<p>a<a class=reference href='#i1'>[1]</a> b</p><dl><dt id=i1>[<a href='#r1'>1</a>]</dt><dd>the note</dl>",
        (
            "<p>a<sup class=reference><a href='#cite_note-x-1'>[1]</a></sup> b</p><ol><li id=cite_note-x-1>"
            "<span class=mw-cite-backlink><b><a href='#cite_ref-x'>^</a></b></span> <span>the note</span></ol>"
        ),
        "<p>a<sup><a data-type=noteref href='c#n'>1</a></sup> b</p><p id=n><sup><a href='#'>1</a></sup> the note</p>",
    ],
)
def test_a_mark_and_its_note_are_written_as_a_footnote(body: str) -> None:
    assert markdown(body) == EXPECTED


def test_a_note_comes_with_its_mark_even_where_it_was_not_kept() -> None:
    body = "<p>a<sup><a href='#fn1'>1</a></sup> b</p><footer><p id=fn1>the note</p><p>c</p></footer>"

    assert markdown(body, "the note", "c") == EXPECTED


def test_what_nobody_sees_of_a_note_is_left_out() -> None:
    body = "<p>a<sup><a href='#fn1'>1</a></sup> b</p><p id=fn1>the note <span style='display:none'>no</span></p>"

    assert markdown(body) == EXPECTED


def test_notes_that_share_a_block_are_parted() -> None:
    body = (
        "<p>a<sup><a href='#n1'>1</a></sup> b<sup><a href='#n2'>2</a></sup></p>"
        "<p><a name=n1>1</a> one<br><br><a name=n2>2</a> two</p>"
    )

    assert markdown(body) == "a[^1] b[^2]\n\n[^1]: one\n\n[^2]: two"


def test_marks_that_do_not_tell_notes_apart_are_numbered() -> None:
    body = "<p>a<sup><a href='#n1'>*</a></sup> b<sup><a href='#n2'>*</a></sup></p><p id=n1>one</p><p id=n2>two</p>"

    assert markdown(body) == "a[^1] b[^2]\n\n[^1]: one\n\n[^2]: two"


def test_a_note_of_two_paragraphs_is_one() -> None:
    body = "<p>a<sup><a href='#n1'>1</a></sup></p><div id=n1><p>one</p><p>two</p></div>"

    assert markdown(body) == "a[^1]\n\n[^1]: one\n    \n    two"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<p>a<sup>2</sup></p>", "a\u00b2"),
        ("<p>a<sup><a href='#gone'>1</a></sup></p>", "a[1](https://example.org/a/b#gone)"),
        ("<ul><li><a href='#s1'>1</a></ul><h2 id=s1>b</h2>", "- [1](https://example.org/a/b#s1)\n\n## b"),
        ("<p><a href='#N'>N</a></p><h2 id=N>N</h2><p>no", f"[N]({URL}#N)\n\n## N\n\nno"),
        (
            "<p>a <a class=reference href='#refid'>refid</a></p><dl><dt id=refid>x<dd>b</dl>",
            f"a [refid]({URL}#refid)\n\nx\n: b",
        ),
        (
            "<p>see <a href='#news'>2</a></p><section id=news><h2>2 News</h2><p>b</section>",
            f"see [2]({URL}#news)\n\n## 2 News\n\nb",
        ),
        ("<p>see <a href='#note'>2</a></p><h2 id=note>Notes</h2><p>b", f"see [2]({URL}#note)\n\n## Notes\n\nb"),
        ("<p>a<sup><a href='#n'>1</a></sup></p><div hidden><p id=n>no</p></div>", "a[1](https://example.org/a/b#n)"),
        ("<p>a<sup><a href='#n'>1</a></sup></p><p id=n>javascript:x</p>", "a[^1]\n\n[^1]: \u21a9 javascript:x"),
        ("<p>a<sup><a href='#n'>1</a></sup>(javascript:x)</p><p id=n>b</p>", "a[^1] (javascript:x)\n\n[^1]: b"),
    ],
)
def test_other_figures_stay_as_they_are(body: str, expected: str) -> None:
    assert markdown(body) == expected


def test_a_note_that_another_note_alone_refers_to_does_no_harm() -> None:
    body = (
        "<p>a<sup><a href='#n1'>1</a></sup> b</p>"
        "<ol><li id=n1>one<sup><a href='#n2'>[2]</a></sup></li><li id=n2>two</li></ol>"
    )

    assert markdown(body) == "a[^1] b\n\n1. two\n\n[^1]: one"
