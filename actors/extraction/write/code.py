"""Brings blocks of code back to their lines and their language, without numbers and buttons beside them.

Prose that stands in `<pre>` for its lines alone, as in mails, becomes paragraphs.
"""

from __future__ import annotations

import re

from turbohtml import Element, Node, Text

_GUTTERS = (
    ".lineno,.linenos,.lineNumber,.line-number,.line-numbers,.line-numbers-rows,.linenumber,.linenumbers,.ln,.lnt,"
    ".gutter,.rouge-gutter,.hljs-ln-numbers,.hljs-ln-n,.blob-num,.code-line-number,.react-syntax-highlighter-line-number,"
    ".LineNumbers,.line_number,.crayon-nums"
)
_CODE_CELLS = "td.gutter,td.linenos,td.lineno,td.line-numbers,td.rouge-gutter,td.hljs-ln-numbers,td.blob-num"
_LINES = ".line,.code-line,.token-line,.view-line,.CodeMirror-line,.cl,[data-line]"
_MARKED_LINES = "[class*=highlight-code-line],[class*=highlighted-line],.line-highlight,.highlight-line"
_BUTTONS = "button,.copy,.copy-button,.btn-copy,.clipboard-copy,.code-header,.code__header,.toolbar"
_NUMBERED = re.compile(r"[\d\s.:|]*")
_DIGITS = re.compile(r"\d+")
_BREAKING = "div,p,li,tr"
_LANGUAGE = re.compile(
    r"(?:^|\s)(?:highlight\s+(?!highlight)|language-|lang-|highlight-source-|highlight-text-|brush:\s*|code-|src-|sourceCode\s+|hljs\s+|prettyprint\s+lang-)"
    r"([A-Za-z][\w+#.-]{0,24})"
)
_LANGUAGE_ATTRIBUTES = ("data-lang", "data-language", "data-code-language", "language")
_NO_LANGUAGE = frozenset({
    "block", "text", "plaintext", "plain", "none", "txt", "nohighlight", "highlight", "default", "wrapper",
    "container", "toolbar", "box", "fence", "snippet", "copy", "line-numbers", "raw", "auto", "no-highlight",
    "unknown",
})  # fmt: skip
_FEW_WORDS = 30
_WORDS_A_LINE = 4
_SIGN_SHARE, _SPOKEN_SHARE = 0.008, 0.85
_LONG_LINE = 45
_SIGNS = "{}[]<>=;|\\$_~^`#@*"
_PUNCTUATION = ".,;:!?()\"'\u2018\u2019\u201c\u201d\u2013\u2014-"
_SENTENCE = re.compile(r"[^\W\d_]{2,}[.!?](?:\s|$)")
_LAID_OUT = re.compile(r"\S {3,}\S|\S\t+\S")
_EMPTY_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_MARKED = "code,kbd,samp,span[class],a.line,.line"
"""What prose in `<pre>` has not: elements of code, and colours of a program."""

_LEAVES = ("span", "div", "a", "td", "i", "b", "em", "small")
_PAIR = 2
_WRAPPERS = 3
"""Elements around a block of code whose attributes may name its language."""

_MAX_BLOCKS = 2_000


def rewrite_code(body: Element) -> None:
    """Rewrite each block of code of a pruned tree as its plain lines, with the language as turbohtml reads it."""
    for outer in body.select("code:has(pre),code:has(table)"):
        _unwrap(outer)
    for outer in body.select("code"):
        if "\n" in outer.text.strip() and _is_displayed(outer):
            outer.wrap(Element("pre"))
    for table in body.select(f"table:has({_CODE_CELLS})"):
        _unfold(table)
    for block in body.select("pre")[:_MAX_BLOCKS]:
        if _is_prose(block):
            block.replace_with(*_paragraphs(block.text))
        else:
            _rewrite_block(block)
    for short in body.select("code:has(br)"):
        if short.closest("pre") is None and len(short.select("br")) > 1:
            _rewrite_block(short.wrap(Element("pre")))


def _unwrap(outer: Element) -> None:
    # Code around blocks: its language belongs to them.
    if outer.closest("pre") is None:
        language = _language(outer)
        for block in outer.select("pre") if language else ():
            if not _declared_language(block):
                block.attrs["data-lang"] = language
        outer.unwrap()


def _is_displayed(element: Element) -> bool:
    if element.closest("pre") is not None:
        return False
    names = (element.attr("class") or "").split()
    lonely = isinstance(element.parent, Element) and element.parent.text.strip() == element.text.strip()
    return "block" in names or (lonely and element.parent is not None)


def _rewrite_block(block: Element) -> None:
    for extra in (*block.select(_GUTTERS), *block.select(_BUTTONS)):
        if extra.tag == "button" or _NUMBERED.fullmatch(extra.text) or _is_title(extra):
            extra.extract()
    _drop_numbers(block)
    text = _text(block)
    if not text.strip() or _numbers_lines(block, text):
        block.extract()
        return
    language = _language(block)
    block.replace_with(_fenced(text, language))


def _is_title(element: Element) -> bool:
    """Return whether an element above code says one word, which names its language."""
    return "header" in (element.attr("class") or "") and len(element.text.split()) <= 1


