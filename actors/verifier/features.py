"""Describes a claim in numbers: hashed words and characters of what it shows, phrases, structure and declared data."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from actors.verdicts.certain import LOGIN_PATH
from actors.verifier.lexicon import HashedText, folded, phrase_book, plain
from actors.verifier.offers import offers, offers_at
from protocol.pages import ErrorPage, PageClaim

BUCKETS = 1 << 15
_BUCKET_BITS = 15

_HEAD_CHARS = 300
_BODY_CHARS = 1_200
_MAIN_CHARS = 700

_HEAD_SALT, _BODY_SALT, _NAME_SALT = np.uint64(0x51ED270B), np.uint64(0x2545F491), np.uint64(0x9E3779B9)

_STATUS_NUMBER = re.compile(r"(?<!\d)(?:4\d\d|5[0-2]\d)(?!\d)")
_COMMON_STATUSES = re.compile(r"(?<!\d)(?:40[0134]|410|429|451|50[0234])(?!\d)")
_ERROR_NAMES = re.compile(
    r"(?:^|[\s_-])(?:err_[a-z]|error|not-?found|maintenance|coming-?soon|forbidden|denied|blocked)", re.IGNORECASE
)
_SHORT_WORD = 3
_ASKS_HOW = re.compile(
    r"\b(?:how|what|why|when|guide|tutorial|fix(?:ing)?|troubleshoot\w*|explained|understanding|meaning|glossary|wie|was"
    r"|warum|ratgeber|beheben|comment|pourquoi|guide|qué|cómo|por qué|guía|como|por que|perché|come|jak|proč"
    r"|nedir|как|что|почему|hoe|waarom|hur|varför)\b|[?？]|怎么|如何|为什么|什么|とは|方法|하는|이란|의미",  # noqa: RUF001
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_OG_TYPES = ("article", "website", "product")
_DECLARED = ("article", "posting", "product", "breadcrumb", "organization", "person", "event", "webpage")
_MARKS = ("empty_root", "loading_text", "skeleton", "spinner", "enable_javascript")


class Described(Struct, frozen=True):
    """A claim in numbers: where its hashed words lie (`columns`) with what weight (`values`), and its `dense` ones."""

    columns: NDArray[np.int64]
    values: NDArray[np.float32]
    dense: NDArray[np.float32]


def describe(claim: PageClaim) -> Described:
    """Describe a claim; the status is left out, for the rules know what it means."""
    traits, content = claim.evidence.traits, claim.opening.content
    heads = dict.fromkeys(line for line in (traits.title, traits.h1, content.title) if line)
    head = HashedText.of(folded(" ".join(heads)[:_HEAD_CHARS]))
    main = HashedText.of(folded(plain(content.markdown[: 2 * _MAIN_CHARS])[:_MAIN_CHARS]))
    shown = HashedText.of(folded(claim.evidence.visible))
    body = HashedText.of(folded(f"{main.text} {claim.evidence.visible}"[:_BODY_CHARS]))
    names = HashedText.of(folded(traits.names[:_HEAD_CHARS]))
    zones = (
        _hashed([head.pieces(3), head.pieces(4), head.pieces(5), head.words(1), head.words(2)], _HEAD_SALT),
        _hashed([body.pieces(4), body.pieces(5), body.words(1), body.words(2)], _BODY_SALT),
        _hashed([names.words(1), names.words(2)], _NAME_SALT),
    )
    phrases = [part for zone in (head, main, shown) for part in phrase_book().counts(zone)]
    counted = [np.log1p(part) if at % 2 == 0 else part for at, part in enumerate(phrases)]
    in_all = np.array([part.sum() for part in counted], np.float32)
    dense = np.concatenate([*counted, in_all, _structure(claim)])
    return Described(
        np.concatenate([columns for columns, _ in zones]),
        np.concatenate([values for _, values in zones]),
        dense.astype(np.float32),
    )


def _hashed(parts: list[NDArray[np.uint64]], salt: np.uint64) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the buckets of what a zone holds, each once, with weights of length 1."""
    hashes = np.concatenate(parts)
    if not len(hashes):
        return np.zeros(0, np.int64), np.zeros(0, np.float32)
    with np.errstate(over="ignore"):
        mixed = (hashes ^ (salt << np.uint64(32))) * np.uint64(0xFF51AFD7ED558CCD)
    held = np.zeros(BUCKETS, np.bool_)
    held[(mixed >> np.uint64(64 - _BUCKET_BITS)).astype(np.int64)] = True
    columns = np.flatnonzero(held)
    return columns, np.full(len(columns), 1 / np.sqrt(len(columns)), np.float32)


def _structure(claim: PageClaim) -> NDArray[np.float32]:
    return np.array(list(structure(claim).values()), np.float32)


