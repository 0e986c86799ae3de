"""Makes a step of what was done in a browser session, from the page before it and the page after it.

What goes into a sensitive field is never kept, nor any words of a page in which it stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec
from msgspec import Struct, structs

from actors import redact
from actors.fields.field_kinds import field_kind, is_filled
from actors.flows.consequences import PagesAround, checks_of
from actors.flows.finding import group_of, place_of
from actors.flows.wording import abstracted, site_of_page, slug
from protocol.acting.tree import ElementMarks, PageTree, SemanticNode
from protocol.browsers import gestures
from protocol.browsers import operations as do
from protocol.flows import (
    MAX_FLOW_STEPS,
    MAX_LABEL_CHARS,
    MAX_PARAMETER_CHARS,
    FlowDraft,
    FlowParameter,
    FlowStep,
    FlowTarget,
    ParameterType,
)
from protocol.policy import FieldFacts

MAX_OTHERS: Final = 60

RECORDED: Final[tuple[type[Struct], ...]] = (
    do.Navigate, do.GoBack, do.GoForward, do.Refresh, do.CreateTab, do.SwitchTab, do.CloseTab, do.Click, do.TypeText,
    do.Hover, do.SelectOption, do.SetValue, do.PressKey, do.HandleDialog, do.UploadFile, do.ExecuteJavascript,
    gestures.DoubleClick, gestures.RightClick, gestures.ClickAt, gestures.Drag, gestures.SelectText,
    gestures.SetChecked, gestures.TypeKeys,
)  # fmt: skip
"""What changes something; what only reads, waits or scrolls is no step: a step waits for its element by itself."""

_OBSTACLES: Final[Mapping[type[Struct], str]] = MappingProxyType(
    {
        do.CreateTab: "It opened another tab, and a flow has one.",
        do.SwitchTab: "It went to another tab, and a flow has one.",
        do.CloseTab: "It closed a tab, and a flow has one.",
        do.UploadFile: "It put a file of its own machine into a field.",
        do.ExecuteJavascript: "It ran a script in the page.",
        gestures.ClickAt: "It clicked a point of the window, where something else may lie now.",
    }
)
NOT_SHOWN: Final = "What it was done to was not to be seen on the page."
BY_KEYS: Final = "It typed something secret key by key, or into a dialog."

_NO_ARGUMENTS: Final = frozenset(
    {"tool", "sessionId", "tabId", "element_id", "to_element_id", "text", "value", "sealed", "isHtml"}
)
_TYPES: Final[Mapping[str, ParameterType]] = MappingProxyType(
    {"number": "number", "range": "number", "email": "email", "url": "url", "tel": "tel", "date": "date"}
)


class DoneOperation(Struct, frozen=True, kw_only=True):
    """An operation that was done, with the pages around it, and what the browser says of its element.

    `words` are those that went into a field, in clear; None where none do. `sealed`: they came sealed.
    """

    operation: do.Operation
    before: PageTree
    after: PageTree
    facts: FieldFacts | None = None
    words: str | None = None
    sealed: bool = False


class Recording(Struct, frozen=True):
    """What was recorded so far, and the secrets that were typed meanwhile, which are kept in memory alone."""

    draft: FlowDraft
    secrets: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        """Say nothing of what is in it."""
        return f"Recording({len(self.draft.steps)} steps)"


def is_recorded(operation: do.Operation) -> bool:
    """Return whether an operation is a step of a flow."""
    return isinstance(operation, RECORDED)


def recorded(so_far: Recording, done: DoneOperation) -> Recording:
    """Return a recording with one more step."""
    draft = so_far.draft
    if len(draft.steps) >= MAX_FLOW_STEPS:
        return Recording(structs.replace(draft, full=True), so_far.secrets)
    if isinstance(done.operation, do.Navigate) and not draft.steps:
        return Recording(structs.replace(draft, url=redact.url(done.operation.url)), so_far.secrets)
    if not draft.url:
        draft = structs.replace(draft, url=done.before.url)
    return _Step(so_far.secrets, draft, done).taken()


class _Step(Struct, frozen=True):
    """One step in the making."""

    secrets: frozenset[str]
    draft: FlowDraft
    done: DoneOperation

    def taken(self) -> Recording:
        """Return the recording with this step."""
        done, operation = self.done, self.done.operation
        node = self._about()
        obstacle = _OBSTACLES.get(type(operation), "") or self._unseen(node)
        secret = done.sealed or self._is_sensitive()
        if secret and not obstacle and self._is_typed_in_pieces():
            obstacle = BY_KEYS
        secrets = self.secrets | ({done.words} if secret and done.words else frozenset[str]())
        if obstacle:
            step = FlowStep(tool=_tool(operation), obstacle=obstacle)
            return Recording(self._with(step, None), secrets)
        parameter = self._parameter(node, secret=secret)
        return Recording(self._with(self._step(node, parameter, secrets, secret=secret), parameter), secrets)

    def _step(
        self, node: SemanticNode | None, parameter: FlowParameter | None, secrets: frozenset[str], *, secret: bool
    ) -> FlowStep:
        done, values = self.done, _defaults(self.draft)
        if parameter is not None and parameter.default is not None:
            values[parameter.name] = parameter.default
        around = PagesAround(done.before, done.after, values, secrets)
        return FlowStep(
            tool="type_text" if secret and isinstance(done.operation, do.SetValue) else _tool(done.operation),
            arguments=self._arguments(values, secrets),
            target=None if node is None else _target(node, around),
            to=self._to(around),
            parameter="" if parameter is None else parameter.name,
            checks=checks_of(around, node, None if parameter is None else parameter.name, done.words, secret=secret),
            site=site_of_page(done.before.url, secrets),
        )

    def _with(self, step: FlowStep, parameter: FlowParameter | None) -> FlowDraft:
        known = {one.name: one for one in self.draft.parameters}
        if parameter is not None:
            known[parameter.name] = parameter
        return structs.replace(self.draft, steps=(*self.draft.steps, step), parameters=tuple(known.values()))

    # -- what it is about ----------------------------------------------------------------------------------------------

    def _about(self) -> SemanticNode | None:
        """Return what an operation is about: its element, or what keys go to."""
        operation, page = self.done.operation, self.done.before
        if isinstance(operation, do.PressKey | gestures.TypeKeys):
            return page.node(page.focused) if page.focused else None
        return self._node(getattr(operation, "element_id", None))

    def _node(self, element: str | None) -> SemanticNode | None:
        page = self.done.before
        if element is None:
            return None
        return next((one for one in page.nodes if element in (page.elements.get(one.id), one.id)), None)

    def _unseen(self, node: SemanticNode | None) -> str:
        operation = self.done.operation
        if isinstance(operation, gestures.Drag):
            ends = (self._node(operation.element_id), self._node(operation.to_element_id))
            return "" if all(ends) else NOT_SHOWN
        return NOT_SHOWN if hasattr(operation, "element_id") and node is None else ""

    def _is_sensitive(self) -> bool:
        """Return whether what is put in is never to be kept: nothing is known to be harmless without a look at it."""
        facts = self.done.facts
        return bool(self.done.words) if facts is None else field_kind(facts)[0].sensitive

    def _is_typed_in_pieces(self) -> bool:
        """Return whether a secret is entered in a way that no input can stand for: by keys, by a pad, into a dialog."""
        operation, facts = self.done.operation, self.done.facts
        if isinstance(operation, do.PressKey):
            return len(operation.key) == 1
        pressed = isinstance(operation, do.Click | gestures.DoubleClick) and facts is not None and not is_filled(facts)
        return pressed or isinstance(operation, do.HandleDialog | gestures.TypeKeys)

    def _to(self, around: PagesAround) -> FlowTarget | None:
        operation = self.done.operation
        node = self._node(operation.to_element_id) if isinstance(operation, gestures.Drag) else None
        return None if node is None else _target(node, around)

    # -- what it takes -------------------------------------------------------------------------------------------------

    def _arguments(self, values: Mapping[str, str], secrets: frozenset[str]) -> dict[str, Any]:
        written: dict[str, Any] = msgspec.to_builtins(self.done.operation)
        kept = {name: value for name, value in written.items() if name not in _NO_ARGUMENTS}
        if isinstance(self.done.operation, do.Navigate):
            kept["url"] = redact.url(self.done.operation.url)
        if isinstance(self.done.operation, gestures.SelectText):
            kept["text"] = abstracted(self.done.operation.text, values, secrets)
        return kept

    def _parameter(self, node: SemanticNode | None, *, secret: bool) -> FlowParameter | None:
        """Return the input that the words of a step are; None where it has none."""
        words, facts = self.done.words, self.done.facts
        if words is None:
            return None
        label = (node.name if node is not None else "") or (facts.label or facts.placeholder if facts else "")
        named = slug(label) or slug(facts.name if facts is not None else "") or "text"
        is_kept = not secret and len(words) <= MAX_PARAMETER_CHARS
        return FlowParameter(
            name=self._name(named, words, secret=secret),
            label=abstracted(label, {}, self.secrets)[:MAX_LABEL_CHARS],
            type=self._type(),
            default=words if is_kept else None,
            required=not is_kept,
            secret=secret,
        )

    def _name(self, named: str, words: str, *, secret: bool) -> str:
        """Return a name that no other input has: the same words in a field of the same label are one input."""
        known = {one.name: one for one in self.draft.parameters}
        name, number = named, 1
        while name in known and (known[name].secret != secret or (not secret and known[name].default != words)):
            number += 1
            name = f"{named}_{number}"
        return name

    def _type(self) -> ParameterType:
        if isinstance(self.done.operation, do.SelectOption):
            return "choice"
        kind = self.done.facts.type.lower() if self.done.facts is not None else ""
        return _TYPES.get(kind, "text")


def _target(node: SemanticNode, around: PagesAround) -> FlowTarget:
    """Return the ways to an element, without anything secret, and with names in place of what was typed."""
    marks, peers = node.marks or ElementMarks(), list(around.before.nodes)
    others = {one.name for one in peers if one.id != node.id and group_of(one.role) == group_of(node.role)}
    kept = sorted(words for one in others - {node.name} if (words := around.abstracted(one)))
    return FlowTarget(
        role=node.role,
        name=around.abstracted(node.name),
        context=around.abstracted(node.context),
        marks=ElementMarks(**{name: around.abstracted(value) for name, value in structs.asdict(marks).items()}),
        place=place_of(node, peers),
        others=tuple(kept[:MAX_OTHERS]),
    )


def _defaults(draft: FlowDraft) -> dict[str, str]:
    return {one.name: one.default for one in draft.parameters if one.default is not None}


def _tool(operation: do.Operation) -> str:
    return str(operation.__struct_config__.tag)
