"""The main content is written as GitHub-flavoured Markdown, and nothing else of the page."""

from __future__ import annotations

import pytest

from actors.extraction.decide.content import Content
from actors.extraction.page import extract_html
from actors.extraction.parse import tree
from actors.extraction.write import ContentText, LeftOut, write_markdown
from protocol.confidence import Source, confidence
from tests.unit.actors.extraction.write.pages import URL, content, markdown, written


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<h2>One</h2><p>a <b>b</b> <em>c</em> <code>d</code></p>", "## One\n\na **b** *c* `d`"),
        ("<ul><li>a<ul><li>b</ul><li>c</ul>", "- a\n  - b\n- c"),
        ("<ul><li><input type=checkbox checked>a<li><label><input type=checkbox> b</label></ul>", "- [x] a\n- [ ] b"),
        ("<ul><li role=checkbox aria-checked=true>a<li>b <input type=checkbox></ul>", "- [x] a\n- b"),
        (
            "<p>10<sup>6</sup> H<sub>2</sub>O x<sub>i</sub> y<sup>n-1</sup> 2<sup>nd</sup></p>",
            "10⁶ H₂O x_i y^(n-1) 2nd",
        ),
        ("<ol start=3><li>a<li>b</ol>", "3. a\n4. b"),
        ("<blockquote><p>a<p>b</blockquote>", "> a\n>\n> b"),
        ("<p>a<br>b</p>", "a  \nb"),
        ("<p>a<br><br>b<br></p>", "a\n\nb"),
        ("<p><em>a<br>b</em> c</p>", "*a*  \n*b* c"),
        ("<p><em>a<br> <br>b</em></p>", "*a*\n\n*b*"),
        ("<blockquote>a</blockquote><br>b", "> a\n\nb"),
        ("<ol><li><h4><a href='#a'>¶</a></h4><dl><dt>a<dd>b</dl></ol>", "1. a\n   : b"),
        ("<dl><dt>a<dd>b<dd>c<dt>d<dd>e</dl>", "a\n: b\n: c\n\nd\n: e"),
        ("<p>a</p><hr><p>b</p>", "a\n\n---\n\nb"),
        ("<hr><hr><p>a</p><hr><p>b</p><hr><hr>", "a\n\n---\n\nb"),
        ("<p><del>a</del> <kbd>b</kbd></p>", "~~a~~ `b`"),
        ("<p><b><strong>a</strong></b></p>", "**a**"),
        ("<p>a<b>(b)</b>c</p>", "a(b)c"),
        ("<p><span>a</span><span><b>(b)</b> c</span></p>", "a(b) c"),
        ("<p><b>a</b><span><b>b</b></span> <b>c </b><span><b>d</b></span></p>", "**a**b **c** **d**"),
        ("<p><i>(a) </i><span>b</span><i> (c)</i></p>", "*(a)* b *(c)*"),
        (
            "<p><b>a</b> <a href=/x><b>b</b></a><b>, (c)</b><b>.</b></p>",
            "**a** [**b**](https://example.org/x)**, (c)**.",
        ),
        ("<b><p>a</p><pre>b</pre></b>", "a\n\n```\nb\n```"),
        ("<h2><b>a</b></h2><p>b</p>", "## a\n\nb"),
        ("<h2>a</h2><div><h2>a</h2></div><p>b</p><h2>a</h2><h3>a</h3><p>b</p>", "## a\n\nb\n\n## a\n\n### a\n\nb"),
        ("<p>a&nbsp;b</p>", "a b"),
        ("<p>&nbsp;&#12288;a&#12288;b&#160;</p><p>&#8195;<b>&nbsp;</b>c</p>", "a b\n\nc"),
        ("<h3>Final&nbsp;Words</h3><p>b</p><h3>&nbsp;</h3><p>c</p>", "### Final Words\n\nb\n\nc"),
        ("<h3>a&#8232;b</h3><h4>c&#12288;d</h4>", "### a b\n\n#### c d"),
        ("<p>4.5 of 5, <b>3.5%</b> of snake_case</p>", "4.5 of 5, **3.5%** of snake_case"),
        ("<p>1. a</p><p>2.&nbsp;b</p><p>3) c</p><p>_d_</p>", "1\\. a\n\n2\\. b\n\n3\\) c\n\n\\_d\\_"),
        ("<h3>4. a</h3><p><b>5. b</b></p><ul><li>6. c</ul>", "### 4. a\n\n**5. b**\n\n- 6\\. c"),
        (
            "<p>#1 &lt;5 ~9 -v</p><p>-v</p><p>+5</p><p># b</p><p>a&lt;b&gt;</p>",
            "#1 <5 ~9 -v\n\n-v\n\n+5\n\n\\# b\n\na\\<b>",
        ),
        (
            "<p>[sic] [1] [a](b) [c][d] [e]: f</p><p>[x] ~g~</p>",
            "[sic] [1] \\[a\\](b) \\[c\\]\\[d\\] \\[e\\]: f\n\n\\[x\\] ~g\\~",
        ),
        (
            "<p>4.5 <code>1\\.5 a\\_b</code></p><pre>1\\.5 &amp;#160;</pre>",
            "4.5 `1\\.5 a\\_b`\n\n```\n1\\.5 &#160;\n```",
        ),
        ("<p>a<font>&#12288;</font>b</p><pre>c&#12288;d</pre>", "a b\n\n```\nc\u3000d\n```"),
        ("<p>a<span><br></span>b<b><br></b>c</p>", "a  \nb  \nc"),
        ("<p><span style='display:block'>a</span><em style='DISPLAY: flex'>b</em>c</p>", "a  \n*b*  \nc"),
        ("<h2><span style='display:block'>a</span>b</h2><p>c</p>", "## a b\n\nc"),
        ("<p>a<span style='display:inline-block'>b</span></p>", "ab"),
        ("<ul><li><span><div><h3></h3></div><div>a</div></span><li><p> </p><p>b</p></ul>", "- a\n- b"),
        ("<ul><li>a<li><div><ul><li>b</ul></div></ul>", "- a\n  - b"),
        ("<ul><li><ul><li>a<li>b</ul></ul>", "- a\n- b"),
        ("<p><a href=/a>a</a><a href=/b>b</a></p>", "[a](https://example.org/a) [b](https://example.org/b)"),
        ("<p><span>$7.80</span><span aria-hidden=true>$<b>7</b><sup>80</sup></span> each</p>", "$7.80 each"),
        ("<p><span aria-hidden=true>$7.80</span><span>Price $ 7.80</span> each</p>", "Price $ 7.80 each"),
        ("<p><i>Chapter</i><span aria-hidden=true>1</span></p>", "*Chapter*1"),
        ("<p style='white-space:pre-wrap'>a <b>b</b></p><h3 style='white-space: pre'>c</h3>", "a **b**\n\n### c"),
        ("<p>a <a href=/b><span style='WHITE-SPACE:pre-wrap'>b</span></a></p>", "a [b](https://example.org/b)"),
        ("<div style='white-space:pre-line'>a\nb\n\nc</div>", "a  \nb\n\nc"),
        ("<p>a <code style='white-space:pre'>b</code></p>", "a `b`"),
        ("<div style='white-space:pre;font-family:Menlo,monospace'>a\n  b</div>", "```\na\n  b\n```"),
        ("<div>a<center>b</center>c</div><fieldset><legend>d</legend>e</fieldset>", "a\n\nb\n\nc\n\nd\n\ne"),
        ("<div><label>a</label><span>1</span> <button>b</button>c</div>", "a 1 b c"),
        ("<dir><li>a<li>b</dir>", "- a\n- b"),
        ("<p><b class=a>Loomworks</b><span class=b>Shuttle</span></p>", "**Loomworks** Shuttle"),
        ("<p><s class=a>$10</s><span class=b>$8</span></p>", "~~$10~~ $8"),
    ],
)
def test_prose_is_written_by_its_markup(body: str, expected: str) -> None:
    assert markdown(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<p><a href='/x?a=1'>a</a></p>", "[a](https://example.org/x?a=1)"),
        ("<p><a href='#x' title='b'>a</a></p>", "[a](https://example.org/a/b#x)"),
        (
            "<p><a href='https://example.org/'>https://example.org/</a></p>",
            "[https://example.org/](https://example.org/)",
        ),
        ("<p><a href='javascript:x'>a</a> <a href='data:x'>b</a> <a>c</a></p>", "a b c"),
        ("<p>a <a href=/x></a>b</p>", "a b"),
        (
            "<p><a href='/my file.pdf'>a</a> <a href=' /x '>b</a></p>",
            "[a](https://example.org/my%20file.pdf) [b](https://example.org/x)",
        ),
        ("<p><a href='//[link'>a</a> <a href=/x>b</a></p>", "a [b](https://example.org/x)"),
        ("<h2>a <a class=anchor href='#a'>#</a></h2><p>b</p>", "## a\n\nb"),
        ("<h2><a href='#a'>a</a></h2><p>b</p>", "## a\n\nb"),
        ("<dl><dt>f(a)<a href='b#f'>¶</a><dd>b <a href='#c'>#1</a></dl>", "f(a)\n: b [#1](https://example.org/a/b#c)"),
        ("<h2>a <span class=mw-editsection>[<a href=/e>edit</a>]</span></h2><p>b</p>", "## a\n\nb"),
        ("<a href=/x><h3>a</h3><p>b</p></a>", "### [a](https://example.org/x)\n\nb"),
        ("<a href=/x><div><div>a</div><div>b</div></div></a>", "[a](https://example.org/x)\n\nb"),
        ("<a href=/x>a<br>b</a>", "[a b](https://example.org/x)"),
        (
            "<p><a href='/x?utm_source=a&id=1&amp;UTM_medium=b&_gl=1*c#d'>a</a></p>",
            "[a](https://example.org/x?id=1#d)",
        ),
        (
            "<p><a href='/x?fbclid=1'>a</a> <a href='/x?q=utm_source&a'>b</a></p>",
            "[a](https://example.org/x) [b](https://example.org/x?q=utm_source&a)",
        ),
    ],
)
def test_links_are_absolute_and_within_one_block(body: str, expected: str) -> None:
    assert markdown(body) == expected


