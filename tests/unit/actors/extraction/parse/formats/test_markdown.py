"""What Markdown hides, and what runs, is taken out; code stays."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from actors.extraction.parse.formats.markdown import visible_markdown


@pytest.mark.parametrize(
    ("text", "expected", "invisible"),
    [
        ("# Looms\n\nof <b>wood</b>", "# Looms\n\nof wood", 0),
        ("one <!-- obey\nme --> two", "one  two", 1),
        ("one <!-- obey me", "one", 1),
        ("one <span style='display:none'>obey <b>me</b></span> two", "one  two", 1),
        ("one <span style='font-size:0'>obey me</span> two", "one  two", 1),
        ("one <p hidden>obey me</p> two", "one  two", 1),
        ("one <div aria-hidden=true><div>obey</div> me</div> two", "one  two", 1),
        ("one <script>obey(me)</script> two", "one  two", 1),
        ("one <div hidden>obey me", "one", 1),
        ("one <input hidden> two", "one  two", 0),
        ("[//]: # (obey me)\n[x]: <> (obey)\none", "one", 2),
        ("[a][b]\n\n[b]: https://a.example/", "[a][b]\n\n[b]: https://a.example/", 0),
        ("one[^1]\n\n[^1]: A note.", "one[^1]\n\n[^1]: A note.", 0),
        ("[a](javascript:run(1)) [b](https://a.example/)", "a [b](https://a.example/)", 0),
        ("![a loom](data:image/png;base64,AAAA)", "a loom", 0),
        ("<img src=x alt='a loom'>", "a loom", 0),
        ("List<String> <https://a.example/> a < b", "List\\<String> <https://a.example/> a < b", 0),
        ("`<!-- code -->` <b>x</b>", "`<!-- code -->` x", 0),
        (
            "```html\n<div hidden>code</div>\n[x]: y\n```\n<b>x</b>",
            "```html\n<div hidden>code</div>\n[x]: y\n```\nx",
            0,
        ),
        ("<!-- ```\n--> <b>x</b>", "x", 0),
        ("<details><summary>More</summary>Inside</details>", "More\nInside", 0),
        ("<h2>Parts</h2>", "## Parts", 0),
        ("\\`<i onclick=x>`", "\\`\\<i onclick=x>`", 0),
        ("<<b>script>run()", "\\<script>run()", 0),
        ("one `two\n\n<i onclick=x>three` four", "one `two\n\n\\<i onclick=x>three` four", 0),
        ("- one\n\n  ```\n<i onclick=x>", "- one\n\n  ```\n\\<i onclick=x>", 0),
        ("```one`\n<i onclick=x>", "```one`\n\\<i onclick=x>", 0),
        ("```\r<i>\r```\r<i>two</i>", "```\n<i>\n```\ntwo", 0),
        ("| a |\n|---|\n| `b | <i onclick=x>`", "| a |\n|---|\n| `b | \\<i onclick=x>`", 0),
        ("[a](java<b>script:run())", "[a]\\(javascript:run())", 0),
        ("[a](javascript&#58;run())", "[a]\\(javascript&#58;run())", 0),
        ("[a [b]](javascript:run())", "[a [b]]\\(javascript:run())", 0),
        ("[a]\n\n[a]: javascript:run()", "[a]\n\n\\[a]: javascript:run()", 0),
        ("<javascript:run()>", "\\<javascript:run()>", 0),
    ],
)
def test_what_is_seen(text: str, expected: str, invisible: int) -> None:
    assert visible_markdown(text) == (expected, invisible)


@pytest.mark.parametrize(
    "part",
    [
        "<!--",
        "`",
        "- `<x\n",
        "<x>\n\n",
        "[x]: data:a\n\n",
        "`a``b",
        "<a ",
        "[",
        "[a]: \n",
        "<div hidden>",
        "```\n",
        "[x](data:",
        "![[",
        "[x](data:()",
        "<p ",
    ],
)
def test_hostile_markdown_takes_as_much_longer_as_it_is(part: str) -> None:
    def cpu_s(chars: int) -> float:
        started = time.process_time()
        visible_markdown(part * (chars // len(part)))
        return time.process_time() - started

    short = cpu_s(50_000)

    assert cpu_s(200_000) < 10 * max(short, 0.05)  # four times as much; 16 times by the square


@given(st.text(alphabet="<>!-`[]()#: \nabhidenscrpt/='", max_size=200))
def test_nothing_raises_and_no_comment_stays(text: str) -> None:
    assert isinstance(visible_markdown(text).markdown, str)


PIECES = (
    *("```", "~~~", "`", "``", "\\", "- ", "1. ", "> ", "# ", "    ", "  ", "\n", "\n\n", "\r", "\t", "a", "|", "==="),
    *(
        "| a |\n|---|\n| ",
        "<script>",
        "</script>",
        "<b>",
        "<",
        "script>",
        "<?",
        "<!--",
        "-->",
        "<div>",
        "<pre>",
        "<loom>",
    ),
    *("[a]", "[a](", "![a](", "[[a]]", "[a]: ", "(", ")", "java", "javascript:", "script:", "&#58;", "<javascript:x>"),
    *("<a href='", "'>", "<https://a.example/`>", "<![CDATA[", "\u200b", "\u202e```"),
)


@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join))
def test_nothing_is_left_that_is_html_or_runs_to_a_renderer(text: str) -> None:
    renderer = MarkdownIt("commonmark").enable("table")
    renderer.validateLink = lambda _: True  # type: ignore[assignment,method-assign]  # Weft's task

    blocks = renderer.parse(visible_markdown(text).markdown)

    tokens = [token for block in blocks for token in (block, *(block.children or ()))]
    assert [token for token in tokens if token.type in ("html_block", "html_inline")] == []
    assert [url for token in tokens if (url := str(token.attrGet("href") or "")).startswith("javascript:")] == []
