"""What a key looks like, and which texts are none."""

from __future__ import annotations

import hashlib
import re

import pytest

from actors.gateway.access import keys


def test_a_key_names_its_id_and_is_known_for_one() -> None:
    made = keys.make_key()

    assert re.fullmatch(r"weft_[a-z0-9]{12}_[0-9A-Za-z]{49}", made.text)
    assert keys.id_of(made.text) == made.id
    assert made.digest == hashlib.sha256(made.text.encode()).digest()


def test_no_two_keys_are_alike() -> None:
    made = [keys.make_key() for _ in range(200)]

    assert len({one.id for one in made}) == len({one.text.split("_")[2] for one in made}) == 200


def test_a_key_shows_nowhere_but_where_it_is_asked_for() -> None:
    made = keys.make_key()

    assert repr(made) == f"MadeKey(id={made.id!r})"


@pytest.mark.parametrize("place", [5, 11, 18, 30, 60, -7, -1])
def test_a_slip_of_the_hand_is_no_key(place: int) -> None:
    text = keys.make_key().text
    slip = "0" if text[place] != "0" else "1"
    changed = list(text)
    changed[place] = slip

    assert keys.id_of("".join(changed)) is None


@pytest.mark.parametrize("text", ["", "weft_", "weft_abc_def", "x" * 67, "weft_" + "a" * 12 + "_" + "é" * 49])
def test_what_has_another_form_is_no_key(text: str) -> None:
    assert keys.id_of(text) is None


def test_a_key_ends_where_it_ends() -> None:
    text = keys.make_key().text

    assert [keys.id_of(text + more) for more in ("\n", " ", "0", "\0")] == [None] * 4
