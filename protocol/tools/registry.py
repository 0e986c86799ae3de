"""THE table of tools: every tool once; by it calls are validated, listed, described, routed and decided about."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec
from msgspec import Struct

from protocol.packets import ToolCall
from protocol.tools.app import APP_TOOLS
from protocol.tools.browser import BROWSER_TOOLS
from protocol.tools.collections import COLLECTION_TOOLS
from protocol.tools.flows import FLOW_TOOLS
from protocol.tools.patterns import PATTERN_TOOLS
from protocol.tools.runs import RUN_TOOLS
from protocol.tools.tool import Surface, Tool
from protocol.tools.web import WEB_TOOLS

TOOLS: Final[Mapping[str, Tool[Any]]] = MappingProxyType(
    {**WEB_TOOLS, **BROWSER_TOOLS, **RUN_TOOLS, **FLOW_TOOLS, **COLLECTION_TOOLS, **APP_TOOLS, **PATTERN_TOOLS}
)
"""Every tool by its own name."""


def named_on(surface: Surface) -> Mapping[str, Tool[Any]]:
    """Return the tools by what a surface calls them; to a model of ours only what it may propose."""
    proposed = surface is Surface.LLMCP
    return MappingProxyType({tool.name_on(surface): tool for tool in TOOLS.values() if tool.proposable or not proposed})


_NAMED: Final = MappingProxyType({surface: named_on(surface) for surface in Surface})


def find(name: str, surface: Surface = Surface.LLMCP) -> Tool[Any]:
    """Return the tool that a surface calls like that.

    Raises:
        ValueError: there is none.
    """
    tool = _NAMED[surface].get(name)
    if tool is None:
        msg = f"there is no tool {name!r}"
        raise ValueError(msg)
    return tool


def find_anywhere(name: str) -> tuple[Tool[Any], Surface]:
    """Return the tool that any surface calls like that, and the surface whose form its arguments have then.

    Raises:
        ValueError: there is none.
    """
    for surface in _OWN_FORM_FIRST:
        if (tool := _NAMED[surface].get(name)) is not None:
            return tool, surface
    msg = f"there is no tool {name!r}"
    raise ValueError(msg)


_OWN_FORM_FIRST: Final = tuple(sorted(Surface, key=lambda surface: surface is Surface.LLMCP))


def arguments_of(call: ToolCall, surface: Surface = Surface.LLMCP) -> Struct:
    """Return the arguments of a call, in the form that all surfaces share.

    Raises:
        ValueError: there is no such tool, or its arguments are others; the field is named.
    """
    tool = find(call.name, surface)
    form = tool.forms.get(surface)
    try:
        given: Any = msgspec.convert(call.arguments, tool.arguments_on(surface))
        return given if form is None else form.converted(given)
    except msgspec.ValidationError as error:
        msg = f"{call.name}: {error}"
        raise ValueError(msg) from None
