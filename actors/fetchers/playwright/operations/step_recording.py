"""Records what is done in a session as the steps of a flow: the page before each, and what it left."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

import structlog
from msgspec import structs

from actors.fetchers.playwright.open_session import OpenSession
from actors.fetchers.playwright.operations.context import OperationContext
from actors.flows.recording import DoneOperation, Recording, recorded
from bus.seal import UnsealError
from protocol.acting.tree import PageTree
from protocol.browsers.gestures import TypeKeys
from protocol.browsers.operations import (
    CreateTab,
    DescribeField,
    HandleDialog,
    Navigate,
    Operation,
    PressKey,
    ReadTree,
    RecordSteps,
    SelectOption,
    SetValue,
    TypeText,
    typed_in,
    words_of,
)
from protocol.browsers.results import Done, FieldDescribed, StepsRecorded, TreeRead
from protocol.faults import FaultError
from protocol.flows import FlowDraft, FlowStep
from protocol.policy import FieldFacts

log = structlog.stdlib.get_logger()

STEP_NOT_SEEN = "flow_step_not_seen"

LOST: Final = "The browser went away while it was recorded, and what was secret before it is not known any more."

_ON_FOCUS: Final = (PressKey, TypeKeys, HandleDialog)
_FILLING: Final = (TypeText, TypeKeys, SetValue, SelectOption)

Dispatch = Callable[[Operation], Awaitable[Done]]


def steer(session: OpenSession, do: RecordSteps) -> StepsRecorded:
    """Begin to record a session, or end it and return what was recorded."""
    so_far = session.record.recording
    begins = do.what == "begin"
    session.record = structs.replace(session.record, recording=FlowDraft() if begins else None)
    session.secrets = frozenset() if begins else None
    return StepsRecorded(draft=so_far if do.what == "end" else None)


async def observed(op: OperationContext, operation: Operation, perform: Dispatch) -> Done:
    """Perform an operation, and record it as a step; one that fails is none."""
    session = op.session
    tab = None if isinstance(operation, CreateTab) or not session.tabs else session.tab_number(_tab(operation))
    before = PageTree(url="") if tab is None or isinstance(operation, Navigate) else await _tree(perform, tab)
    facts = await _facts(perform, operation, tab)
    done = await perform(operation)
    draft = session.record.recording
    if draft is None:
        return done  # the recording was ended meanwhile
    if session.secrets is None and any(one.secret for one in draft.parameters):
        _lose(session, draft, operation)
        return done
    step = DoneOperation(
        operation=operation,
        before=before,
        after=await _tree(perform, tab) if tab is not None and session.has_tab(tab) else before,
        facts=facts,
        words=_words(op, operation),
        sealed=isinstance(operation, TypeText) and operation.sealed is not None,
    )
    recording = recorded(Recording(draft, session.secrets or frozenset()), step)
    session.record = structs.replace(session.record, recording=recording.draft)
    session.secrets = recording.secrets
    return done


def _lose(session: OpenSession, draft: FlowDraft, operation: Operation) -> None:
    if draft.steps and draft.steps[-1].obstacle == LOST:
        return
    step = FlowStep(tool=str(operation.__struct_config__.tag), obstacle=LOST)
    session.record = structs.replace(session.record, recording=structs.replace(draft, steps=(*draft.steps, step)))


async def _tree(perform: Dispatch, tab: int) -> PageTree:
    """Read a page with the marks of its controls; of one that cannot be read, nothing is known."""
    try:
        done = await perform(ReadTree(tab_id=tab, max_tokens=None, everywhere=True, marks=True))
    except FaultError as error:
        log.warning(STEP_NOT_SEEN, code=error.fault.code)
        return PageTree(url="")
    return done.tree if isinstance(done, TreeRead) else PageTree(url="")


async def _facts(perform: Dispatch, operation: Operation, tab: int | None) -> FieldFacts | None:
    """Return what the browser says of the element of an operation, or of what has the focus."""
    element = getattr(operation, "element_id", None)
    if tab is None or (element is None and not isinstance(operation, _ON_FOCUS)):
        return None
    with suppress(FaultError):
        done = await perform(DescribeField(tab_id=tab, element_id=element))
        return done.facts if isinstance(done, FieldDescribed) else None
    return None


def _words(op: OperationContext, operation: Operation) -> str | None:
    """Return the words that went into a field, in clear; None where none did."""
    if isinstance(operation, TypeText) and operation.sealed is not None:
        try:
            return op.dependencies.unseal(operation.sealed, typed_in(op.session.record.session))
        except UnsealError:
            return ""
    if isinstance(operation, HandleDialog):
        return operation.text
    return words_of(operation) if isinstance(operation, _FILLING) else None


def _tab(operation: Operation) -> int | None:
    tab: int | None = getattr(operation, "tab_id", None)
    return tab
