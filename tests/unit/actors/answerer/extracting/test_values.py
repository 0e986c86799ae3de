"""What a text is read as, by the kind that is asked for."""

from __future__ import annotations

from typing import Any

import pytest

from actors.answerer.extracting.schema import Leaf, LeafKind
from actors.answerer.extracting.values import RawText, read_value
from actors.answerer.extracting.words import FieldWords

STOCK = Leaf(LeafKind.CHOICE, choices=("InStock", "OutOfStock"))


def value(kind: LeafKind | Leaf, name: str, text: str, **raw: Any) -> Any:
    leaf = kind if isinstance(kind, Leaf) else Leaf(kind)
    return read_value(leaf, FieldWords.of(name), RawText(text, **raw)).value


@pytest.mark.parametrize(
    ("kind", "name", "text", "expected"),
    [
        (LeafKind.NUMBER, "price", "1.299,00 €", 1299),
        (LeafKind.NUMBER, "price", "₹1,29,999", 129999),
        (LeafKind.NUMBER, "temperature", "-4.5 °C", -4.5),
        (LeafKind.NUMBER, "revenue", "3,2 Mio. €", 3_200_000),
        (LeafKind.NUMBER, "altitude", "2,140 m", 2140),
        (LeafKind.NUMBER, "price", "on request", None),
        (LeafKind.NUMBER, "price", "from 10 to 20 €", None),
        (LeafKind.NUMBER, "price", "on request. Copyright 2023 Kettles Ltd.", None),
        (LeafKind.NUMBER, "price", "© 2019–2023 Kettles Ltd.", None),
        (LeafKind.NUMBER, "price", "on request since 2023", None),
        (LeafKind.NUMBER, "price", "seit 2023: 89 €", 89),
        (LeafKind.NUMBER, "price", "ask us (2023)", None),
        (LeafKind.NUMBER, "price", "2023 €", 2023),
        (LeafKind.NUMBER, "price", "1500 per month", 1500),
        (LeafKind.NUMBER, "priceMin", "€70k - €85k", 70_000),
        (LeafKind.NUMBER, "priceMax", "€70k - €85k", 85_000),
        (LeafKind.INTEGER, "seats", "24席", 24),
        (LeafKind.INTEGER, "seats", "2.5", None),
        (Leaf(LeafKind.INTEGER, minimum=1), "seats", "0", None),
        (Leaf(LeafKind.NUMBER, maximum=5, exclusive=frozenset({"maximum"})), "rating", "5", None),
        (LeafKind.INTEGER, "cookTimeMinutes", "1 h 20 min", 80),
        (LeafKind.INTEGER, "prepTime", "PT1H5M", 65),
        (LeafKind.NUMBER, "totalTimeHours", "90 Minuten", 1.5),
        (LeafKind.INTEGER, "year", "47 years", None),
        (LeafKind.INTEGER, "year", "1785, in the 3rd month", 1785),
        (LeafKind.INTEGER, "year", "12000 visitors", None),
        (LeafKind.INTEGER, "year", "from 1785 to 1790", None),
        (LeafKind.INTEGER, "Baujahr", "im Mai 1926 nach 12 Jahren", 1926),
        (LeafKind.INTEGER, "founded", "12 May 1931", 1931),
        (LeafKind.INTEGER, "years_of_experience", "5 years", 5),
        (LeafKind.NUMBER, "price_per_year", "60 €", 60),
        (LeafKind.INTEGER, "jours", "8 avril 2026", None),
        (LeafKind.DATE, "date", "Samstag, 14. März 2026", "2026-03-14"),
        (LeafKind.DATE, "date", "2026年4月3日", "2026-04-03"),
        (LeafKind.DATE, "startDate", "12–14 May 2026", "2026-05-12"),
        (LeafKind.DATE, "endDate", "12–14 May 2026", "2026-05-14"),
        (LeafKind.DATE, "opened", "12 May 1931", "1931-05-12"),
        (LeafKind.DATE, "date", "next Tuesday", None),
        (LeafKind.DATE_TIME, "start", "9 May 2026, 8:30 pm", "2026-05-09T20:30:00"),
        (LeafKind.DATE_TIME, "start", "9. Mai 2026, 20 Uhr", "2026-05-09T20:00:00"),
        (LeafKind.DATE_TIME, "start", "2026-05-09T20:30:00+02:00", "2026-05-09T20:30:00+02:00"),
        (LeafKind.DATE_TIME, "start", "9 May 2026", None),
        (LeafKind.BOOLEAN, "balcony", "Ja", True),
        (LeafKind.BOOLEAN, "balcony", "✗", False),
        (LeafKind.BOOLEAN, "balcony", "on the south side", None),
        (STOCK, "availability", "Auf Lager, 3 Stück", "InStock"),
        (STOCK, "availability", "nicht verfügbar", "OutOfStock"),
        (STOCK, "availability", "soon", None),
        (Leaf(LeafKind.CHOICE, choices=(1, 2, 3)), "level", "Level 2", 2),
        (LeafKind.EMAIL, "email", "Write to ada@site.example.", "ada@site.example"),
        (LeafKind.TEXT, "phone", "Tel. +49 40 123 45 67 (mornings)", "+49 40 123 45 67"),
        (LeafKind.TEXT, "currency", "19,90 zł", "PLN"),
        (LeafKind.TEXT, "name", "  two   words ", "two words"),
        (Leaf(LeafKind.TEXT, max_length=5), "name", "too long", None),
        (LeafKind.URI, "website", "see www.site.example/a.", "https://www.site.example/a"),
    ],
)
def test_a_text_as_a_value(kind: LeafKind | Leaf, name: str, text: str, expected: Any) -> None:
    assert value(kind, name, text) == expected


def test_a_link_leads_on_and_data_are_resolved_against_their_page() -> None:
    assert value(LeafKind.URI, "url", "read more", links=("https://site.example/b",)) == "https://site.example/b"
    assert (
        value(LeafKind.URI, "image", "/c.png", data=True, base="https://site.example/d/")
        == "https://site.example/c.png"
    )


def test_programs_write_a_decimal_point_where_people_part_thousands() -> None:
    assert (value(LeafKind.NUMBER, "weight", "1.299"), value(LeafKind.NUMBER, "weight", "1.299", data=True)) == (
        1299,
        1.299,
    )


def test_a_month_stands_where_the_language_of_the_page_has_it() -> None:
    assert value(LeafKind.DATE, "date", "3/4/2026") == "2026-04-03"
    assert value(LeafKind.DATE, "date", "3/4/2026", month_first=True) == "2026-03-04"