def structure(claim: PageClaim) -> dict[str, float]:
    """Return what is known of a page but its words: sizes as logarithms, shares from 0 to 1, facts as 0 or 1."""
    sizes = {name: float(np.log1p(max(value, 0))) / 4 for name, value in _sizes(claim).items()}
    return sizes | _shares(claim) | {name: float(value) for name, value in _facts(claim).items()}


def _sizes(claim: PageClaim) -> dict[str, int]:
    shown, traits = claim.evidence, claim.evidence.traits
    words = claim.opening.content.markdown
    return {
        "chars": traits.chars,
        "chrome": traits.chrome_chars,
        "outside": traits.chars - traits.chrome_chars,
        "main": traits.main_chars,
        "content": shown.content_length,
        "html": traits.html_chars,
        "links": traits.links,
        "links_within": traits.links_within,
        "headings": traits.headings,
        "paragraphs": traits.paragraphs,
        "inputs": traits.inputs,
        "buttons": traits.buttons,
        "images": traits.images,
        "styles": traits.styles,
        "scripts": shown.scripts,
        "title": len(traits.title),
        "h1": len(traits.h1),
        "markdown_links": words.count("]("),
        "markdown_heads": words.count("\n#"),
        "markdown_lines": words.count("\n\n"),
        "prose": traits.prose_chars,
        "longest": traits.longest,
        "blocks": traits.blocks,
        "inline_links": traits.inline_links,
        "items": traits.items,
        "cells": traits.cells,
        "description": traits.description,
        "metas": traits.metas,
        "alternates": traits.alternates,
        "years": len(_YEAR.findall(shown.visible)),
        "digits": sum(map(str.isdigit, shown.visible[:500])),
    } | offers(words)._asdict()


def _shares(claim: PageClaim) -> dict[str, float]:
    shown, traits, slug = claim.evidence, claim.evidence.traits, _slug(claim.final_url)
    chars = max(traits.chars, 1)
    return {
        "chrome_share": traits.chrome_chars / chars,
        "main_share": traits.main_chars / chars,
        "content_share": min(shown.content_length / chars, 2.0),
        "prose_share": traits.prose_chars / chars,
        "longest_share": traits.longest / chars,
        "link_density": min(traits.links * 20 / chars, 2.0),
        "text_density": chars / max(traits.html_chars, 1),
        "title_in_address": _overlap(traits.title, slug),
        "h1_in_address": _overlap(traits.h1, slug),
        "title_h1": _overlap(traits.title, folded(traits.h1)),
    }


def _facts(claim: PageClaim) -> dict[str, bool]:
    shown, traits = claim.evidence, claim.evidence.traits
    head = f"{traits.title} {traits.h1}"
    facts = {
        "password": traits.passwords > 0,
        "form": traits.forms > 0,
        "noindex": traits.noindex,
        "free": traits.free is True,
        "not_free": traits.free is False,
        "elsewhere": traits.canonical_elsewhere,
        "refresh": traits.refresh,
        "no_title": not traits.title,
        "no_h1": not traits.h1,
        "no_styles": not traits.styles,
        "status_in_head": bool(_STATUS_NUMBER.search(head)),
        "common_status_in_head": bool(_COMMON_STATUSES.search(head)),
        "common_status_shown": bool(_COMMON_STATUSES.search(shown.visible[:500])),
        "error_in_names": bool(_ERROR_NAMES.search(traits.names)),
        "status_in_names": bool(_COMMON_STATUSES.search(traits.names)),
        "login_path": bool(LOGIN_PATH.search(urlsplit(claim.url).path)),
        "offer_path": offers_at(claim.url),
        "home": urlsplit(claim.final_url).path in ("", "/"),
        "semantic": bool(shown.semantic),
        "login_form": shown.login_form,
        "says_not_found": shown.error_page is ErrorPage.NOT_FOUND,
        "says_error": shown.error_page is ErrorPage.SERVER_ERROR,
        "consent_wall": shown.consent_wall,
        "challenge": bool(shown.challenge),
        "markup": shown.markup,
        "cut_short": bool(shown.cut_short),
        "og": bool(traits.og_type),
        "asks_how": bool(_ASKS_HOW.search(head)),
        "canonical": traits.canonical,
        "current": traits.current,
        "dated": traits.dated,
        "signed": traits.signed,
        "declared": bool(traits.declared),
    }
    declared = traits.declared.lower()
    facts |= {f"declared_{kind}": kind in declared for kind in _DECLARED}
    facts |= {f"og_{kind}": traits.og_type == kind for kind in _OG_TYPES}
    return facts | {mark: mark in shown.incomplete for mark in _MARKS}


def _slug(url: str) -> str:
    try:
        return folded(unquote(urlsplit(url).path))
    except ValueError:
        return ""


def _overlap(line: str, words: str) -> float:
    """Return the share of the longer words of a line that stand among others."""
    longer = [word for word in folded(line).split() if len(word) > _SHORT_WORD]
    return sum(f" {word} " in words for word in longer) / len(longer) if longer else 0.0