def test_links_for_programs_keep_their_address() -> None:
    address = "https://example.org/x?utm_source=a"

    summary = extract_html(
        f"<main><h1>a</h1><p>{'Words that fill. ' * 20}<a href='{address}'>b</a></p></main>", URL
    ).summary

    assert "[b](https://example.org/x)" in summary.markdown
    assert [link.url for link in summary.extracted_links] == [address]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<p>a</p><img src=/i.png alt='b  c'><p>d</p>", "a\n\n![b c](https://example.org/i.png)\n\nd"),
        (
            "<figure><img src=/i.png alt=a><figcaption>b</figcaption></figure>",
            "![a](https://example.org/i.png)\n\nb",
        ),
        ("<figure><img src=/i.png><figcaption>b</figcaption></figure>", "b"),
        ("<p>a <img class=emoji width=16 src=/i.png alt=😀> b</p>", "a 😀 b"),
        ("<p>a</p><img src=/i.png alt=' '><img src=/j.jpg alt=IMG_0815.JPG>", "a"),
        ("<p>a</p><img src='data:x' data-src=/i.png alt=b>", "a\n\n![b](https://example.org/i.png)"),
        ("<p>a</p><img src='data:x' late-src=/i.png alt=b>", "a\n\n![b](https://example.org/i.png)"),
        ("<p>a</p><img src='data:x' data-srcset='/i.png 1x, /j.png 2x' alt=b>", "a\n\n![b](https://example.org/i.png)"),
        (
            "<p>a</p><img src='data:x' alt=b><noscript><img src=/i.png alt=b></noscript>",
            "a\n\n![b](https://example.org/i.png)",
        ),
        ("<p>a</p><img src=/i.png alt=b><img src=/i.png alt=b>", "a\n\n![b](https://example.org/i.png)"),
        (
            "<p>a</p><a href=/x><img src=/i.png alt=b></a>",
            "a\n\n[![b](https://example.org/i.png)](https://example.org/x)",
        ),
        ("<p>a <img src=/e.png alt=😀> b</p>", "a 😀 b"),
        ("<p>a</p><img src=/i.png>", "a"),
        ("<p>a</p><img src='javascript:x' alt=b><img src='data:image/gif;base64,x' alt=b>", "a"),
        ("<p>a</p><img src=/i.png alt=b width=16>", "a"),
        ("<p>a</p><img src=/i.png alt=b width=²>", "a\n\n![b](https://example.org/i.png)"),
        ("<p>a</p><img src=/i.png alt=b class=avatar>", "a"),
        ("<div><a href=/x><img src=/p.png alt=Prev></a> <a href=/y><img src=/n.png alt=Next></a></div><p>a</p>", "a"),
        ("<p>a</p><img src=/i.png alt=Home>", "a\n\n![Home](https://example.org/i.png)"),
        ("<p>a</p><div hidden><img src=/i.png alt=b></div>", "a"),
    ],
)
def test_pictures_that_say_something_are_kept(body: str, expected: str) -> None:
    assert markdown(body) == expected


