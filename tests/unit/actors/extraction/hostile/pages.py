"""Pages that are made to hurt, in any size: `1.0` is what a fetcher must survive."""

from __future__ import annotations

from collections.abc import Callable, Mapping

Made = Callable[[float], bytes]

_WORDS = b"warp and weft, "
_JSON_LD = b'<script type="application/ld+json">%s</script>'


def _repeated(piece: bytes, times: int, before: bytes = b"", after: bytes = b"") -> Made:
    return lambda scale: before + piece * max(int(times * scale), 1) + after


def _nested(opening: bytes, closing: bytes, times: int, inner: bytes = b"weft") -> Made:
    return lambda scale: opening * int(times * scale) + inner + closing * int(times * scale)


def _attributes(scale: float) -> bytes:
    return b"<div " + b" ".join(b"a%d=1" % number for number in range(int(1_000_000 * scale))) + b">weft</div>"


def _references(scale: float) -> bytes:
    return b"".join(b"&#%d;&am&unknown%d;" % (number % 70_000, number) for number in range(int(300_000 * scale)))


def _columns(scale: float) -> bytes:
    row = b"<tr>" + b"<td rowspan=65534 colspan=1000>weft</td>" * 20 + b"</tr>"
    return b"<table>" + row * max(int(1_000 * scale), 1) + b"</table>"


def _items(scale: float) -> bytes:
    count = max(int(3_000 * scale), 3)
    item = b"<div itemscope itemprop=x id=i%d itemref=i%d><p itemprop=name>weft</p></div>"
    return b"".join(item % (number, (number + 1) % count) for number in range(count))


