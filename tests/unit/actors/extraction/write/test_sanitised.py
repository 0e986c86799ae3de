"""What is given as HTML runs nothing, loads nothing but pictures, and shows nothing that was hidden."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from turbohtml import Element, parse

from actors.extraction.decide.blocks import Block, blocks
from actors.extraction.decide.content import Content
from actors.extraction.parse import tree
from actors.extraction.write.writer import sanitised_html
from protocol.confidence import Source, confidence

URL = "https://example.org/a/b"
MARKUP = (
    *(
        "<p>",
        "</p>",
        "<b>",
        "</b>",
        "<a href='javascript:x()'>",
        "<a href='/x' onclick=y>",
        "</a>",
        "<script>x</script>",
    ),
    *(
        "<img src=x onerror=y>",
        "<img src='data:text/html,x'>",
        "<svg onload=y>",
        "</svg>",
        "<math>",
        "<style>*{}</style>",
    ),
    *("<iframe src=x>", "<form action=x><input name=y>", "<base href='javascript:x//'>", "<meta http-equiv=refresh>"),
    *(
        "<template>",
        "<noscript>",
        "<table><td>",
        "<object data=x>",
        "<details ontoggle=x open>",
        "word",
        "&lt;b&gt;",
        "<x-y>",
    ),
    *(
        "<a href=' java\nscript:x'>",
        "<link rel=stylesheet href=x>",
        "<textarea>",
        "<title>",
        "<p style='background:url(x)'>",
    ),
)


def kept(found: list[Block], *words: str) -> Content:
    chosen = tuple(block for block in found if block.text in words)
    holders: set[Element] = set()
    for block in chosen:
        for node in block.nodes:
            holders.update(each for each in node.ancestors if isinstance(each, Element))
    sure = confidence(Source.HEURISTIC)
    return Content(chosen, frozenset(holders), "\n".join(words), sure, {}, ())


@pytest.mark.parametrize(
    ("body", "clean"),
    [
        ("<p onclick=x style='color:red' id=a class=b>a</p>", "<p>a</p>"),
        ("<p>a</p><script>x</script><style>x</style>", "<p>a</p>"),
        ("<a href='x?y=1'>a</a>", '<a href="https://example.org/a/x?y=1" rel="nofollow noopener noreferrer">a</a>'),
        ("<a href='javascript:x'>a</a>", "<a>a</a>"),
        ("<img src=/x.png alt=b srcset=y onerror=z>", '<img src="https://example.org/x.png" alt="b">'),
        ("<img src='data:image/png;base64,x' alt=b>", '<img alt="b">'),
        ("<form action=x>a<input value=b><button>c</button></form>", "a"),
        ("<center>a</center>", "a"),
        ("<p>a</p><div style='display:none'>b</div><span class=sr-only>c</span>", "<p>a</p>"),
        ("<details><summary>a</summary><p>b</p></details>", "<details><summary>a</summary><p>b</p></details>"),
        ("<pre><code class=language-py>a</code></pre>", '<pre><code class="language-py">a</code></pre>'),
        (
            "<base href='javascript:x//'><a href=y>a</a>",
            '<a href="https://example.org/a/y" rel="nofollow noopener noreferrer">a</a>',
        ),
    ],
)
def test_only_plain_elements_are_left(body: str, clean: str) -> None:
    assert sanitised_html(tree.read(body, URL)) == clean


def test_of_the_main_content_only_its_elements_are_left() -> None:
    page = tree.read("<nav>n</nav><article><p>a</p><figure><img src=/i.png alt=b></figure><p>c</p></article>", URL)

    clean = sanitised_html(page, kept(blocks(page), "a"))

    assert clean == '<article><p>a</p><figure><img src="https://example.org/i.png" alt="b"></figure></article>'


def test_the_tree_is_left_as_it_was() -> None:
    page = tree.read("<p hidden>a</p><p onclick=x>b</p>", URL)
    before = page.root.html

    sanitised_html(page, kept(blocks(page), "b"))

    assert page.root.html == before


@given(st.lists(st.sampled_from(MARKUP), max_size=12).map("".join))
def test_nothing_runs_whatever_comes_in(body: str) -> None:
    clean = sanitised_html(tree.read(body, URL))

    again = parse(clean, positions=False).root
    assert again is not None
    elements = again.select("body *")
    assert not again.select("script,style,iframe,object,svg,math,form,input,base,meta,link,template,noscript,textarea")
    assert not [name for element in elements for name in element.attrs if name.startswith("on") or name == "style"]
    links = [element.attr(name) for element in elements for name in ("href", "src") if element.attr(name)]
    assert all(re.match(r"(https?|mailto|tel):", link or "") for link in links)