@pytest.mark.parametrize(("cards", "pictures"), [(10, 10), (9, 27)])
def test_of_the_carousels_of_many_cards_the_first_picture_is_kept(cards: int, pictures: int) -> None:
    card = "<div><img src=/{0}a.png alt=a> <img src=/{0}b.png alt=b><p><img src=/{0}c.png alt=c></p>{0}</div>"

    assert markdown("".join(map(card.format, range(cards)))).count("![") == pictures


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<details><summary>a</summary><p>b</p></details>", "**a** *(collapsed)*\n\nb"),
        ("<details open><summary>a</summary><p>b</p></details>", "**a**\n\nb"),
        ("<details><summary><b>a</b></summary>b</details>", "**a** *(collapsed)*\n\nb"),
        ("<details><summary><h3>a</h3></summary><p>b</p></details>", "### a\n\n*(collapsed)*\n\nb"),
        ("<details><p>b</p></details>", "*(collapsed)*\n\nb"),
        ("<p>a</p><div class=faq hidden><p>b</p></div>", "a\n\n*(collapsed)*\n\nb"),
        ("<p>a <span class=more-text hidden>b</span></p>", "a *(collapsed)* b"),
        ("<p><i>a <span class=more-text hidden>b</span></i></p>", "a *(collapsed)* b"),
        ("<p>a</p><ul class=collapse hidden><li>b</ul>", "a\n\n*(collapsed)*\n\n- b"),
        (
            "<b id=t>Node.js</b><div role=tabpanel class=tab-pane aria-labelledby=t hidden><p>b</p></div>",
            "**Node.js**\n\n*(collapsed: Node.js)*\n\nb",
        ),
        (
            "<b id=t>*[x](y)*</b><div role=tabpanel class=tab-pane aria-labelledby=t hidden><p>b</p></div>",
            "**\\*\\[x\\](y)\\***\n\n*(collapsed)*\n\nb",
        ),
    ],
)
def test_what_a_click_shows_is_kept_and_marked(body: str, expected: str) -> None:
    assert markdown(body) == expected


