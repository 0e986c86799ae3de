"""What is sealed opens with its key in its place, and nowhere else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bus.seal import Seal, UnsealError, new_key

KEY = new_key()


@given(value=st.binary(max_size=300), place=st.text(max_size=30))
def test_what_was_sealed_opens_in_its_place(value: bytes, place: str) -> None:
    assert Seal.of(KEY).unseal(Seal.of(KEY).seal(value, place), place) == value


def test_the_same_value_never_looks_the_same() -> None:
    seal = Seal.of(KEY)

    assert len({seal.seal(b"cookie", "here") for _ in range(100)}) == 100


def test_another_key_opens_nothing() -> None:
    sealed = Seal.of(KEY).seal(b"cookie", "here")

    with pytest.raises(UnsealError):
        Seal.of(new_key()).unseal(sealed, "here")


def test_what_was_moved_to_another_place_does_not_open() -> None:
    seal = Seal.of(KEY)
    sealed = seal.seal(b"cookie", "sessions alice/example.com")

    with pytest.raises(UnsealError):
        seal.unseal(sealed, "sessions bob/example.com")


@pytest.mark.parametrize("at", [0, 11, 12, 20, -1])
def test_what_was_changed_does_not_open(at: int) -> None:
    seal = Seal.of(KEY)
    sealed = bytearray(seal.seal(b"a cookie of some length", "here"))
    sealed[at] ^= 1

    with pytest.raises(UnsealError):
        seal.unseal(bytes(sealed), "here")


@given(st.binary(max_size=60))
def test_garbage_does_not_open(garbage: bytes) -> None:
    with pytest.raises(UnsealError):
        Seal.of(KEY).unseal(garbage, "here")


def test_nothing_of_the_value_shows() -> None:
    sealed = Seal.of(KEY).seal(b"sid=very-secret-value", "here")

    assert b"secret" not in sealed
    assert b"here" not in sealed


@pytest.mark.parametrize("text", ["", "short", "A" * 42, "A" * 44, "?" * 43, "ä" * 43])
def test_what_is_no_key_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"base64|bytes"):
        Seal.of(text)


def test_a_key_is_new_each_time_and_may_carry_its_padding() -> None:
    keys = {new_key() for _ in range(100)}
    key = keys.pop()

    assert len(keys) == 99
    assert Seal.of(f"{key}=").unseal(Seal.of(key).seal(b"x", "p"), "p") == b"x"