PAGES: Mapping[str, Made] = {
    "levels": _repeated(b"<div>", 200_000, after=b"weft"),
    "levels, closed": _nested(b"<section>", b"</section>", 200_000),
    "levels of formatting": _repeated(b"<b><i><u><p>", 50_000, after=b"weft"),
    "levels of lists": _repeated(b"<ul><li>weft", 100_000),
    "levels of quotes": _repeated(b"<blockquote><p>weft", 100_000),
    "levels of tables": _repeated(b"<table><tr><td>", 50_000, after=b"weft"),
    "levels of svg": _repeated(b"<svg><g>", 100_000),
    "levels of noscript": _repeated(b"<noscript>", 100_000),
    "levels of details": _repeated(b"<details><summary>weft</summary>", 50_000),
    "text": _repeated(_WORDS, 3_400_000, b"<article><p>"),
    "text without spaces": _repeated(b"w", 50_000_000, b"<p>"),
    "text in one line of many": _repeated(b"weft<br>", 1_000_000),
    "ideographs": _repeated("纬线".encode(), 2_000_000, b"<p>"),
    "paragraphs": _repeated(b"<p>" + _WORDS, 1_000_000),
    "list items": _repeated(b"<li>weft", 1_000_000, b"<ul>"),
    "links": _repeated(b"<a href='/weft'>weft</a> ", 300_000),
    "links of one name": _repeated(b"http://", 100_000, b"<a href='", b"'>weft</a>"),
    "headings": _repeated(b"<h1>weft", 300_000),
    "attributes": _attributes,
    "one attribute again": _repeated(b"a=1 ", 1_000_000, b"<div ", b">weft</div>"),
    "giant class": _repeated(b"weft ", 2_000_000, b"<div class='", b"'><p>weft</p></div>"),
    "giant classes": _repeated(b"<div class='" + b"weft-" * 2_000 + b"'>weft</div>", 1_000),
    "giant style": _repeated(b"color:red;", 500_000, b"<p style='", b"'>weft"),
    "style sheet": _repeated(
        b".weft>.warp+p:not(.x){display:none}", 200_000, b"<style>", b"</style><p class=weft>weft"
    ),
    "selectors": _repeated(b"*", 200_000, b"<style>", b"{display:none}</style><p>weft"),
    "unclosed tags": _repeated(b"<", 3_000_000),
    "unclosed comments": _repeated(b"<!--", 1_000_000),
    "unclosed scripts": _repeated(b"<script>", 500_000),
    "unclosed attributes": _repeated(b"<a href='", 500_000),
    "empty elements": _repeated(b"<i></i>", 500_000),
    "entities": _repeated(b"&amp;", 2_000_000),
    "references": _references,
    "wide table": _columns,
    "rows": _repeated(b"<tr><td>warp<td>weft", 200_000, b"<table>"),
    "cards": _repeated(b"<div class=card><h3><a href=/1>weft</a></h3><p>1.00</p></div>", 50_000, b"<main>"),
    "zeros": _repeated(b"<p>we\x00ft</p>", 200_000),
    "broken utf-8": _repeated(b"we\xff\xfe\xc3\x28\x80ft ", 1_000_000, b"<p>"),
    "lone surrogates": _repeated(b"we\xed\xa0\x80ft&#xD800; ", 500_000, b"<p>"),
    "directions": _repeated("\u202eweft\u200b".encode(), 500_000, b"<p>"),
    "combining marks": _repeated("\u0301".encode(), 2_000_000, b"<p>w"),
    "many json-ld": _repeated(_JSON_LD % b'{"@type":"Article","headline":"Weft"}', 10_000, after=b"<p>weft"),
    "broken json-ld": _repeated(_JSON_LD % b"{'@type': 'Article', headline: 'We\nft',,}", 10_000, after=b"<p>weft"),
    "deep json-ld": lambda scale: _JSON_LD % (b'{"a":[' * int(200_000 * scale)) + b"<p>weft",
    "long json-ld": lambda scale: _JSON_LD % (b'{"a":"' + b"\\" * int(1_000_001 * scale) + b'"}') + b"<p>weft",
    "state": _repeated(b"[{a:", 200_000, b"<script>window.__INITIAL_STATE__=", b"</script><p>weft"),
    "flight": _repeated(b'<script>self.__next_f.push([1,"1:T5,weft2:[\\"$1\\"]\\n"])</script>', 20_000),
    "formulas": _repeated(b"<math><mrow><mi>x</mi>", 50_000),
    "code": _repeated(b"<pre><code>`", 50_000),
    "prices": _repeated(b"$1,", 500_000, b"<p>"),
    "digits": _repeated(b"1", 5_000_000, b"<time>", b"</time>"),
    "dates": _repeated(b"1.1.2024 ", 300_000, b"<p class=date>"),
    "addresses": _repeated(b"a@a.a", 500_000, b"<p>"),
    "brackets": _repeated(b"[](", 1_000_000, b"<p>"),
    "bars": _repeated(b" | ", 500_000, b"<title>", b"</title><p>weft"),
    "bylines": _repeated(b"by By by ", 300_000, b"<p class=byline>"),
    "forms": _repeated(b"<form><input name=a><select><option>1", 50_000),
    "metas": _repeated(b"<meta property='og:title' content='weft'>", 100_000),
    "bases": _repeated(b"<base href='http://a/'>", 100_000, after=b"<a href=x>weft"),
    "long base": lambda scale: (
        b"<base href='http://a/" + b"a/" * int(700_000 * scale) + b"'>" + b"<a href=x>weft</a>" * int(10_000 * scale)
    ),
    "lines in a class": _repeated(b"-", 1_000_000, b"<div class='", b"!'><p>weft</p></div>"),
    "lines below each other in a class": _repeated(b"_-", 500_000, b"<ul><li class='", b"!'>weft</ul>"),
    "breaks": _repeated(b"---\n", 300_000, b"<pre>weft\n", b"</pre>"),
    "breaks at the top": _repeated(b"<hr>", 300_000, after=b"<p>weft"),
    "names of a property": _repeated(
        b"p ", 200_000, b"<div itemscope><p itemprop='", b"'>" + _WORDS * 5_000 + b"</div>"
    ),
    "properties in properties": _repeated(
        b"<div itemprop=a>", 1_300, b"<div itemscope>", _WORDS * 50_000 + b"</div>" * 1_300
    ),
    "properties of rdfa": _repeated(
        b"p ",
        200_000,
        b"<div vocab='https://schema.org/' typeof=Thing><p property='",
        b"'>" + _WORDS * 5_000 + b"</div>",
    ),
    "items that refer to each other": _items,
}
