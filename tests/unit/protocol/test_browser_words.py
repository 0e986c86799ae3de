"""Operations of a browser travel without the words that they put into fields, which are sealed beside them."""

from __future__ import annotations

import msgspec
import pytest

from protocol.browsers.gestures import TypeKeys
from protocol.browsers.operations import (
    HandleDialog,
    Operation,
    SelectOption,
    SetValue,
    TypeText,
    with_words,
    words_of,
)
from protocol.browsers.sessions import AskBrowser


@pytest.mark.parametrize(
    "operation",
    [
        TypeText(element_id="input_a", text="words"),
        TypeKeys(text="words"),
        SetValue(element_id="input_a", value="words"),
        SelectOption(element_id="select_a", value="words"),
        HandleDialog(action="accept", text="words"),
    ],
    ids=lambda operation: type(operation).__name__,
)
def test_an_operation_travels_without_its_words(operation: Operation) -> None:
    sent = msgspec.json.encode(AskBrowser(do=with_words(operation, ""), caller="someone", typed=b"sealed"))
    came = msgspec.json.decode(sent, type=AskBrowser).do

    assert words_of(came) == ""
    assert with_words(came, "words") == operation