def test_only_what_was_kept_is_written() -> None:
    body = "<nav>n</nav><main>b<p>c</p><p>d</p></main><footer>e</footer>"

    assert markdown(body, "n", "d", "e") == "b\n\nc"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<h2>x</h2><h2>x</h2><p>c</p><h2>x</h2><p>x</p>", "## x\n\nc"),
        ("<h2>x</h2><div><h3>x</h3><p>c</p></div>", "## x\n\n### x\n\nc"),
        ("<h2>x</h2><h3>x</h3><p>c</p>", "## x\n\n### x\n\nc"),
        ("<h3>x</h3><h2>x</h2><a id=c></a><p>c</p>", "## x\n\nc"),
        ("<h1>x</h1><p>b</p><h1>x</h1><p>c</p>", "b\n\n# x\n\nc"),
        ("<p>b</p><a href='#x'><h2>x</h2></a><p>c</p>", "b\n\n## x\n\nc"),
        ("<p>b</p><div><div><h2>x</h2></div></div><div><p>c</p></div>", "b\n\n## x\n\nc"),
        ("<p>b</p><div><h2>x</h2><p>x</p></div><p>c</p>", "b\n\nc"),
        ("<div><h2>x</h2></div><p>c</p>", "c"),
        ("<h3>x</h3><h1>b</h1><p>c</p>", "### x\n\n# b\n\nc"),
    ],
)
def test_a_heading_above_what_was_kept_is_kept(body: str, expected: str) -> None:
    assert markdown(body, "x") == expected


