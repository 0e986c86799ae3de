"""Markdown read line by line: the same words as by a whole parser, each with what it stands in."""

from __future__ import annotations

import pytest

from actors.markdown.plain_lines import LineKind, PlainLine, plain_lines
from actors.markdown.plain_text import plain_text
from tests.unit.actors.markdown.test_plain_text import MARKDOWN

PAGE = """\
# Looms #

A *loom* weaves
**cloth** of 2 * 3 threads, see [the guide](https://a.example/x "title").[^1]

> said
> twice

- one ![a loom](x.png)
- two
  goes on

  1. three

| a | b |
|---|---|
| 1 | `x \\| y` |

Setext
------

```python
x = 1

y = 2
```

    indented

line \\
break <https://a.example/y> snake_case _so_ &amp; \\&amp; \\<b\\> <b>bold</b>

---
[ref]: https://a.example/z

[^1]: A note.
"""


def test_each_line_says_what_it_stands_in() -> None:
    assert [(line.kind.value, line.text) for line in plain_lines(PAGE)] == [
        ("heading", "Looms"),
        ("prose", "A loom weaves cloth of 2 * 3 threads, see the guide."),
        ("prose", "said twice"),
        ("item", "one"),
        ("item", "two goes on"),
        ("item", "three"),
        ("row", "a b"),
        ("row", "1 x | y"),
        ("heading", "Setext"),
        ("code", "x = 1"),
        ("code", "y = 2"),
        ("code", "indented"),
        ("prose", "line"),
        ("prose", "break https://a.example/y snake_case so & &amp; <b> bold"),
        ("prose", "A note."),
    ]


@pytest.mark.parametrize(("markdown", "text"), MARKDOWN)
def test_the_words_are_those_of_the_whole_parser(markdown: str, text: str) -> None:
    assert "\n".join(line.text for line in plain_lines(markdown)) == text == plain_text(markdown)


@pytest.mark.parametrize("mark", ["> ", ">     ", "- ", "[", "![", "`a``b", "*a ", "<a ", "&", "\\", "|", "# "])
def test_marks_without_end_are_read(mark: str) -> None:
    lines = list(plain_lines(f"{mark * 20_000}\n\nthe end"))

    assert lines[-1] == PlainLine(LineKind.PROSE, "the end")
