"""Renders a tree as Markdown that stays text: what a page writes becomes no markup; what we insert does."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from turbohtml import Element, Markdown, Node, Text

from actors.extraction.parse.addresses import without_tracking
from actors.extraction.parse.text import cell_markdown
from actors.extraction.select.words import LOWERED, NUMBER, RAISED

_BREAK = "---"
_TICKS = re.compile(r"`+")
_FENCE = re.compile(r"[\s>]*(`{3,}|~{3,})")
_HEADING = re.compile(r"#{1,6} ")
_SPACE = r"&#(?:160|819\d|820[0-2]|823[239]|8287|12288);"
"""A space that is none of ASCII, as turbohtml writes it in headings."""

_NEEDLESS_SIGN = re.compile(rf"\\[._)#<~+\-\[]|{_SPACE}")
_NEEDLESS = re.compile(
    r"(?P<kept>\\[\\`]|(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`))"
    rf"|(?<=\d)\\(?=[.)](?!{_SPACE})\S)|(?<=[^\W_])\\(?=_[^\W_])|{_SPACE}"
    r"|(?P<count>(?:(?<=[*\[])|(?<=# ))\d{1,9})\\(?=[.)])"
    r"|\\(?=#\w|<[\d\s.=$]|[+-]-?[^\W_])|(?<=\s)\\(?=~[\w/$])"
    r"|\\\[(?P<bracketed>\d|\w[\w .,;:'\u2019/&%+-]{1,80})\\\](?!\\?[\[(:{])"
)
"""A number is an item of a list at the beginning of a line alone, where a space follows its stop; an underscore marks
nothing within a word, nor a sign before a word; brackets are no link without an address; no space needs an entity.
Code stays as it is."""

_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_EMPHASES = {"em": "*", "i": "*", "strong": "**", "b": "**", "del": "~~", "s": "~~", "strike": "~~"}

_BLOCKS = "p,div,pre,ul,ol,dl,table,blockquote,hr,h1,h2,h3,h4,h5,h6"
_CONTAINERS = "pre,ul,ol,dl,table,blockquote,h1,h2,h3,h4,h5,h6"
_LINE_TAGS = frozenset({*_BLOCKS.split(","), "li", "td", "th", "dt", "dd", "body", "figcaption", "figure", "section"})
_LINE_ENDS = _LINE_TAGS | {"a"}
_MARK = "*"
_CODE_TAGS = ("code", "kbd", "samp", "tt")

_AROUND_BLOCKS = ",".join(f"{tag}:has({_BLOCKS})" for tag in (*_EMPHASES, "sub", "sup", "q"))
"""Marks around blocks would stand on their lines, where a fence begins and ends no code."""

_EXPONENT = re.compile(r"(?=.*[\d+*/=\u2212-])[\w+*/=\u2212-]{2,12}")
_NOTED = re.compile(r"(?:[^\W\d_]{4}|[.,;:!?\"'\u2019\u201d])$")
"""What a figure stands behind that is the mark of a note: a whole word, or the end of a sentence."""

_INDEXED = re.compile(r"[^\W\d_]\w{0,2}")

Converter = Callable[[Element, str], str]

_VERBATIM_TAG = "weft-verbatim"
_FOOTNOTE_TAG = "weft-note"
_INDEX = "place"
_ROWS_MARK = "\x02"
"""Stands in no text that was cleaned."""

_ROWS = re.compile(r"^\|[^\n\x02]*\x02(\d+)\x02[^\n]*$", re.MULTILINE)
_IN_ADDRESS = str.maketrans({"(": "%28", ")": "%29", " ": "%20", "|": "%7C", "<": "%3C", ">": "%3E"})
_SCHEME = re.compile(r"[^\s/]*:")


def render(root: Element, own: Verbatim) -> str:
    """Write a tree as GitHub-flavoured Markdown."""
    converters: dict[str, Converter] = {
        _VERBATIM_TAG: own.write,
        _FOOTNOTE_TAG: own.write_note,
        **dict.fromkeys(_CODE_TAGS, _code),
        "sup": _raised,
        "sub": _lowered,
        "dl": _terms,
        "dd": _definition,
        **dict.fromkeys(_EMPHASES, _emphasis),
    }
    for outer in root.select(_AROUND_BLOCKS):
        outer.unwrap()
    for code in root.select("pre"):
        _set_apart(code)
    options = Markdown(
        links=Markdown.Links(autolink=False),
        tables=Markdown.Tables(header="detect", cell_blocks="text"),
        converters=converters,
    )
    markdown = _readable(root.to_markdown(options)).strip()
    return own.with_rows(_without_breaks_at_edges(markdown))


def _set_apart(code: Element) -> None:
    """Make divisions of the inline elements around a block of code.

    What follows in one would stand on the last line of the code, whose fence then ends nothing.
    """
    around = code.parent
    while isinstance(around, Element) and around.tag not in _LINE_TAGS and around.tag != "a":
        around.tag = "div"
        around = around.parent


def _without_breaks_at_edges(markdown: str) -> str:
    """Leave out thematic breaks beside what was left out; at the top one would begin front matter of YAML."""
    if markdown == _BREAK:
        return ""
    start, end = 0, len(markdown)
    while markdown.startswith(f"{_BREAK}\n", start):
        start = markdown.index("\n", start)
        while start < end and markdown[start] == "\n":
            start += 1
    while end > start and markdown.endswith(f"\n{_BREAK}", start, end):
        end -= len(_BREAK)
        while end > start and markdown[end - 1] == "\n":
            end -= 1
    return markdown[start:end]


def _readable(markdown: str) -> str:
    """Take away what hides no markup and is in a reader's way; code stays as it is."""
    lines, fence = list[str](), ""
    for line in markdown.split("\n"):
        ticks = _FENCE.match(line)
        if fence:
            fence = "" if ticks and ticks[1].startswith(fence) else fence
            lines.append(line)
            continue
        fence = ticks[1] if ticks else ""
        shown = line if fence else _without_needless(line)
        is_repeated = shown.startswith("#") and lines[-2:] == [shown, ""] and _HEADING.match(shown) is not None
        if not is_repeated and (shown or (lines and lines[-1])):
            lines.append(shown)
    return "\n".join(lines)