def _is_prose(block: Element) -> bool:
    """Return whether what stands in `<pre>` are sentences: few signs, no columns, no marks of a program."""
    text = block.text
    words = text.split()
    if len(words) < _FEW_WORDS or _LAID_OUT.search(text) or block.select_one(_MARKED) is not None or _language(block):
        return False
    lines = [line for line in text.splitlines() if line.strip()]
    signs = sum(map(text.count, _SIGNS))
    indented = sum(line[0].isspace() for line in lines)
    spoken = sum(word.strip(_PUNCTUATION).isalpha() for word in words)
    return (
        len(words) >= _WORDS_A_LINE * len(lines)
        and signs <= _SIGN_SHARE * len(text)
        and indented <= len(lines) // 3
        and spoken >= _SPOKEN_SHARE * len(words)
        and _SENTENCE.search(text) is not None
    )


def _paragraphs(text: str) -> list[Element]:
    """Return a paragraph for what stands between empty lines: long lines flow, short ones stay apart."""
    paragraphs: list[Element] = []
    for part in _EMPTY_LINES.split(text.strip()):
        lines = [line.strip() for line in part.splitlines() if line.strip()]
        nodes: list[Node] = []
        for line, after in zip(lines, [*lines[1:], ""], strict=True):
            nodes.append(Text(line))
            if after:
                flows = len(line) >= _LONG_LINE and after[0].isalnum()
                nodes.append(Text(" ") if flows else Element("br"))
        paragraphs.append(Element("p", None, nodes))
    return paragraphs


def _fenced(text: str, language: str) -> Element:
    return Element(
        "pre", None, [Element("code", {"class": f"language-{language}"} if language else None, [Text(text)])]
    )


def _drop_numbers(block: Element) -> None:
    """Take out a column of numbers that stands in elements of its own: 1, 2, 3, …, one a line."""
    if not block.text.lstrip()[:1].isdigit():
        return
    numbers = [each for each in block.iter_elements(_LEAVES) if each.text.strip().isdigit() and len(each.children) == 1]
    counted = list[Element]()
    expected = int(numbers[0].text.strip()[:9]) if numbers else 0
    for number in numbers:
        if number.text.strip() == str(expected):
            counted.append(number)
            expected += 1
    if len(counted) >= max(_PAIR, block.text.count("\n") - 1):
        for each in counted:
            each.extract()


def _numbers_lines(block: Element, text: str) -> bool:
    """Return whether a block is a column of numbers, one for each line of the code beside it; output is none."""
    if not _NUMBERED.fullmatch(text):
        return False
    numbers = [int(number[:9]) for number in _DIGITS.findall(text)]
    if not numbers or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return False
    parent = block.parent
    holders = (parent, parent.parent if parent is not None else None)
    others = (other for holder in holders if holder is not None for other in holder.select("pre"))
    return any(other is not block and abs(_lines_of(other) - len(numbers)) <= 1 for other in others)


def _lines_of(code: Element) -> int:
    return max(code.text.strip("\n").count("\n"), len(code.select("br"))) + 1


def _text(block: Element) -> str:
    """Return the text of a block with a line for each `<br>` and for each element that is one."""
    if "\n" not in block.text and (lines := block.select(_LINES)) and len(lines) > 1:
        return "\n".join(line.text for line in lines)
    for end in block.select("br"):
        end.replace_with(Text("\n"))
    for line in block.select(_MARKED_LINES):
        _set_apart(line)
    for line in block.select(_BREAKING):
        if line.select_one(_BREAKING) is None and not line.text.endswith("\n"):
            line.append(Text("\n"))
    return block.text.strip("\n")


def _set_apart(line: Element) -> None:
    """End the line before one that is shown as a block of its own, and that one, where no text does."""
    before, after = line.previous_sibling, line.next_sibling
    if before is not None and not before.text.endswith("\n"):
        line.insert_before(Text("\n"))
    if after is not None and not after.text.startswith("\n") and not line.text.endswith("\n"):
        line.insert_after(Text("\n"))


def _language(block: Element) -> str:
    inner = block.select_one("code")
    holders: list[Node | None] = [inner, block]
    holder: Node | None = block
    for _ in range(_WRAPPERS):
        holder = holder.parent if holder is not None else None
        holders.append(holder)
    for each in holders:
        if isinstance(each, Element) and (language := _declared_language(each)):
            return language
    return ""


def _declared_language(element: Element) -> str:
    for name in _LANGUAGE_ATTRIBUTES:
        if value := element.attr(name):
            return _language_name(value)
    for value in _LANGUAGE.findall(element.attr("class") or ""):
        if language := _language_name(value):
            return language
    return ""


def _language_name(name: str) -> str:
    plain = name.strip().lower()
    return plain if plain not in _NO_LANGUAGE and re.fullmatch(r"[\w+#.-]{1,25}", plain) else ""


def _unfold(table: Element) -> None:
    """Put the code of a table of numbers and lines in its place."""
    lines = list[str]()
    for row in table.select("tr"):
        cells = [cell for cell in row.select("td") if not cell.matches(_CODE_CELLS)]
        lines.append("".join(_text(cell) for cell in cells))
    text = "\n".join(lines)
    if not text.strip():
        return
    if table.closest("pre") is not None:
        table.replace_with(Text(text))
    else:
        table.replace_with(_fenced(text, _language(table.select_one("pre code,pre,code") or table)))