@pytest.mark.parametrize("heading", ["The title", "The title | Site", "the title"])
def test_the_title_is_not_said_again(heading: str) -> None:
    assert markdown(f"<h1>{heading}</h1><p>a</p><h2>The title</h2><p>b</p>") == "a\n\n## The title\n\nb"


def test_what_its_title_does_not_say_of_a_page_stays() -> None:
    assert written("<h1>The title</h1><p>a</p>", title="Manual of the site").markdown == "# The title\n\na"
    assert markdown("<h1>The title</h1>") == "# The title"


CONTENTS = "<ul><li><a href='#a'>1 a</a><li><a href='#b'>b</a><li><a href='#c'>c</a></ul>"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            f"<h2>Contents</h2>{CONTENTS}<h2 id=a>a</h2>d<a name=b></a>",
            "## a\n\nd",
        ),
        ("<ul><li><a href='#/a'>a</a><li><a href='#/b'>b</a><li><a href='#/c'>c</a></ul><p>d</p>", None),
        ("<ul><li><a href='#'>a</a><li><a href='#'>b</a><li><a href='#'>c</a></ul><p>d</p>", None),
        ("<ul><li><a href='#a'>a</a><li><a href='#b'>b</a></ul>", f"- [a]({URL}#a)\n- [b]({URL}#b)"),
        ("<ul><li><a href='#a'>a</a> and more<li><a href='#b'>b</a><li><a href='#c'>c</a></ul><p>d</p>", None),
        ("<ul><li><a href='#a'>a</a><li><a href='#b'>b</a><li><a href='/c'>c</a></ul><p>d</p>", None),
    ],
)
def test_tables_of_contents_are_left_to_the_outline(body: str, expected: str | None) -> None:
    found = markdown(body)

    assert found == expected if expected is not None else found.startswith("- [a]")


def test_a_note_across_a_table_is_written_once() -> None:
    rows = "<tr><th>a<th>b<th>c</tr><tr><td>1<td>2<td>3</tr><tr><td colspan=3>in days</tr>"

    assert markdown(f"<table>{rows}</table>").endswith("| in days |  |  |")


def test_how_characters_are_read_stands_above_them_alone() -> None:
    assert markdown("<p><ruby>図書<rp>(</rp><rt>としょ</rt><rp>)</rp></ruby>は</p>") == "図書は"


def test_another_first_heading_stays() -> None:
    assert markdown("<h1>Another</h1><p>a</p>") == "# Another\n\na"


def test_what_nobody_sees_is_left_out_and_counted() -> None:
    body = "<p>a\u200bb\u202ec</p><p hidden>no</p><div style='display:none'>no</div><!-- no --><template>no</template>"

    assert written(body) == ContentText("abc", "abc", LeftOut(invisible_texts=2, invisible_characters=2))


