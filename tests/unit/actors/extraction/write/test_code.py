"""Code is fenced with its language and without what stands beside it."""

from __future__ import annotations

import pytest

from tests.unit.actors.extraction.write.pages import markdown

NUMBERED = "<pre><span>1</span> a\n<span>2</span> b\n<span>3</span> c</pre>"
HEXO = (
    "<figure class='highlight js'><table><tr><td class=gutter><pre>1<br>2</pre></td>"
    "<td class=code><pre>a<br>b</pre></td></tr></table></figure>"
)
MARKED = (
    "<pre><code>a<span class=x-highlight-code-line>  b</span><span class=x-highlight-code-line>  c</span>d</code></pre>"
)
BLOB = (
    "<table><tr><td class=blob-num data-line-number=1></td><td class=blob-code>a</td></tr>"
    "<tr><td class=blob-num data-line-number=2></td><td class=blob-code>  b</td></tr></table>"
)
ROUGE = (
    "<div class='language-cpp highlighter-rouge'><code><table class=rouge-table><tr><td class=rouge-gutter>"
    "<pre class=lineno>1\n2\n</pre></td><td class=rouge-code><pre>a\nb\n</pre></td></tr></table></code></div>"
)

BLANK_LINES = "a\n\n```\nb\n\n\n\nc\n```\n\n- d\n  ```\n  e\n  \n  \n  f\n  ```"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<pre>a\n  b</pre>", "```\na\n  b\n```"),
        ("<pre><code class=language-python>a</code></pre>", "```python\na\n```"),
        ("<pre class='brush: js'>a</pre>", "```js\na\n```"),
        ("<div class='highlight highlight-source-rust'><pre>a</pre></div>", "```rust\na\n```"),
        ("<div data-lang=go><pre>a</pre></div>", "```go\na\n```"),
        ("<pre class='language-plaintext'>a</pre>", "```\na\n```"),
        ("<pre>a\n```\nb</pre>", "````\na\n```\nb\n````"),
        ("<pre>a<br>b</pre>", "```\na\nb\n```"),
        ("<p>a</p><pre>b\n\n\n\nc</pre><ul><li>d<pre>e\n\n\nf</pre></ul>", BLANK_LINES),
        ("<blockquote><pre>1\\.2\n\n\nb</pre></blockquote>", "> ```\n> 1\\.2\n> \n> \n> b\n> ```"),
        ("<pre>a<span>\n&nbsp;\n</span>b\n&#12288;\nc</pre>", "```\na\n \nb\n\u3000\nc\n```"),
        ("<pre><div>a</div><div>b</div></pre>", "```\na\nb\n```"),
        ("<pre><code><span class=line>a</span><span class=line>b</span></code></pre>", "```\na\nb\n```"),
        ("<pre><code>a<b> </b>b</code></pre>", "```\na b\n```"),
        (MARKED, "```\na\n  b\n  c\nd\n```"),
        ("<pre><span class=lineno>1 </span>a\n<span class=lineno>2 </span>b</pre>", "```\na\nb\n```"),
        ("<pre><button>Copy</button>a</pre>", "```\na\n```"),
        (NUMBERED, "```\n a\n b\n c\n```"),
        (HEXO, "```js\na\nb\n```"),
        (BLOB, "```\na\n  b\n```"),
        (ROUGE, "```cpp\na\nb\n```"),
        ("<code class='x language-ts'><pre>a\nb</pre></code>", "```ts\na\nb\n```"),
        ("<div><code>a\nb</code></div>", "```\na\nb\n```"),
        ("<code>a<br>b<br>c</code>", "```\na\nb\nc\n```"),
        ("<p><code>a`b</code> <code>`</code></p>", "``a`b`` `` ` ``"),
        ("<p><code>a</code><code>b</code></p>", "`a` `b`"),
    ],
)
def test_code_is_written_line_by_line(body: str, expected: str) -> None:
    assert markdown(body) == expected


def test_figures_that_do_not_count_lines_are_code() -> None:
    assert markdown("<pre><i>61</i> + <i>97</i>\n<i>2</i></pre>") == "```\n61 + 97\n2\n```"
    assert "```\n0\n0\n1\n```" in markdown("<pre>a\nb\nc</pre><p>It gives:</p><pre>0\n0\n1</pre>")
    assert "```\n1\n2\n3\n```" in markdown("<pre>for all: count</pre><p>It gives:</p><pre>1\n2\n3</pre>")


LETTER = """<pre>
Dear all,

The meeting of tomorrow has been moved to Friday, because nobody seems to have
read the last mail. The agenda stays as it was, but we shall begin later.

Yours,
Anna
</pre>"""


def test_prose_in_lines_is_no_code() -> None:
    assert markdown(LETTER) == (
        "Dear all,\n\nThe meeting of tomorrow has been moved to Friday, because nobody seems to have"
        " read the last mail. The agenda stays as it was, but we shall begin later.\n\nYours,  \nAnna"
    )
    assert markdown(LETTER.replace("<pre>", "<pre><code>")).startswith("```")
