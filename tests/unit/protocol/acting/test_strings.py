"""Action strings: written and read back without loss, in the forms that clients of 001 understand."""

from __future__ import annotations

import re
import string
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.acting.actions import ACTIONS, ActionCall, Parameter
from protocol.acting.strings import action_string, parsed

_OF_KIND = {
    Parameter.ELEMENT: st.one_of(
        st.integers(0, 10**6).map(str), st.from_regex(r"f[0-9]{1,2}_[0-9]{1,4}", fullmatch=True), st.just("007")
    ),
    Parameter.TEXT: st.one_of(st.text(), st.text(alphabet="\"'`\\,() a")),
    Parameter.NUMBER: st.one_of(st.integers(-(10**6), 10**6), st.floats(-1e6, 1e6)),
    Parameter.FLAG: st.booleans(),
    Parameter.KEYS: st.lists(st.sampled_from(["Control", "Shift", "Alt", "Meta"]), unique=True),
}


@st.composite
def _calls(draw: st.DrawFn) -> ActionCall:
    name = draw(st.sampled_from(sorted(ACTIONS)))
    kind = ACTIONS[name]
    count = draw(st.integers(kind.required, len(kind.parameters)))
    return ActionCall(name=name, arguments={key: draw(_OF_KIND[what]) for key, what in kind.parameters[:count]})


@given(_calls())
def test_what_is_written_is_read_back_the_same(call: ActionCall) -> None:
    assert parsed(action_string(call)) == call


@given(st.text(alphabet=string.printable, max_size=60))
def test_whatever_is_read_is_an_action_or_refused(text: str) -> None:
    call = None
    with suppress(ValueError):
        call = parsed(text)

    assert call is None or parsed(action_string(call)) == call


@pytest.mark.parametrize(
    ("name", "arguments", "line"),
    [
        ("click", {"element": "42"}, "click(42)"),
        ("click", {"element": "f1_5"}, 'click("f1_5")'),
        ("clickAt", {"x": 10, "y": 20.5}, "click(10, 20.5)"),
        ("setValue", {"element": "13", "value": "space x"}, 'setValue(13, "space x")'),
        ("setValue", {"element": "13", "value": 'a "b"'}, "setValue(13, 'a \"b\"')"),
        ("setValue", {"element": "3", "value": "C:\\new"}, 'setValue(3, "C:\\new")'),
        ("type", {"text": "\"'`"}, 'type("\\"\'`")'),
        ("press", {"key": "a", "modifiers": ["Control"]}, 'press("a", ["Control"])'),
        ("dragAndDrop", {"element": "3", "to": "7"}, "dragAndDrop(3, 7)"),
        ("dragTo", {"element": "3", "x": 7, "y": 9}, "dragAndDrop(3, 7, 9)"),
        ("scroll", {"element": "5"}, "scroll(5)"),
        ("scroll", {"down": False}, "scroll(false)"),
        ("finish", {}, "finish()"),
        ("fail", {"reason": "no such page"}, 'fail("no such page")'),
    ],
)
def test_the_written_form_is_that_of_001(name: str, arguments: dict[str, object], line: str) -> None:
    call = ActionCall(name=name, arguments=arguments)

    assert (action_string(call), parsed(line)) == (line, call)


@pytest.mark.parametrize(
    ("line", "name", "arguments"),
    [
        ("finish", "finish", {}),
        ("done", "finish", {}),
        ("fail", "fail", {}),
        ('click("6")', "click", {"element": "6"}),
        ("click( '6' );", "click", {"element": "6"}),
        ("click(f1_5)", "click", {"element": "f1_5"}),
        ('set_value(3, `it\'s "so"`)', "setValue", {"element": "3", "value": 'it\'s "so"'}),
        ('setValue(3, "he said "hi" twice")', "setValue", {"element": "3", "value": 'he said "hi" twice'}),
        ('setValue(3, "say \\"hi\\"", true)', "setValue", {"element": "3", "value": 'say "hi"', "clear": True}),
        ("press(Enter)", "press", {"key": "Enter"}),
        ("drag(1, 2, 3, 4)", "dragFrom", {"x": 1, "y": 2, "toX": 3, "toY": 4}),
        ('type_text(4, "x")', "setValue", {"element": "4", "value": "x"}),
        ("askUser('which one?')", "ask_user", {"question": "which one?"}),
    ],
)
def test_other_ways_of_writing_are_understood(line: str, name: str, arguments: dict[str, object]) -> None:
    assert parsed(line) == ActionCall(name=name, arguments=arguments)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("", "is no action"),
        ("fly(3)", "there is no action 'fly'"),
        ("click()", "takes (element), and 0 arguments"),
        ("setValue(3)", "takes (element, value, clear?)"),
        ('setValue(3, "a)', "is not closed"),
        ("clickAt(3, here)", "y is a number"),
        ("scroll(1, 2, 3, 4)", "4 arguments"),
        ("click(,)", "an argument is empty"),
    ],
)
def test_what_is_no_action_is_refused_with_what_is_wrong(line: str, reason: str) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)):
        parsed(line)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (ActionCall(name="fly"), "there is no action"),
        (ActionCall(name="click"), "element is missing"),
        (ActionCall(name="click", arguments={"element": "1", "depth": 2}), "it has no depth"),
        (ActionCall(name="click", arguments={"element": 1}), "element is the id of an element"),
    ],
)
def test_what_is_no_action_is_not_written(call: ActionCall, reason: str) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)):
        action_string(call)