def test_joiners_stay_where_a_script_needs_them() -> None:
    assert markdown("<p>می\u200cخواهم a\u200cb</p>") == "می\u200cخواهم ab"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<p>The victimâ€™s â€œfamilyâ€\x9d, cafÃ© at 5Â°C</p>", "The victim’s “family”, café at 5°C"),
        ("<p>Zarabiaj\u00c4\u0085 najlepiej: wiadomo\u00c5\u009bci</p>", "Zarabiają najlepiej: wiadomości"),
        ("<p>It&acirc;&euro;&trade;s</p>", "It’s"),
        ("<p>naïve Beyoncé’s Stra\u00dfe</p><p>â€™</p><pre>â€™</pre>", "naïve Beyoncé’s Straße\n\n’\n\n```\nâ€™\n```"),
        ("<p>In UTF-8 it shows as â€™, and <code>Ã©</code></p>", "In UTF-8 it shows as â€™, and `Ã©`"),
        ('<p>how often "Ã¤" stands there</p>', 'how often "Ã¤" stands there'),
    ],
)
def test_text_that_was_encoded_twice_is_repaired_where_that_is_certain(body: str, expected: str) -> None:
    assert markdown(body) == expected


POST = (
    "<div itemprop=comment itemscope><div itemprop=author>ann{0}</div><time datetime=2024-01-0{0}>day {0}</time>"
    "<p>words {0}</p></div>"
)


@pytest.mark.parametrize(
    ("left_out", "expected"),
    [
        (("ann1", "day 1", "ann2", "day 2"), "**ann1**, 2024-01-01\n\nwords 1\n\n**ann2**, 2024-01-02\n\nwords 2"),
        (("day 1", "day 2"), "2024-01-01\n\nann1\n\nwords 1\n\n2024-01-02\n\nann2\n\nwords 2"),
    ],
    ids=["neither is shown", "only the author is"],
)
def test_who_wrote_a_post_and_when_stands_above_it(left_out: tuple[str, ...], expected: str) -> None:
    assert markdown(POST.format(1) + POST.format(2), *left_out) == expected


def test_of_when_a_post_was_written_the_day_alone_stands_above_it() -> None:
    said = [f"edited Jul 2{number}, 2016 at 13:13" for number in (1, 2)]
    posts = [
        POST.format(number).replace(f" datetime=2024-01-0{number}>day {number}", f">{when}")
        for number, when in enumerate(said, 1)
    ]

    lines = markdown("".join(posts), "ann1", "ann2", *said).split("\n\n")

    assert lines == ["**ann1**, 2016-07-21", "words 1", "**ann2**, 2016-07-22", "words 2"]


def test_what_a_post_says_itself_is_not_said_twice() -> None:
    rows = "".join(f"<tr itemprop=review><td itemprop=author>ann{n}<td>2024-01-0{n}<td>words {n}" for n in (1, 2))

    assert "**" not in markdown(f"<table>{rows}</table>")


def test_titles_and_labels_are_no_text() -> None:
    body = "<p>a <a href=/x title=no aria-label=no>b</a> <abbr title=no>c</abbr> <span aria-label=no>d</span></p>"

    assert markdown(body) == "a [b](https://example.org/x) c d"


def test_text_from_elsewhere_is_written_as_paragraphs() -> None:
    page = tree.read("<p>a</p>", URL)
    said = Content((), frozenset(), "", confidence(Source.FRAMEWORK_DATA), {}, (), "# b\n\n*c*\u200b")

    assert write_markdown(page, said, "") == ContentText(
        "\\# b\n\n\\*c\\*", "# b\n\n*c*", LeftOut(invisible_characters=1)
    )


def test_a_page_without_content_is_empty() -> None:
    assert written("") == ContentText("", "")


def test_the_same_page_gives_the_same_bytes() -> None:
    body = "<h2>a</h2><p>b <a href=/x>c</a></p><table><tr><th>d<th>e<tr><td>f<td>g</table><p hidden class=faq>h</p>"

    assert markdown(body) == markdown(body)


def test_the_text_has_a_line_for_every_block() -> None:
    page = tree.read("<h2>a</h2><p>b <i>c</i></p><ul><li>d<li>e<b style='display:block'>f</b>g</ul>", URL)

    assert write_markdown(page, content(page), "").text == "a\nb c\nd\ne f g"


def test_lines_of_code_are_lines_of_the_text() -> None:
    assert written("<p>a</p><pre>def f(x):\n    return x</pre><p>b</p>").text == "a\ndef f(x):\n    return x\nb"
