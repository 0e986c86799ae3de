"""Names the language in which a page is written, by what it declares and by its words."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from math import log
from types import MappingProxyType
from urllib.parse import urlsplit

import msgspec
from turbohtml.detect import detect_language

from actors.extraction.assets import LANGUAGE_WORDS, LANGUAGES, bytes_of
from protocol.confidence import Confidence, Source, confidence

_MAX_CHARS = 2_000
_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_DECLARED = re.compile(r"\s*([A-Za-z]{2,3})(?:[-_]([A-Za-z]{4}))?(?:[-_]([A-Za-z]{2}|\d{3}))?(?![A-Za-z0-9])")

_IDEOGRAPHS = re.compile("[\u3400-\u9fff\uf900-\ufaff]")
_KANA = re.compile("[\u3040-\u30ff]")
_HANGUL = re.compile("[\u1100-\u11ff\uac00-\ud7af]")
_IDEOGRAPH_LETTERS = 3
"""An ideograph says as much as so many letters."""

_KANA_SHARE = 0.15

_PRIORS = MappingProxyType({"en": 3.0, "de": 1.5, "fr": 1.0, "es": 1.0, "it": 0.7, "pt": 0.7, "pl": 0.5, "nl": 0.3})
"""How often languages are met, as the logarithm of odds."""

_FIRST_WORD = 0.05
_ANYWHERE = 3e-4
"""The share of a language's commonest word in its texts, and that of one in the texts of another."""

_LETTER_WEIGHT = 2.0
_VOCABULARY_WEIGHT = 2.5
_DETECTOR_WEIGHT = 2.0
_DETECTOR_FLOOR = 0.3
_ADDRESS_WEIGHT = 2.0

_MARGINS = ((0.0, 0.5), (1.0, 0.6), (2.0, 0.75), (4.0, 0.85), (8.0, 0.95), (16.0, 0.97), (40.0, 0.98))
"""What share of guesses is right, by how far the best language is ahead."""

_DOUBTED_MARGIN = 8.0
"""Behind by less, a declared language is believed."""

_AGREED = 0.99
_DECLARED_ALONE = 0.93
_SAME = MappingProxyType({"nb": "no", "nn": "no", "iw": "he", "in": "id", "fil": "tl", "bs": "hr", "sh": "hr"})
"""Codes between which nothing that is looked at here distinguishes."""

_COUNTRIES = MappingProxyType(
    {"at": "de", "ch": "de", "br": "pt", "mx": "es", "ar": "es", "cl": "es", "uk": "en", "us": "en", "au": "en"}
    | {"se": "sv", "dk": "da", "cz": "cs", "jp": "ja", "kr": "ko", "cn": "zh", "tw": "zh", "gr": "el", "ua": "uk"}
    | {"si": "sl", "ee": "et", "vn": "vi", "my": "ms", "ph": "tl", "ir": "fa", "il": "he", "rs": "sr", "by": "be"}
)
_ISO = MappingProxyType(
    {"eng": "en", "deu": "de", "fra": "fr", "spa": "es", "ita": "it", "por": "pt", "nld": "nl", "swe": "sv"}
    | {"dan": "da", "nob": "no", "nno": "no", "fin": "fi", "pol": "pl", "ces": "cs", "slk": "sk", "hun": "hu"}
    | {"ron": "ro", "hrv": "hr", "srp": "sr", "slv": "sl", "est": "et", "lav": "lv", "lit": "lt", "tur": "tr"}
    | {"vie": "vi", "ind": "id", "zlm": "ms", "msa": "ms", "tgl": "tl", "cat": "ca", "rus": "ru", "ukr": "uk"}
    | {"bul": "bg", "mkd": "mk", "bel": "be", "ell": "el", "cmn": "zh", "jpn": "ja", "kor": "ko", "ara": "ar"}
    | {"arb": "ar", "pes": "fa", "fas": "fa", "urd": "ur", "heb": "he", "yid": "yi", "hin": "hi", "mar": "mr"}
    | {"nep": "ne", "tha": "th", "afr": "af", "lat": "la", "kat": "ka", "hye": "hy", "ben": "bn", "tam": "ta"}
    | {"tel": "te", "kan": "kn", "mal": "ml", "guj": "gu", "pan": "pa", "sin": "si", "khm": "km", "mya": "my"}
    | {"amh": "am", "uzb": "uz", "aze": "az", "azj": "az", "tuk": "tk", "jav": "jv", "cym": "cy", "gle": "ga"}
    | {"isl": "is", "sqi": "sq", "als": "sq", "eus": "eu", "glg": "gl", "epo": "eo", "zul": "zu", "sna": "sn"}
    | {"aka": "ak", "ori": "or", "kaz": "kk", "kur": "ku", "swa": "sw", "som": "so", "hau": "ha", "yor": "yo"}
)


class _Language(msgspec.Struct, frozen=True):
    script: str
    words: str
    letters: str


class _Tables(msgspec.Struct, frozen=True):
    """The common words, with the languages that each speaks for and how much; further words, letters and scripts."""

    words: Mapping[str, tuple[tuple[str, float], ...]]
    vocabulary: Mapping[str, frozenset[str]]
    letters: Mapping[str, frozenset[str]]
    scripts: Mapping[str, str]