def _without_needless(line: str) -> str:
    """Return a line without needless backslashes and entities."""
    return _NEEDLESS.sub(_kept_or_space, line) if _NEEDLESS_SIGN.search(line) else line


def _kept_or_space(match: re.Match[str]) -> str:
    if match["bracketed"]:
        return f"[{match['bracketed']}]"
    if match["kept"] or match["count"] or match[0] == "\\":
        return match["kept"] or match["count"] or ""
    # Behind a sign a space would make an item or a heading of it.
    return " " if match.string[match.start() - 1 : match.start()].isalnum() else "\u00a0"


def _emphasis(element: Element, inner: str) -> str:
    """Set marks around words where they will be read as such; turbohtml writes HTML where they would not."""
    text = inner.strip()
    mark = _EMPHASES[element.tag]
    if not any(map(str.isalnum, text)) or _is_marked(element, mark) or not _stands_apart(element, text):
        return inner
    before = inner[: len(inner) - len(inner.lstrip())]
    return f"{before}{mark}{text}{mark}{inner[len(inner.rstrip()) :]}"


def _is_marked(element: Element, mark: str) -> bool:
    parent = element.parent
    while isinstance(parent, Element) and parent.tag not in _HEADINGS:
        if _EMPHASES.get(parent.tag) == mark:
            return True
        if parent.tag in ("p", "div", "li", "td"):
            return False
        parent = parent.parent
    return isinstance(parent, Element) and mark == "**"


def _stands_apart(element: Element, text: str) -> bool:
    """Return whether marks open and close here, as CommonMark's rules of flanking have it."""
    whole = element.text  # blanks at its ends are written outside of its marks
    before = " " if whole[:1].isspace() else _beside(element, forward=False)
    if before == _MARK or (before.isalnum() and not text[0].isalnum()):
        return False
    return whole[-1:].isspace() or text[-1].isalnum() or not _beside(element, forward=True).isalnum()


def _beside(element: Element, *, forward: bool) -> str:
    """Return the character that is written beside an element in its line: a blank at the end of it, or at a link."""
    node: Node = element
    while True:
        neighbour = node.next_sibling if forward else node.previous_sibling
        if neighbour is None:
            if not isinstance(node.parent, Element) or node.parent.tag in _LINE_ENDS:
                return " "
            node = node.parent
            continue
        node, is_marked = neighbour, False
        while isinstance(node, Element) and node.children and node.tag not in _LINE_ENDS:
            is_marked = is_marked or node.tag in _EMPHASES
            node = node.children[0 if forward else -1]
        if isinstance(node, Element) or (isinstance(node, Text) and node.data):
            text = node.data if isinstance(node, Text) else node.text if is_marked else " "
            beside = text[:1] if forward else text[-1:]
            if is_marked and not forward and not beside.isspace():
                return _MARK
            return beside if isinstance(node, Text) else " "


