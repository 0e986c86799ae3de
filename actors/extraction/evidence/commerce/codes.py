"""Checks the numbers that goods of the whole world bear (GTIN: EAN, UPC, ISBN-13)."""

from __future__ import annotations

import re

LENGTHS = frozenset({8, 12, 13, 14})
"""Digits of a GTIN (GS1 General Specifications, section 2)."""


def gtin(text: str) -> str:
    """Return a number whose check digit is right, "" for any other."""
    digits = re.sub(r"[\s-]", "", text[:40])
    if len(digits) not in LENGTHS or not digits.isascii() or not digits.isdigit() or len(set(digits)) == 1:
        return ""
    weighted = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(reversed(digits)))
    return digits if weighted % 10 == 0 else ""
