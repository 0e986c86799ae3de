"""What goes with the content that was kept, whatever it is taken for by itself."""

from __future__ import annotations

import numpy as np
import pytest

from actors.extraction.decide.block_arrays import BlockArrays
from actors.extraction.decide.blocks import blocks
from actors.extraction.decide.companions import companions
from actors.extraction.parse import tree

MENU = "<ul><li><a href=/x>x</a><li><a href=/y>y</a></ul>"
POST = "<div><p>a</p><div>5 points by Ann | x</div></div>"
GOODS = "<li><h3>a</h3><b>$5</b><s>$9</s></li>"
PRICED = "<li><h3>a $5</h3><i>$9</i></li>"
SPANS = "<pre>x<div>y</div>z</pre>"


@pytest.mark.parametrize(
    ("body", "kept", "expected"),
    [
        ("<p>a<div><pre>x</pre></div><p>b", "ab", "x"),
        ("<section><p>a<pre>x</pre><pre>y</pre></section><p>b", "a", "xy"),
        ("<p>a<pre>x</pre><p>b", "a", ""),
        ("<section><p>a<h2>s</h2><div><pre>x</pre></div></section><p>b", "a", "x"),
        ("<div><pre>x</pre></div><p>a", "a", "x"),
        ("<aside><pre>x</pre><p>b</aside><p>a", "a", ""),
        (f"<p>a</p>{SPANS}", "y", "xz"),
        ("<dl><dt>x<dt>y<dd>a<dt>z<dd>b</dl>", "a", "xy"),
        ("<dl><div><dt>x</dt><dd><p>y<p>a</dd></div></dl>", "a", "x"),
        ("<details><summary>x</summary><p>a</details><details><summary>y</summary><p>b</details>", "a", "x"),
        ("<p>a b c d:<ul><li>x<li>y</ul><p>z", "a", "xy"),
        ("<div><p>a b c d:</p></div><table><tr><td>x<td>y</table>", "a", "xy"),
        (f"<p>a b c d:</p>{MENU}", "a", ""),
        ("<p>a<ul><li>x<li>y</ul>", "a", ""),
        ("<p>a b:<ul><li>x<li>y</ul>", "a", ""),
        (5 * POST, "a", 5 * "5 points by Ann | x"),
        (4 * POST, "a", ""),
        (5 * POST.replace("points", "pages"), "a", ""),
        (f"<ul>{4 * GOODS}</ul>", "a", 4 * "$5$9"),
        (f"<ul>{3 * GOODS}</ul>", "a", ""),
        (f"<ul>{4 * GOODS}</ul>", "b", ""),
        (f"<ul>{4 * PRICED}</ul>", "a", ""),
    ],
)
def test_code_terms_and_what_is_announced_go_with_what_was_kept(body: str, kept: str, expected: str) -> None:
    arrays = BlockArrays.of(blocks(tree.read(f"<body>{body}", "https://site.example/")))

    found = companions(arrays, np.array([block.text[0] in kept for block in arrays.blocks]))

    assert "".join(block.text for block, is_found in zip(arrays.blocks, found, strict=True) if is_found) == expected
