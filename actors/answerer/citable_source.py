"""A source as it is cited from: its plain text, its sentences, and the documents that it came in."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from functools import cached_property

from msgspec import Struct

from actors.answerer.sentences import Sentence, SourceText, read_sentences
from actors.answerer.source import AnswerSource

# A character for a character, so that a place in the folded text is the same place in the text.
_ALIKE = {
    **dict.fromkeys(map(ord, "\n\t\r\u00a0\u2007\u202f"), " "),
    **dict.fromkeys(map(ord, "\u2018\u2019\u201a\u201b\u2032`\u00b4"), "'"),
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\u2039\u203a"), '"'),
    **dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"), "-"),
}
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]|[^\W_]+")


class Piece(Struct, frozen=True, kw_only=True):
    """A document that a source was joined of: its id, and its plain text, folded."""

    doc_id: str
    folded: str


class CitableSource(Struct, frozen=True, kw_only=True, dict=True):
    """A source with its plain text and its sentences; `pieces` where it came in several documents."""

    source: AnswerSource
    text: SourceText
    pieces: tuple[Piece, ...] = ()

    @cached_property
    def folded(self) -> str:
        """The plain text in which what looks alike is alike; each character stands where it stands in the text."""
        return fold(self.text.text)

    @cached_property
    def words(self) -> tuple[frozenset[str], ...]:
        """The words of each sentence, folded."""
        return tuple(frozenset(words_of(self.folded[one.start : one.end])) for one in self.text.sentences)

    def doc_id_of(self, start: int, end: int) -> str:
        """Return the id of the document in which a passage of the plain text stands."""
        words = self.folded[start:end]
        return next((piece.doc_id for piece in self.pieces if words in piece.folded), self.source.doc_id)

    def knows(self, doc_id: str) -> bool:
        """Return whether an id means this source."""
        return doc_id in (self.source.doc_id, self.source.source_id, *(piece.doc_id for piece in self.pieces))

    def within(self, start: int, end: int) -> tuple[Sentence, ...]:
        """Return the sentences that a passage touches."""
        first = bisect_right(self.text.sentences, start, key=lambda one: one.end)
        last = bisect_left(self.text.sentences, end, key=lambda one: one.start)
        return self.text.sentences[first:last]


def citable(source: AnswerSource, documents: tuple[tuple[str, str], ...] = ()) -> CitableSource:
    """Cut a source into sentences; `documents` are the ids and the Markdown of what it was joined of."""
    pieces = tuple(Piece(doc_id=doc_id, folded=fold(read_sentences(text).text)) for doc_id, text in documents)
    return CitableSource(source=source, text=read_sentences(source.markdown), pieces=pieces)


def fold(text: str) -> str:
    """Return a text of the same length without case, kinds of quotes, dashes and blanks, and compatibility forms."""
    return text.translate({ord(one): _folded(one) for one in set(text)})


def fold_quote(quote: str) -> str:
    """Return a quote as it is looked for in folded text: composed, and with single blanks."""
    return " ".join(fold(unicodedata.normalize("NFKC", quote)).split())


def words_of(folded: str) -> list[str]:
    """Return the words of a folded text; scripts without blanks give their characters."""
    return _WORD.findall(folded)


def _folded(character: str) -> str:
    alike = _ALIKE.get(ord(character), character)
    plain = unicodedata.normalize("NFKC", alike).casefold()
    return plain if len(plain) == 1 else alike
