"""A tree becomes Markdown in which text stays text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from protocol.codec import MalformedError, decoder
from protocol.render import (
    MAX_DEPTH,
    Block,
    Blockquote,
    CodeBlock,
    Doc,
    Heading,
    Inline,
    Link,
    List,
    ListItem,
    Paragraph,
    Text,
    plain,
    to_markdown,
)
from tests.requirements import requirement
from tests.support.scale import sized
from tests.unit.protocol import packet_data
from tests.unit.protocol.wire import values

# Letters among all that Markdown has a meaning for.
HOSTILE = st.text(alphabet="ab1 \n\r\t\\`*_[]()<>#|~&;!-+=.:/\"'${}^%@?,\0\u2028\u00a0", max_size=12) | st.sampled_from(
    [
        "&amp;",
        "&#35;",
        "<b>x</b>",
        "<!-- x -->",
        "---",
        "===",
        "1. x",
        "1) x",
        "- x",
        "+ x",
        "* x",
        "# x",
        "> x",
        "    x",
        "```",
        "~~~",
        "~~x~~",
        "![a](b)",
        "[a]: b",
        "a\r# b",
        "a  \nb",
        "a | b\n--- | ---",
        "<https://weft.test>",
    ]
)
MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])

NO_BLOCKS: list[dict[str, Any]] = [
    {"type": "table", "children": []},
    {"type": "heading", "level": 0, "children": []},
    {"type": "heading", "level": 7, "children": []},
    {"type": "paragraph", "children": [{"type": "paragraph", "children": []}]},
    {"type": "text", "text": "a"},
    {"type": "list", "items": []},
]


def text(words: str) -> Text:
    return Text(text=words)


def paragraph(words: str) -> Paragraph:
    return Paragraph(children=(text(words),))


def item(*children: Block | Inline) -> ListItem:
    return ListItem(children=children)


def doc(*children: Block) -> Doc:
    return Doc(children=children)


def tokens(markdown: str) -> list[Token]:
    """Every token that a reader of Markdown finds, those inside a line among them."""
    return [inner for token in MARKDOWN.parse(markdown) for inner in [token, *(token.children or [])]]


def types(markdown: str) -> set[str]:
    return {token.type for token in tokens(markdown)} - {"inline", "text"}


def words(found: Iterable[str]) -> list[str]:
    """Split into words, whose distance Markdown does not keep."""
    return " ".join(found).replace("\0", "\ufffd").split()


def read(markdown: str) -> list[str]:
    """Read the words that a reader sees."""
    return words("".join(inner.content for inner in token.children or []) for token in MARKDOWN.parse(markdown))


@requirement("003.render.markdown")
@pytest.mark.parametrize(
    ("tree", "markdown"),
    [
        (doc(), ""),
        (doc(Heading(level=1, children=(text("A"),))), "# A"),
        (doc(Heading(level=6, children=(text("A"),))), "###### A"),
        (doc(paragraph("one"), paragraph("two")), "one\n\ntwo"),
        (doc(paragraph("one\ntwo")), "one two"),
        (
            doc(Paragraph(children=(text("see "), Link(href="https://weft.test/a?b=1&c=2", children=(text("it"),))))),
            "see [it](<https://weft.test/a?b=1&c=2>)",
        ),
        (doc(paragraph("so [1] [2](a) [3]: [4][x]")), r"so [1] \[2\](a) \[3\]: [4]\[x\]"),
        (doc(CodeBlock(text="a = 1", language="python")), "```python\na = 1\n```"),
        (doc(CodeBlock(text="a = 1")), "```\na = 1\n```"),
        (doc(CodeBlock(text="```\na\n```")), "````\n```\na\n```\n````"),
        (doc(List(ordered=False, items=(item(text("a")), item(text("b"))))), "- a\n- b"),
        (doc(List(ordered=True, items=(item(text("a")), item(text("b"))))), "1. a\n2. b"),
        (doc(List(ordered=False, items=(item(text("a"), text("b")),))), "- ab"),
        (doc(List(ordered=False, items=(item(paragraph("a"), paragraph("b")),))), "- a\n\n  b"),
        (
            doc(List(ordered=True, items=(item(text("a"), List(ordered=False, items=(item(text("b")),)), text("c")),))),
            "1. a\n\n   - b\n\n   c",
        ),
        (doc(Blockquote(children=(paragraph("a"), paragraph("b")))), "> a\n>\n> b"),
        (doc(Blockquote(children=(CodeBlock(text="a  \n\nb"),))), "> ```\n> a  \n>\n> b\n> ```"),
    ],
)
def test_every_node_has_its_markdown(tree: Doc, markdown: str) -> None:
    assert to_markdown(tree) == markdown


@requirement("003.render.tree")
def test_a_tree_is_read_from_json() -> None:
    tree: Doc = decoder(Doc).decode(msgspec.json.encode(packet_data.render()))

    assert to_markdown(tree) == (
        "## Tides\n\n"
        "Noon, says [the table](<https://weft.test/tides>)\n\n"
        "- spring\n\n"
        "> High water at noon.\n\n"
        "```text\n12:00\n```"
    )


@requirement("003.render.tree")
@pytest.mark.parametrize("node", NO_BLOCKS)
def test_what_is_no_tree_is_refused(node: dict[str, Any]) -> None:
    with pytest.raises(MalformedError):
        decoder(Doc).decode(msgspec.json.encode({"type": "doc", "children": [node]}))


@requirement("003.render.markdown")
@settings(max_examples=sized(50, 500))
@given(st.lists(HOSTILE, max_size=4))
@pytest.mark.slow
def test_text_never_becomes_markup(runs: list[str]) -> None:
    markdown = to_markdown(doc(Paragraph(children=tuple(text(run) for run in runs))))

    assert types(markdown) <= {"paragraph_open", "paragraph_close", "text_special"}
    assert read(markdown) == words(["".join(runs)])


@requirement("003.render.markdown")
@settings(max_examples=sized(30, 300))
@given(HOSTILE, HOSTILE, HOSTILE)
def test_text_never_becomes_markup_around_a_link(before: str, label: str, after: str) -> None:
    link = Link(href="https://weft.test/", children=(text(label),))

    markdown = to_markdown(doc(Paragraph(children=(text(before), link, text(after)))))

    assert types(markdown) == {"paragraph_open", "paragraph_close", "link_open", "link_close"} | (
        types(markdown) & {"text_special"}
    )
    assert "".join(read(markdown)) == "".join(words([before + label + after]))


@requirement("003.render.markdown")
@settings(max_examples=sized(20, 200))
@given(HOSTILE)
def test_a_link_leads_where_it_says(path: str) -> None:
    href = f"https://weft.test/{path}"

    found = tokens(to_markdown(doc(Paragraph(children=(Link(href=href, children=(text("x"),)),)))))

    (link,) = [token for token in found if token.type == "link_open"]
    assert str(link.attrs["href"]).startswith("https://weft.test/")
    assert [token.content for token in found if token.type == "text"] == ["x"]


@pytest.mark.parametrize(
    "href", ["https://weft.test/?a=1&copy;=2", "https://weft.test/?a=1&amp;b", "https://weft.test/(a)_b*c"]
)
def test_a_link_keeps_what_looks_like_markup(href: str) -> None:
    found = tokens(to_markdown(doc(Paragraph(children=(Link(href=href, children=(text("x"),)),)))))

    assert [token.attrs for token in found if token.type == "link_open"] == [{"href": href}]


@pytest.mark.parametrize(
    ("href", "written"),
    [
        ("https://weft.test/a\\_b", "https://weft.test/a%5C_b"),
        ("https://weft.test/a b", "https://weft.test/a%20b"),
        ("https://weft.test/<a>", "https://weft.test/%3Ca%3E"),
        ("https://weft.test/\u2028", "https://weft.test/%E2%80%A8"),
        ("https://weft.test/\0", "https://weft.test/%00"),
    ],
)
def test_what_cannot_stand_in_a_link_is_encoded(href: str, written: str) -> None:
    tree = doc(Paragraph(children=(Link(href=href, children=(text("x"),)),)))

    assert to_markdown(tree) == f"[x](<{written}>)"


@requirement("003.render.markdown")
@settings(max_examples=sized(30, 300))
@given(st.sampled_from(["quote", "list", "ten", "heading"]), HOSTILE)
def test_text_never_becomes_markup_inside_a_block(place: str, run: str) -> None:
    places: dict[str, tuple[Block, set[str]]] = {
        "quote": (Blockquote(children=(paragraph(run),)), {"blockquote", "paragraph"}),
        "list": (List(ordered=False, items=(item(text(run)),)), {"bullet_list", "list_item", "paragraph"}),
        "ten": (
            List(ordered=True, items=(*[item(text("a"))] * 9, item(paragraph(run)))),
            {"ordered_list", "list_item", "paragraph"},
        ),
        "heading": (Heading(level=2, children=(text(run),)), {"heading"}),
    }
    block, expected = places[place]

    markdown = to_markdown(doc(block))

    assert {name.removesuffix("_open").removesuffix("_close") for name in types(markdown)} <= expected | {
        "text_special"
    }
    assert read(markdown) == words([*(["a"] * 9 if place == "ten" else []), run])


@requirement("003.render.markdown")
@settings(max_examples=sized(30, 300))
@given(HOSTILE, HOSTILE | st.none(), st.sampled_from(["doc", "quote", "list", "empty"]))
@pytest.mark.slow
def test_code_stays_code(code: str, language: str | None, place: str) -> None:
    block = CodeBlock(text=code) if language is None else CodeBlock(text=code, language=language)
    blocks: dict[str, Block] = {
        "doc": block,
        "quote": Blockquote(children=(block,)),
        "list": List(ordered=True, items=(item(text("a"), block),)),
        "empty": List(ordered=True, items=(*[item(text("a"))] * 9, item(text(""), block))),
    }

    found = tokens(to_markdown(doc(blocks[place])))

    (fence,) = [token for token in found if token.type == "fence"]
    expected = code.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    assert fence.content == f"{expected}\n"
    assert {token.type for token in found} & {"html_block", "heading_open", "code_block"} == set()


@settings(max_examples=sized(10, 100), deadline=None)
@given(values(Doc))
def test_every_tree_is_written(tree: Doc) -> None:
    assert {"html_block", "html_inline", "em_open", "strong_open", "image"} & types(to_markdown(tree)) == set()


def test_a_tree_may_be_as_deep_as_the_limit_and_no_deeper() -> None:
    def nested(depth: int) -> dict[str, Any]:
        node: dict[str, Any] = {"type": "code_block", "text": "a"}
        for _ in range(depth - 1):
            node = {"type": "blockquote", "children": [node]}
        return {"type": "doc", "children": [node]}

    deepest: Doc = decoder(Doc).decode(msgspec.json.encode(nested(MAX_DEPTH)))
    assert to_markdown(deepest).endswith("> ```")
    with pytest.raises(MalformedError, match=f"nests blocks {MAX_DEPTH} deep at most"):
        decoder(Doc).decode(msgspec.json.encode(nested(MAX_DEPTH + 1)))


def test_lists_count_as_depth() -> None:
    block: Block = CodeBlock(text="a")
    for _ in range(MAX_DEPTH - 1):
        block = List(ordered=True, items=(item(text("a"), block),))
    doc(block)

    with pytest.raises(ValueError, match="deep at most"):
        doc(Blockquote(children=(block,)))


@pytest.mark.parametrize(
    ("markdown", "tree"),
    [
        ("", doc()),
        (" \n\n ", doc()),
        ("a\n\nb\nc", doc(paragraph("a"), paragraph("b\nc"))),
        ("# a", doc(paragraph("# a"))),
    ],
)
def test_plain_text_becomes_paragraphs(markdown: str, tree: Doc) -> None:
    assert plain(markdown) == tree
