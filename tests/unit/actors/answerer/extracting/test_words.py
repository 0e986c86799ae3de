"""Which labels of a page are those of which properties."""

from __future__ import annotations

from collections import Counter

import pytest

from actors.answerer.extracting.vocabulary import vocabulary
from actors.answerer.extracting.words import LIKE, FieldWords, likeness, meanings, spoken


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("startDate", "Beginn"),
        ("phone", "Téléphone :"),
        ("phone_number", "電話番号"),
        ("jobTitle", "Position"),
        ("author_name", "Written by"),
        ("prepTimeMinutes", "Preparation"),
        ("lengthKm", "Length (km)"),
        ("price", "Eintrittspreis"),
        ("waehrung", "Währung"),
        ("postalCode", "PLZ"),
        ("hotelName", "Name"),
        ("frameMaterial", "Frame material"),
        ("phone", "Mobile"),
    ],
)
def test_a_label_of_a_property(name: str, label: str) -> None:
    assert likeness(meanings(label), FieldWords.of(name)) >= LIKE


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("phone", "Fax"),
        ("mobilePhone", "Phone"),
        ("price", "Shipping price"),
        ("shippingPrice", "Price"),
        ("companyName", "Name"),
        ("newDate", "Old date"),
        ("deadline", "Start date"),
        ("email", "Address"),
        ("anything", ""),
    ],
)
def test_a_label_of_something_else(name: str, label: str) -> None:
    assert likeness(meanings(label), FieldWords.of(name)) < LIKE


def test_no_phrase_of_the_table_has_two_meanings() -> None:
    table = vocabulary().meanings
    phrases = [spoken(phrase) for meaning, others in table.items() for phrase in {meaning, *others}]

    assert [phrase for phrase, count in Counter(phrases).items() if count > 1] == []
    assert all(word in table and others <= table.keys() for word, others in vocabulary().narrower.items())


def test_a_description_says_what_the_name_does_not() -> None:
    field = FieldWords.of("x1", "Fee of the course (Kursgebühr)")

    assert likeness(meanings("Kursgebühr"), field) >= LIKE
    assert likeness(meanings("Course"), field) < LIKE


def test_the_name_of_a_part_is_not_that_of_the_whole() -> None:
    organizer = FieldWords.of("name", holder="organizer")

    assert likeness(meanings("organizer name"), organizer) == 1.0
    assert likeness(meanings("name"), organizer) < LIKE
