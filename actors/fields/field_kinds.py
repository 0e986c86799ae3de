"""Classifies the fields of pages: credentials, payment, papers of a person, or none of these (003, policy gate).

What a page says of a field is taken at its word only where it makes the field more sensitive: a field that is called a
password is one, whatever its autocomplete claims. The words are data (`package_data/field_words.toml`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from actors.fields.normalisation import folded, has_cjk
from protocol.policy import FieldFacts, FieldKind

KINDS: Final = (FieldKind.CREDENTIAL, FieldKind.PAYMENT, FieldKind.PERSONAL_ID)

AUTOCOMPLETE: Final[Mapping[str, FieldKind]] = MappingProxyType(
    {
        **dict.fromkeys(("current-password", "new-password", "one-time-code"), FieldKind.CREDENTIAL),
        **dict.fromkeys(("cc-name", "cc-given-name", "cc-additional-name", "cc-family-name"), FieldKind.PAYMENT),
        **dict.fromkeys(("cc-number", "cc-exp", "cc-exp-month", "cc-exp-year", "cc-csc", "cc-type"), FieldKind.PAYMENT),
    }
)
"""What the tokens of `autocomplete` say by themselves (HTML, autofill detail tokens)."""

_PRESSED: Final = frozenset({"submit", "button", "reset", "image", "checkbox", "radio", "range", "color", "hidden"})
_FILLED_TAGS: Final = frozenset({"input", "textarea", "select"})
_FILLED_ROLES: Final = frozenset({"textbox", "searchbox", "combobox", "spinbutton", "listbox"})
_KEYS: Final = re.compile(r"[0-9]|⌫|ok|del")
_CARD_DATE: Final = re.compile(r"\b(?:0?0|mm|12|01)\s*/\s*(?:y{2,4}|j{2,4}|a{2,4}|r{2,4}|g{2,4}|[2-9]\d)\b")
_LONGEST_WORD: Final = 6
"""Blanks within a word of the lexicon, and one more."""

_PIN_CODE: Final = re.compile(r"\bpin ?code\b")
_SHORT: Final = 3
"""A word so short is not put together of several: `t an` is no TAN."""

_OWN_CHARS: Final = 240
_AROUND_CHARS: Final = 600


class _Words(Struct, frozen=True):
    """Words of the lexicon, folded: whole ones, beginnings, and those found within others; each as it stands there."""

    whole: Mapping[str, str]
    begun: Mapping[str, tuple[tuple[str, str], ...]]
    within: tuple[tuple[str, str], ...]

    def longest(self, text: str) -> str:
        """Return the longest word that a folded text has; "" where it has none."""
        return max((word for word, _, _ in self.matches(text)), key=len, default="")

    def matches(self, text: str) -> Iterator[tuple[str, int, int]]:
        """Return each word in a folded text, with the tokens from and to which it stands there."""
        tokens = text.split(" ")
        for start in range(len(tokens)):
            joined = ""
            for end in range(start, min(start + _LONGEST_WORD, len(tokens))):
                joined += tokens[end]
                if (word := self._word(joined, is_one=start == end)) is not None:
                    yield word, start, end + 1
        if self.within and has_cjk(text):
            squeezed = text.replace(" ", "")
            yield from ((shown, 0, 0) for word, shown in self.within if word in squeezed)

    def _word(self, joined: str, *, is_one: bool) -> str | None:
        if len(joined) <= _SHORT and not is_one:
            return None
        if (word := self.whole.get(joined)) is not None:
            return word
        return next((shown for start, shown in self.begun.get(joined[:3], ()) if joined.startswith(start)), None)


class _Lexicon(Struct, frozen=True):
    """The words of one kind."""

    words: _Words
    exact: frozenset[str]
    weak: _Words
    around: _Words


def field_kind(facts: FieldFacts) -> tuple[FieldKind, str]:
    """Return what a field is for, and why in a few words; elements that nothing is typed into are ordinary."""
    if facts.secret:
        return FieldKind.CREDENTIAL, "it holds what is kept secret"
    token = next((token for token in facts.autocomplete.lower().split() if token in AUTOCOMPLETE), None)
    if token is not None:
        return AUTOCOMPLETE[token], f"its autocomplete is {token}"
    if not is_filled(facts):
        return _of_key(facts)
    own = _own(facts)
    if _is_postal(facts):
        own = [text for one in own if (text := _PIN_CODE.sub("", one).strip())]
    match = _strong(own) or _exact(own) or _dated(facts) or _weak(own, facts) or _typed(facts) or _near(facts)
    if match is None and not any((*own, facts.near, facts.heading)):
        return FieldKind.UNKNOWN, "nothing says what it is for"
    return match or (FieldKind.ORDINARY, "nothing of it is sensitive")


def is_filled(facts: FieldFacts) -> bool:
    """Whether something is typed or chosen in it, or put into it as a file."""
    tag, kind = facts.tag.lower(), facts.type.lower()
    if tag in _FILLED_TAGS:
        return kind not in _PRESSED
    return facts.role.lower() in _FILLED_ROLES or not tag


def _own(facts: FieldFacts) -> list[str]:
    """Return what a field says of itself, folded, without what is known to be harmless."""
    words = (facts.label, facts.placeholder, facts.title, facts.name, facts.id)
    return [text for one in words if (text := _without_ordinary(folded(one[:_OWN_CHARS])))]


def _strong(texts: Iterable[str]) -> tuple[FieldKind, str] | None:
    match = [(kind, word) for text in texts for kind in KINDS if (word := _lexicon(kind).words.longest(text))]
    if not match:
        return None
    kind, word = max(match, key=lambda one: len(one[1]))
    return kind, f"“{word}”"


def _exact(texts: Iterable[str]) -> tuple[FieldKind, str] | None:
    fillers = _fillers()
    for text in texts:
        left = "".join(word for word in text.split(" ") if word not in fillers and not word.isdigit())
        for kind in KINDS:
            if left in _lexicon(kind).exact:
                return kind, f"“{left}” is all it is called"
    return None


def _dated(facts: FieldFacts) -> tuple[FieldKind, str] | None:
    """Return payment where the form of a date is that on cards: month and year."""
    words = f"{facts.label} {facts.placeholder} {facts.title}".lower()
    return (FieldKind.PAYMENT, "a month and a year, as cards have them") if _CARD_DATE.search(words) else None


def _weak(own: list[str], facts: FieldFacts) -> tuple[FieldKind, str] | None:
    page = (facts.heading, facts.near, *facts.form_fields)
    around = [*own, *(folded(one[:_AROUND_CHARS]) for one in page)]
    called = [folded(one) for one in (facts.label, facts.placeholder) if one]
    is_bare = bool(called) and all(word in _fillers() for one in called for word in one.split(" "))
    for kind in KINDS:
        lexicon = _lexicon(kind)
        word = next((word for text in own if (word := lexicon.weak.longest(text))), called[0] if is_bare else "")
        if not word:
            continue
        beside = next((near for text in around if (near := lexicon.around.longest(text))), "")
        if beside:
            return kind, f"“{word}” beside “{beside}”"
    return None


def _is_postal(facts: FieldFacts) -> bool:
    """Whether a PIN code is that of a place, as in India."""
    if not any(_PIN_CODE.search(folded(one)) for one in (facts.label, facts.placeholder, facts.name)):
        return False
    if any(_lexicon(FieldKind.CREDENTIAL).around.longest(folded(one)) for one in (facts.heading, facts.near)):
        return False
    page = (facts.heading, facts.near, *facts.form_fields)
    return "postal-code" in facts.autocomplete or any(_postal().longest(folded(one)) for one in page)


def _typed(facts: FieldFacts) -> tuple[FieldKind, str] | None:
    return (FieldKind.CREDENTIAL, "its type is password") if facts.type.lower() == "password" else None


def _near(facts: FieldFacts) -> tuple[FieldKind, str] | None:
    """Return what the words around say of a field that says nothing itself."""
    if any((facts.label, facts.placeholder, facts.title)):
        return None
    match = _strong([folded(facts.near[:_OWN_CHARS]), folded(facts.heading[:_OWN_CHARS])])
    return None if match is None else (match[0], f"{match[1]} near it")


def _of_key(facts: FieldFacts) -> tuple[FieldKind, str]:
    """Return credential for a key of a pad that a PIN is entered by."""
    if _KEYS.fullmatch(folded(facts.label)) and len(folded(facts.label)) == 1:
        match = _strong([folded(facts.heading[:_OWN_CHARS]), folded(facts.near[:_OWN_CHARS])])
        if match is not None:
            return match[0], f"a key under {match[1]}"
    return FieldKind.ORDINARY, "nothing is typed into it"


# -- the lexicon -------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4_096)
def _without_ordinary(text: str) -> str:
    """Return a folded text without the phrases that are known to be harmless."""
    tokens, ordinary = text.split(" "), _ordinary()
    for _, start, end in sorted(ordinary.matches(text), key=lambda place: place[1] - place[2]):
        tokens[start:end] = [""] * (end - start)
    left = " ".join(token for token in tokens if token)
    if has_cjk(left):
        squeezed = left.replace(" ", "")
        for word, _ in ordinary.within:
            squeezed = squeezed.replace(word, " ")
        return squeezed.strip()
    return left


@cache
def _lexicon(kind: FieldKind) -> _Lexicon:
    table = _source()[kind.value]
    exact = frozenset(folded(word).replace(" ", "") for word in table["exact"])
    return _Lexicon(_words(table["words"]), exact, _words(table["weak"]), _words(table["around"]))


@cache
def _ordinary() -> _Words:
    return _words(word for kind in KINDS for word in _source()[kind.value]["ordinary"])


@cache
def _postal() -> _Words:
    return _words(_source()["postal"]["words"])


@cache
def _fillers() -> frozenset[str]:
    return frozenset(folded(word) for word in _source()["fillers"]["words"])


@cache
def _source() -> dict[str, dict[str, list[str]]]:
    return tomllib.loads(files("actors.fields").joinpath("package_data", "field_words.toml").read_text("utf-8"))


def _words(phrases: Iterable[str]) -> _Words:
    """Return words by how they are found; those of scripts without blanks stand within others, the longest first."""
    whole, begun, within = dict[str, str](), dict[str, list[tuple[str, str]]](), list[tuple[str, str]]()
    for phrase in phrases:
        squeezed = folded(phrase).replace(" ", "")
        if has_cjk(squeezed):
            within.append((squeezed, phrase))
        elif phrase.endswith("*"):
            begun.setdefault(squeezed[:3], []).append((squeezed, phrase.rstrip("*")))
        else:
            whole[squeezed] = phrase
    within.sort(key=lambda one: -len(one[0]))
    return _Words(
        MappingProxyType(whole), MappingProxyType({key: tuple(ones) for key, ones in begun.items()}), tuple(within)
    )
