"""Derives the vocabulary that tells languages apart: words that many sites of one language use, and few others."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from math import log
from pathlib import Path

import msgspec
from turbohtml import parse
from turbohtml.detect import detect_language

from actors.extraction.assets import FOLDER, LANGUAGE_WORDS
from actors.extraction.parse.charset import decode
from scripts.extraction_training.data import GoldPage, pages

FILE = Path("actors/extraction", FOLDER, LANGUAGE_WORDS)

LANGUAGES = {"de": "deu", "en": "eng"}
"""Those that enough sites of the data are written in, with their names in the detector."""

WORDS = 3_000
MIN_SITES = 4
MIN_RATIO = 1.0
"""A word counts for a language from so many sites on, whose share of all is e times that among other sites."""

_WORD = re.compile(r"[^\W\d_]{2,}(?:'[^\W\d_]+)?")
_MIN_CHARS = 200
_DETECTED_CHARS = 5_000


def train(data_dir: Path) -> str:
    """Derive the vocabulary, write it as package data, and give the section of the report."""
    found = vocabulary(site_words(pages(data_dir)))
    text = msgspec.json.encode({code: " ".join(sorted(words)) for code, words in found.items()})
    FILE.write_bytes(text + b"\n")
    counts = ", ".join(f"{len(words):,} of {code}" for code, words in found.items())
    return f"## The words of languages\n\nWords that many sites of one language use, and few others: {counts}."


def site_words(pages: Iterable[GoldPage]) -> Mapping[tuple[str, str], frozenset[str]]:
    """Return the words of every site by language, of pages whose declared language the detector does not refute."""
    found: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for page in pages:
        document = parse(decode(page.body())[0], positions=False)
        declared = (document.root.attr("lang") or "") if document.root else ""
        text = str(page.gold.get("text") or document.main_text())
        code = declared.replace("_", "-").partition("-")[0].strip().lower()
        refuted = code in LANGUAGES and detect_language(text[:_DETECTED_CHARS]).language != LANGUAGES[code]
        if code and len(text) >= _MIN_CHARS and not refuted:
            folded = text.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
            found[code, page.domain()].update(_WORD.findall(folded))
    return {key: frozenset(words) for key, words in found.items()}


def vocabulary(sites: Mapping[tuple[str, str], frozenset[str]]) -> dict[str, frozenset[str]]:
    """Choose, for each language, the words that most of its sites use and few others."""
    total = Counter(code for code, _ in sites)
    return {code: frozenset(_words(sites, code, total[code], total.total() - total[code])) for code in LANGUAGES}


def _words(sites: Mapping[tuple[str, str], frozenset[str]], code: str, own: int, others: int) -> list[str]:
    here, there = Counter[str](), Counter[str]()
    for (spoken, _), words in sites.items():
        (here if spoken == code else there).update(words)
    telling = [
        (-count, word)
        for word, count in here.items()
        if count >= MIN_SITES and log((count + 0.5) / (own + 1)) - log((there[word] + 0.5) / (others + 1)) > MIN_RATIO
    ]
    return [word for _, word in sorted(telling)[:WORDS]]
