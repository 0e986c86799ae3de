"""Folds words so that those that look alike are alike: width, case, accents, invisible signs, other scripts."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from types import MappingProxyType
from typing import Final

_LOOK_ALIKE: Final = MappingProxyType(
    dict(
        zip(
            # Cyrillic, Greek and others, small and as they are after casefold
            "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u04bb\u051b\u051d\u04cf\u0432\u043a\u043c\u043d\u0442"
            "\u03bf\u03b1\u03c1\u03bd\u03b9\u03ba\u03c4\u03c5\u03c7\u03b5\u03b2\u03b7\u03bc\u0251\u0261\u026a\u0131\u217c\u0585\u0578\u057d\u0570",
            "aeopcyxijsdhqwlbkmhtoapviktuxebnmagiilonuh",
            strict=True,
        )
    )
)
_PLAIN: Final = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe", "\u0131": "i", "ß": "ss"})
_CAMEL: Final = re.compile(
    r"(?<=[A-Za-z0-9])(?=[\u3040-\u30ff\u3400-\u9fff])|(?<=[\u3040-\u30ff\u3400-\u9fff])(?=[A-Za-z0-9])"
    r"|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])"
)
_TOKEN: Final = re.compile(r"[^\W_]+")
_LATIN: Final = re.compile(r"[a-z]")
_SPELT: Final = re.compile(r"(?<!\w)(?:[^\W\d_] ){2,}[^\W\d_](?!\w)")
_CJK: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_INVISIBLE: Final = ("Cf", "Mn", "Me", "Cc")


def visible(text: str) -> str:
    """Return a text in one width, without what nobody sees; blanks stay."""
    if text.isascii() and not _CONTROL.search(text):
        return text
    wide = unicodedata.normalize("NFKC", text)
    return "".join(one if one.isspace() else "" if unicodedata.category(one) in ("Cf", "Cc") else one for one in wide)


@lru_cache(maxsize=8_192)
def folded(text: str) -> str:
    """Return the words of a text, small, with one blank between: accents and look-alikes of Latin letters are gone.

    Words that are written in one with capitals or digits (cardNumber, line1) are taken apart; letters that stand
    alone one after the other (C V V) are put together.
    """
    apart = _CAMEL.sub(" ", visible(text)).casefold()
    if apart.isascii():
        words = " ".join(_TOKEN.findall(apart))
    else:
        plain = unicodedata.normalize("NFD", apart.translate(_PLAIN))
        bare = "".join(one for one in plain if one.isspace() or unicodedata.category(one) not in _INVISIBLE)
        words = " ".join(_alike(word) for word in _TOKEN.findall(bare))
    return _SPELT.sub(lambda match: match[0].replace(" ", ""), words)


def skeleton(text: str) -> str:
    """Return what a text looks like: every letter that looks like a Latin one is that letter, 0 is o, 1 is l."""
    plain = unicodedata.normalize("NFD", visible(text).casefold().translate(_PLAIN))
    bare = "".join(_LOOK_ALIKE.get(one, one) for one in plain if unicodedata.category(one) not in _INVISIBLE)
    return bare.replace("rn", "m").replace("vv", "w").replace("0", "o").replace("1", "l").replace("i", "l")


def has_cjk(text: str) -> bool:
    """Whether a text has characters of a script that writes without blanks."""
    return _CJK.search(text) is not None


def mixes_scripts(word: str) -> bool:
    """Whether a word has Latin letters beside letters of other scripts that look like Latin ones."""
    small = unicodedata.normalize("NFKC", word).casefold()
    return _LATIN.search(small) is not None and any(one in _LOOK_ALIKE and one != "\u0131" for one in small)


def _alike(word: str) -> str:
    """Return a word in Latin letters where it only looks like one, or mixes both."""
    if word.isascii():
        return word
    others = [one for one in word if not (one.isascii())]
    if all(one in _LOOK_ALIKE for one in others):
        return "".join(_LOOK_ALIKE.get(one, one) for one in word)
    return word