def language(declared: str, text: str, url: str = "") -> tuple[str, Confidence]:
    """Return the language as of BCP 47, "" where it is unknown; a region only where it is declared and the words agree.

    `declared` is what the markup says; it is believed unless the words are plainly of another language.
    """
    declared_code, region = _declared(declared)
    detected, margin = _detect(text[:_MAX_CHARS], url)
    if not detected:
        return (
            (declared_code + region, confidence(Source.META_TAGS, _DECLARED_ALONE))
            if declared_code
            else ("", _unknown())
        )
    if declared_code and _SAME.get(declared_code, declared_code) == _SAME.get(detected, detected):
        return declared_code + region, confidence(Source.META_TAGS, max(_AGREED, _score_of_margin(margin)))
    if declared_code and margin < _DOUBTED_MARGIN:
        return declared_code + region, confidence(
            Source.META_TAGS, _DECLARED_ALONE * (1 - margin / (2 * _DOUBTED_MARGIN))
        )
    return detected, confidence(Source.HEURISTIC, _score_of_margin(margin))


def _unknown() -> Confidence:
    return confidence(Source.UNKNOWN, 0.0)


def _declared(value: str) -> tuple[str, str]:
    match = _DECLARED.match(value)
    if match is None:
        return "", ""
    script = f"-{match[2].title()}" if match[2] else ""
    region = f"-{match[3].upper()}" if match[3] else ""
    return match[1].lower(), f"{script}{region}"


def _detect(text: str, url: str) -> tuple[str, float]:
    """Return the likeliest language of a text, and how far it is ahead of the next."""
    if _LETTER.search(text) is None:
        return "", 0.0
    han, kana, hangul = (len(pattern.findall(text)) for pattern in (_IDEOGRAPHS, _KANA, _HANGUL))
    eastern = han + kana + hangul
    if eastern and _IDEOGRAPH_LETTERS * eastern > len(_LETTER.findall(text)) - eastern:
        best = "ko" if hangul > han + kana else "ja" if kana > _KANA_SHARE * eastern else "zh"
        return best, float(eastern)
    match = detect_language(text)
    detector_code = _ISO.get(match.language or "", match.language or "")
    scores = _scores(text, match.script or "Latin")
    if detector_code:
        scores[detector_code] += _DETECTOR_WEIGHT * (_DETECTOR_FLOOR + match.confidence)
    for code in _from_address(url):
        if code in scores:
            scores[code] += _ADDRESS_WEIGHT
    (best, ahead), (_, behind) = sorted((*scores.items(), ("", 0.0)), key=lambda item: (-item[1], item[0]))[:2]
    return best, ahead - behind


def _scores(text: str, script: str) -> defaultdict[str, float]:
    tables = _tables()
    scores: defaultdict[str, float] = defaultdict(float)
    for code, family in tables.scripts.items():
        if family == script:
            scores[code] = _PRIORS.get(code, 0.0)
    folded = text.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    spoken = _WORD.findall(folded)
    for word in spoken:
        for code, weight in tables.words.get(word, ()):
            if code in scores:
                scores[code] += weight
    for code, vocabulary in tables.vocabulary.items():
        if code in scores:
            scores[code] += _VOCABULARY_WEIGHT * sum(map(vocabulary.__contains__, spoken))
    special = [letter for letter in folded if letter > "\x7f" and letter.isalpha()]
    for code in scores:
        own = tables.letters[code]
        telling = (letter in own for letter in special if script == "Latin" or letter in _distinctive_letters(script))
        scores[code] += sum(_LETTER_WEIGHT if is_own else -_LETTER_WEIGHT for is_own in telling)
    return scores


@cache
def _distinctive_letters(script: str) -> frozenset[str]:
    """Return the letters that not every language of a script has."""
    tables = _tables()
    letters = (tables.letters[code] for code, family in tables.scripts.items() if family == script)
    return frozenset(letter for own in letters for letter in own)


@cache
def _tables() -> _Tables:
    languages = msgspec.json.decode(bytes_of(LANGUAGES), type=dict[str, _Language])
    vocabulary = msgspec.json.decode(bytes_of(LANGUAGE_WORDS), type=dict[str, str])
    words: defaultdict[str, list[tuple[str, float]]] = defaultdict(list)
    for code, one in languages.items():
        for rank, word in enumerate(one.words.split()):
            words[word].append((code, log(2 * _FIRST_WORD / (rank + 2) / _ANYWHERE)))
    return _Tables(
        {word: tuple(codes) for word, codes in words.items()},
        {code: frozenset(further.split()) - words.keys() for code, further in vocabulary.items()},
        {code: frozenset(one.letters) for code, one in languages.items()},
        {code: one.script for code, one in languages.items()},
    )


def _from_address(url: str) -> frozenset[str]:
    """Find codes of languages where sites put them: the first label, the first segment, the country."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return frozenset()
    labels = (parts.hostname or "").split(".")
    segments = [segment for segment in parts.path.split("/") if segment]
    places = (labels[0], labels[-1], re.split("[-_]", segments[0])[0] if segments else "")
    return frozenset(_COUNTRIES.get(place, place).lower() for place in places if place)


def _score_of_margin(margin: float) -> float:
    for (low, from_share), (high, to_share) in pairwise(_MARGINS):
        if margin < high:
            return from_share + (to_share - from_share) * (margin - low) / (high - low)
    return _MARGINS[-1][1]
