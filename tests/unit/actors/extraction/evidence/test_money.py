"""Amounts are read as they are written in many countries."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.extraction.evidence import money, product_labels


@pytest.mark.parametrize(
    ("text", "value", "code"),
    [
        ("$1,299.99", "1299.99", "USD"),
        ("1.299,00 €", "1299", "EUR"),
        ("1 299,00 Kč", "1299", "CZK"),
        ("1\u202f299,50\u00a0€", "1299.50", "EUR"),
        ("CHF 1'299.-", "1299", "CHF"),
        ("£12", "12", "GBP"),
        ("20,- EUR", "20", "EUR"),
        ("EUR15.99", "15.99", "EUR"),
        ("GBP\u00a012,99", "12.99", "GBP"),
        ("R$ 1.759,99", "1759.99", "BRL"),
        ("NT$1,200", "1200", "TWD"),
        ("US $11.99", "11.99", "USD"),
        ("₹ 1,29,999", "129999", "INR"),
        ("$24.990", "24990", "USD"),
        ("199 kr", "199", "SEK"),
        ("zł 32", "32", "PLN"),
        ("€0.999", "1.00", "EUR"),
    ],
)
def test_reads_amounts(text: str, value: str, code: str) -> None:
    (amount,) = money.amounts(text)

    assert (money.plain(amount.value), money.currency(amount.sign)) == (value, code)


def test_reads_each_amount_of_a_text() -> None:
    assert [money.plain(amount.value) for amount in money.amounts("was £15, now £12.50")] == ["15", "12.50"]


@pytest.mark.parametrize("text", ["", "free", "$", "kr kr", "1" * 60])
def test_reads_no_amount_where_none_is(text: str) -> None:
    assert [amount for amount in money.amounts(text) if amount.sign] == []


@pytest.mark.parametrize(
    ("text", "code", "value"),
    [("12.500", "EUR", "12.500"), ("24.990", "CLP", "24990"), ("12.5000", "", "12.5000"), ("1,299.00", "", "1299.00")],
)
def test_reads_numbers_of_data_with_a_point(text: str, code: str, value: str) -> None:
    assert money.number(text, "data", code) == Decimal(value)


@pytest.mark.parametrize(
    ("url", "languages", "sign", "code"),
    [
        ("https://shop.example.ca/a", (), "$", "CAD"),
        ("https://www.shop.example/en-au/a", (), "$", "AUD"),
        ("https://shop.example.com/a", ("es-CL",), "$", "CLP"),
        ("https://shop.example.co/a", ("en",), "$", "USD"),
        ("https://shop.example.dk/a", (), "kr", "DKK"),
        ("https://shop.example.com/a", ("nb-NO",), "kr.", "NOK"),
        ("https://shop.example.cn/a", (), "¥", "CNY"),
        ("https://[broken", (), "¥", "JPY"),
        ("https://shop.example.ca/a", (), "€", "EUR"),
    ],
)
def test_tells_dollars_and_crowns_apart(url: str, languages: tuple[str, ...], sign: str, code: str) -> None:
    assert money.currency(sign, money.regions(url, *languages)) == code


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("4006381333931", "4006381333931"),
        ("400-6381 333931", "4006381333931"),
        ("036000291452", "036000291452"),
        ("96385074", "96385074"),
        ("4006381333932", ""),
        ("0000000000000", ""),
        ("12345", ""),
        ("٤٠٠٦٣٨١٣٣٣٩٣١", ""),
    ],
)
def test_checks_the_numbers_of_goods(text: str, number: str) -> None:
    assert product_labels.gtin(text) == number


@given(st.text(alphabet="0123456789.,' $€krCHF-\u00a0", max_size=60))
def test_never_raises(text: str) -> None:
    assert all(amount.value >= 0 and money.plain(amount.value) for amount in money.amounts(text))
