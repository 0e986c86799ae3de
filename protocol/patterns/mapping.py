"""How the JSON answers of an API become a page: a template of the page, whose slots are filled from the answers."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

Key = str | int
"""A step into JSON: the name of a field, or the place of an item."""

NUMBER = "#"
"""The step that leads from an item to its number among its fellows, from 1."""


class ValueSource(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where a value stands: `level` 0 is the root, which has `answers`, `slots` and `url`.

    ValueLevel n is the item of the n-th repeat around the slot; `path` leads on from there.
    """

    level: int = 0
    path: tuple[Key, ...] = ()


class AsIs(Struct, frozen=True, kw_only=True, tag="text", omit_defaults=True):
    """A text as it is, or in other letters; `words`: a name of a program as words (`in_stock`: "In stock")."""

    letters: Literal["same", "upper", "lower", "title", "words"] = "same"


class Number(Struct, frozen=True, kw_only=True, tag="number", omit_defaults=True):
    """A number: divided by ten to the power of `scale`, with `decimals` places (-1: as many as it has).

    `of_text`: JSON has it as a text. `thousands` and `mark` are the signs between its digits.
    """

    scale: int = 0
    decimals: int = -1
    thousands: str = ""
    mark: str = "."
    of_text: bool = False


class Compact(Struct, frozen=True, kw_only=True, tag="compact", omit_defaults=True):
    """A large number in short, with a letter for thousands, millions, billions; `trimmed`: without zeros at its end.

    `cut`: what is left out is cut off, not rounded. `small`: numbers below a thousand stand as they are.
    """

    decimals: int = 1
    mark: str = "."
    lower: bool = False
    trimmed: bool = False
    cut: bool = False
    small: bool = False


class Duration(Struct, frozen=True, kw_only=True, tag="duration"):
    """A duration in `unit`s: `pattern` has {h}, {m}, {s} (of two digits: {hh} and so on), and {M}, all its minutes.

    What stands in brackets in a pattern is left out where its number is 0.
    """

    pattern: str
    unit: Literal["ms", "s", "min", "iso"]


class Stars(Struct, frozen=True, kw_only=True, tag="stars", omit_defaults=True):
    """A sign for each of a number, and another one for each that is lacking to `of`."""

    of: int = 5
    full: str = "★"
    empty: str = "☆"


class Day(Struct, frozen=True, kw_only=True, tag="date", omit_defaults=True):
    """A date or time of day; `pattern` has names as `{month}`, which are written in a language."""

    pattern: str
    language: str = "en"


class JoinedAddress(Struct, frozen=True, kw_only=True, tag="address"):
    """An address, joined to that of the page."""


class Encoded(Struct, frozen=True, kw_only=True, tag="encoded"):
    """A text, percent-encoded as a segment of an address."""


class Rich(Struct, frozen=True, kw_only=True, tag="rich", omit_defaults=True):
    """Paragraphs and other blocks: of HTML, or one for every line of a plain text."""

    html: bool = False


class Count(Struct, frozen=True, kw_only=True, tag="count"):
    """How many items there are."""


class CurrencySign(Struct, frozen=True, kw_only=True, tag="currency"):
    """The sign of a currency whose code is given."""


Form = AsIs | Number | Compact | Duration | Stars | Day | JoinedAddress | Encoded | Rich | Count | CurrencySign


class Test(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is asked of a value: whether there is one ("yes", "no"), whether it is 1 ("one", "many"), or which it is.

    "code" asks which whole number it is, "count" how many items an array has.
    """

    source: ValueSource
    asks: Literal["present", "one", "value", "code", "count"] = "present"


class TemplateSlot(Struct, frozen=True, kw_only=True, tag="slot", omit_defaults=True):
    """A value, and how it is written.

    `also` would write all that was seen as well: where one of them writes it otherwise, nothing tells which is right.
    """

    source: ValueSource
    form: Form
    also: tuple[TemplateSlot, ...] = ()


class CaseChoice(Struct, frozen=True, kw_only=True, tag="choice"):
    """Pieces that depend on a value; a value that is no case is drift."""

    test: Test
    cases: dict[str, tuple[Piece, ...]]


class Join(Struct, frozen=True, kw_only=True, tag="join", omit_defaults=True):
    """Pieces for each item of an array, on one line; `repeated`: two items may be written alike."""

    source: ValueSource
    pieces: tuple[Piece, ...]
    between: str
    repeated: bool = False
    limit: int = 0
    may_lack: bool = False


Piece = str | TemplateSlot | CaseChoice | Join


class Fixed(Struct, frozen=True, kw_only=True, tag="fixed"):
    """A value that all pages share."""

    value: Any


class Raw(Struct, frozen=True, kw_only=True, tag="raw"):
    """A number or truth value as it stands in the answers."""

    source: ValueSource


class TemplateText(Struct, frozen=True, kw_only=True, tag="text"):
    """A text of pieces."""

    pieces: tuple[Piece, ...]


class Fields(Struct, frozen=True, kw_only=True, tag="fields"):
    """Named values; one whose condition is not met is left out."""

    fields: dict[str, One]


class Items(Struct, frozen=True, kw_only=True, tag="items", omit_defaults=True):
    """A list; `distinct`: of texts that the page shows, each once, and no more than `most` of them (0: all)."""

    parts: tuple[Part, ...]
    distinct: bool = False
    most: int = 0


Node = Fixed | Raw | TemplateText | Fields | Items


class One(Struct, frozen=True, kw_only=True, tag="one", omit_defaults=True):
    """A part that stands once, where the answer to `when` is `case`.

    `otherwise` are the other answers that pages had: with a further one nobody knows (none: any other will do).
    In Markdown it is a line: `gap` are the line ends before it, `indent` begins the further lines of a slot in it.
    """

    node: Node
    when: Test | None = None
    case: str = "yes"
    otherwise: tuple[str, ...] = ()
    gap: str = ""
    indent: str = ""


class Known(Struct, frozen=True, kw_only=True, tag="known"):
    """The answers to a test on all pages seen: with another one a page would say what none of them did."""

    test: Test
    cases: tuple[str, ...]


class Each(Struct, frozen=True, kw_only=True, tag="each", omit_defaults=True):
    """Parts for each item of an array, or of an object as pairs of `key` and `value`.

    `limit` is the most items that a page shows, 0: all. `first` and `between` are the line ends before items.
    `may_lack`: there may be no item. `known` holds for each item.
    """

    source: ValueSource
    parts: tuple[Part, ...]
    limit: int = 0
    first: str = ""
    between: str = ""
    may_lack: bool = False
    known: tuple[Known, ...] = ()


Part = One | Each


class PageMapping(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a page is made of: `page` has the fields of WebObservationSummary as they travel.

    `markdown` and `text` are lines. `derived` names what is read out of the Markdown in the place of a template.
    """

    page: Fields
    markdown: tuple[Part, ...]
    text: tuple[Part, ...] = ()
    derived: tuple[Literal["text", "outline", "links", "tables"], ...] = ()
    known: tuple[Known, ...] = ()
