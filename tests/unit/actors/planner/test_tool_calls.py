"""Each action of 001 becomes a call of a tool of the registry, with arguments that it takes."""

from __future__ import annotations

import re
from typing import Any

import pytest

from actors.planner.tool_calls import SURFACE, tool_call_of
from protocol.acting.actions import ACTIONS, ActionCall, Parameter, ToolKind
from protocol.acting.strings import parsed
from protocol.acting.tree import PageTree, SemanticNode, Viewport
from protocol.browsers.gestures import ClickAt, Drag, ScrollElement, SetChecked
from protocol.browsers.operations import Click, PressKey, ScrollBy, SelectOption, SetValue, TypeText, Wait
from protocol.tools.registry import arguments_of, find

PAGE = PageTree(
    url="https://loom.example/",
    nodes=(
        SemanticNode(id="1", role="inp", name="Name", value="Ada"),
        SemanticNode(id="2", role="sel", name="Colour"),
        SemanticNode(id="3", role="chk", name="Fast"),
        SemanticNode(id="4", role="slider", name="Speed"),
        SemanticNode(id="f1_5", role="btn", name="Go", frame=1),
    ),
    viewport=Viewport(width=1000.0, height=600.0),
    elements={"1": "input-name", "2": "select-colour", "3": "box-fast", "4": "slider-speed", "f1_5": "frame.go"},
)
_SAMPLES: dict[Parameter, Any] = {
    Parameter.ELEMENT: "1",
    Parameter.TEXT: "https://loom.example/a",
    Parameter.NUMBER: 1,
    Parameter.FLAG: True,
    Parameter.KEYS: ["Shift"],
}


@pytest.mark.parametrize("name", [name for name, kind in ACTIONS.items() if kind.kind is not ToolKind.SERVER])
@pytest.mark.parametrize("whole", [True, False])
def test_every_action_is_a_call_that_its_tool_takes(name: str, whole: bool) -> None:  # noqa: FBT001 - a parameter
    kind = ACTIONS[name]
    count = len(kind.parameters) if whole or name == "close" else kind.required
    arguments = {key: _SAMPLES[what] for key, what in kind.parameters[:count]}
    if name == "press":
        arguments["key"] = "Enter"

    call = tool_call_of(ActionCall(name=name, arguments=arguments), PAGE)

    assert isinstance(arguments_of(call, SURFACE), find(call.name, SURFACE).arguments)


@pytest.mark.parametrize(
    ("line", "operation"),
    [
        ('click("f1_5")', Click(element_id="frame.go")),
        ("click(12, 34)", ClickAt(x=12.0, y=34.0)),
        ('setValue(1, "Grace")', TypeText(element_id="input-name", text="Grace")),
        ('setValue(1, " L.", false)', TypeText(element_id="input-name", text="Ada L.")),
        ('setValue(2, "Red")', SelectOption(element_id="select-colour", value="Red")),
        ('setValue(3, "false")', SetChecked(element_id="box-fast", checked=False)),
        ('setValue(4, "7")', SetValue(element_id="slider-speed", value="7")),
        ("uncheck(3)", SetChecked(element_id="box-fast", checked=False)),
        ("dragAndDrop(1, 2)", Drag(element_id="input-name", to_element_id="select-colour")),
        ("dragAndDrop(1, 5, 6)", Drag(element_id="input-name", to_x=5.0, to_y=6.0)),
        ("dragAndDrop(1, 2, 3, 4)", Drag(x=1.0, y=2.0, to_x=3.0, to_y=4.0)),
        ("scroll(2)", ScrollElement(element_id="select-colour")),
        ("scroll(false, 2)", ScrollBy(delta_y=-1020.0)),
        ('press("ctrl+a")', PressKey(key="a", modifiers=("Control",))),
        ('press("+")', PressKey(key="+")),
        ("wait(2.5)", Wait(condition="time", milliseconds=2_500)),
    ],
)
def test_an_action_does_what_suits_the_element(line: str, operation: object) -> None:
    assert arguments_of(tool_call_of(parsed(line), PAGE), SURFACE) == operation


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("click(9)", "there is no element '9'"),
        ("finish()", "finish is performed by no tool"),
        ('remember("a", "b")', "remember is performed by no tool"),
        ("close()", "takes the number of a tab"),
    ],
)
def test_what_no_tool_performs_is_refused(line: str, reason: str) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)):
        tool_call_of(parsed(line), PAGE)