def _code(element: Element, _: str) -> str:
    """Fence code in more backticks than it holds, apart from code just before it."""
    text = " ".join(element.text.split())
    if not text:
        return ""
    fence = "`" * (max(map(len, _TICKS.findall(text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{' ' * _follows_code(element)}{fence}{pad}{text}{pad}{fence}"


def _raised(element: Element, inner: str) -> str:
    """Write figures raised, and a formula as an exponent; ordinals, signs and marks of notes stay as they are."""
    if element.select_one("a") is not None:
        return inner
    text = element.text.strip()
    if NUMBER.fullmatch(text):
        before = element.previous_sibling
        noted = isinstance(before, Text) and _NOTED.search(before.data) is not None
        return inner if noted else text.translate(RAISED)
    return f"^({inner.strip()})" if _EXPONENT.fullmatch(text) else inner


def _lowered(element: Element, inner: str) -> str:
    """Write figures lowered, and an index after its stroke."""
    text = element.text.strip()
    if NUMBER.fullmatch(text) and "n" not in text:
        return text.translate(LOWERED)
    return f"_{inner.strip()}" if _INDEXED.fullmatch(text) else inner


def _follows_code(element: Element) -> bool:
    node: Node = element
    while node.previous_sibling is None and isinstance(node.parent, Element) and node.parent.tag not in _LINE_TAGS:
        node = node.parent
    before = node.previous_sibling
    while isinstance(before, Element):
        if before.tag in _CODE_TAGS:
            return True
        before = before.children[-1] if before.children else before.previous_sibling
    return False


def _terms(_: Element, inner: str) -> str:
    return inner.replace("\n\n: ", "\n: ")


def _definition(element: Element, inner: str) -> str:
    if element.select_one(_CONTAINERS) is not None:
        return inner  # what does not know lists of terms would take the code in one for text
    return ": " + inner.strip().replace("\n", "\n  ")


def _linked(text: str, links: Mapping[str, str]) -> str:
    plain = cell_markdown(text)
    return f"[{plain}]({without_tracking(links[text]).translate(_IN_ADDRESS)})" if text in links else plain


class Verbatim:
    """The Markdown that stands for elements of our own.

    Their tags are ours alone once `unwrap_forged` has removed those of the page.
    """

    def __init__(self) -> None:
        # Known by their number, since elements that are made one by one have hashes that collide.
        self._texts = list[str]()
        self._rows = list[str]()

    def element(self, markdown: str) -> Element:
        """Make an element that is written as it stands."""
        return Element(_VERBATIM_TAG, {_INDEX: self._place(markdown)})

    def paragraph(self, markdown: str) -> Element:
        """Make a paragraph that is written as it stands."""
        return Element("p", None, [self.element(markdown)])

    def note(self, label: str, text: list[Node]) -> Element:
        """Make a footnote of what stands in some nodes."""
        return Element(_FOOTNOTE_TAG, {_INDEX: self._place(label)}, text)

    def rows(self, rows: Sequence[Sequence[str]], links: Mapping[str, str]) -> Element:
        """Make what stands in the last row of a table for all the rows that follow, since each element takes memory."""
        self._rows.append("\n".join(f"| {' | '.join(_linked(text, links) for text in row)} |" for row in rows))
        return self.element(f"{_ROWS_MARK}{len(self._rows) - 1}{_ROWS_MARK}")

    def with_rows(self, markdown: str) -> str:
        """Return Markdown with those rows in their place."""
        return _ROWS.sub(lambda match: self._rows[int(match[1])], markdown) if self._rows else markdown

    def write(self, element: Element, _: str) -> str:
        """Return the Markdown of an element, as a converter of turbohtml."""
        return self._text_of(element)

    def write_note(self, element: Element, inner: str) -> str:
        """Return a footnote with its label, as a converter of turbohtml."""
        text = inner.strip().replace("\n", "\n    ")
        # Who does not know footnotes would take a note that begins so for the address of a link.
        apart = "\u21a9 " if _SCHEME.match(text) and not text.startswith(("http:", "https:")) else ""
        return f"[^{self._text_of(element)}]: {apart}{text}"

    def _place(self, text: str) -> str:
        self._texts.append(text)
        return str(len(self._texts) - 1)

    def _text_of(self, element: Element) -> str:
        return self._texts[int(element.attr(_INDEX) or 0)]


def unwrap_forged(body: Element) -> None:
    """Take elements that bear our tags out of a page's tree; what stands in them stays."""
    for forged in body.select(f"{_VERBATIM_TAG},{_FOOTNOTE_TAG}"):
        forged.unwrap()


def is_verbatim(element: Element) -> bool:
    """Return whether an element is one of ours, or a paragraph around one."""
    if element.tag != "p":
        return element.tag == _VERBATIM_TAG
    first = element.children[0] if element.children else None
    return isinstance(first, Element) and first.tag == _VERBATIM_TAG
