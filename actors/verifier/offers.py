"""Finds in the Markdown of a page what asks a reader to pay or to log in: prices by period, and links to both."""

from __future__ import annotations

# ruff: noqa: RUF001 - words of other languages
import re
from typing import NamedTuple
from urllib.parse import urlsplit

from actors.verdicts.certain import LOGIN_PATH

_OFFER = (
    r"/(?:subscri\w*|pricing|plans?|member(?:ship)?s?|offers?|join|abo|abos|abonn\w*|angebote?|suscri\w*|hazte-socio"
    r"|abbona\w*|assin\w*|planos|prenumer\w*|tarif\w*|tarieven|bli-medlem|upgrade|premium|podpisk\w*|\w*pass|checkout"
    r"|kasse|support|unlock|digital|trial|purchase|buy|kaufen|acheter|comprar)"
)
_OFFER_LINK = re.compile(rf"{_OFFER}(?:[/._?-]|$)", re.IGNORECASE)
_OFFER_PAGE = re.compile(rf"{_OFFER}(?:\.html?|/)?$", re.IGNORECASE)
_TARGET = re.compile(r"\]\(https?://[^/\s)]*([^\s)]*)")
_AMOUNT = (
    r"(?:[$€£¥₺₽₩]\s?\d[\d.,]*|(?<![\d.,])\d[\d.,]*\s?(?:[$€£¥₺₽₩円元원]|(?:kr|zł|eur|euros?|usd|chf|tl|руб)\b"
    r"|(?:c|ct|p)(?= a\b)))"
)
_PERIOD = (
    r"(?:(?:/|\b(?:per|a|an|each|pro|im|je|par|al|por|ao|i|na|in de)\b)\s?(?:week|month|mo|year|yr|day|woche|monat|jahr"
    r"|semaine|mois|an|mes|mês|semana|año|ano|mese|settimana|anno|maand|jaar|miesiąc|rok|månaden|månad|året|vecka)\b"
    r"|[月年週周월주]|ayda|aylık|yıllık|в месяц|в год)"
)
_PRICE = re.compile(_AMOUNT, re.IGNORECASE)
_PER_PERIOD = re.compile(rf"{_AMOUNT}.{{0,12}}?{_PERIOD}", re.IGNORECASE)


class OfferCounts(NamedTuple):
    """How many there are, in a part of a page."""

    login_links: int
    offer_links: int
    prices: int
    prices_per_period: int


def offers(markdown: str) -> OfferCounts:
    """Count what asks to log in or to pay."""
    targets = _TARGET.findall(markdown)
    return OfferCounts(
        login_links=sum(LOGIN_PATH.search(target) is not None for target in targets),
        offer_links=sum(_OFFER_LINK.search(target) is not None for target in targets),
        prices=len(_PRICE.findall(markdown)),
        prices_per_period=len(_PER_PERIOD.findall(markdown)),
    )


def offers_at(url: str) -> bool:
    """Return whether an address is by its last word one of subscriptions, plans or members."""
    return _OFFER_PAGE.search(urlsplit(url).path) is not None
