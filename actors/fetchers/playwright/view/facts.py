"""Says what an element is for whoever decides about it, and holds an action to the element that was decided about."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from msgspec import Struct
from msgspec.structs import replace

from actors.fetchers.playwright.devtools import Way
from actors.fetchers.playwright.tab import Tab
from actors.fetchers.playwright.view.documents import TabDocument, main_document
from actors.fetchers.playwright.view.finding import document_of, locate
from protocol.browsers.operations import DescribeField
from protocol.browsers.pageinfo import PastDialog
from protocol.browsers.results import FieldDescribed
from protocol.faults import Code, FaultError, fault
from protocol.policy import FieldFacts

ANOTHER = "The element is another than the one that was decided about"
"""What the message of a fault begins with when nothing was done for that."""

_MAX_DEPTH = 4


class _Facts(FieldFacts, frozen=True, kw_only=True):
    """What `scripts/view/facts.js` says of an element; the address of the tab is added here."""

    page_url: str = ""


class _Described(Struct, frozen=True):
    """What an element is; `frame` is the way to a frame that has the focus."""

    facts: _Facts | None
    frame: Way | None


class _Unchanged(Struct, frozen=True):
    """Whether the element is, and was all the time, the one that was decided about."""

    done: bool


class _Put(Struct, frozen=True):
    """Why words were not put into a field; "" where they were."""

    problem: str


async def describe_field(tab: Tab, do: DescribeField) -> FieldDescribed:
    """Return what an element is, what lies at a point, or what has the focus.

    Raises:
        FaultError: ELEMENT_NOT_FOUND; PAGE_CRASHED or BROWSER_PAGE_HUNG.
    """
    document, name = await _document(tab, do.element_id)
    described = await document.call("describe", _Described, id=name, at=do.at)
    for _ in range(_MAX_DEPTH):
        inner = await document.inner("focus", described.frame) if described.frame is not None else None
        if inner is None:
            break
        document, described = inner, await inner.call("describe", _Described, id=None)
    if described.facts is None and do.element_id is None:
        # Nothing has the focus, or lies there: it goes to the page as a whole, which is no field.
        return FieldDescribed(facts=FieldFacts(page_url=tab.page.url, url=tab.page.url, tag="body"))
    if described.facts is None:
        raise FaultError(fault(Code.ELEMENT_NOT_FOUND, "The element is gone from the page.", field="element_id"))
    fields = {name: getattr(described.facts, name) for name in FieldFacts.__struct_fields__}
    return FieldDescribed(facts=replace(FieldFacts(**fields), page_url=tab.page.url))


def dialog_facts(dialog: PastDialog, page_url: str) -> FieldFacts:
    """Return what the dialog that waits is: a prompt is a field with its message for a label."""
    prompt = dialog.type == "prompt"
    return FieldFacts(
        page_url=page_url,
        url=page_url,
        tag="input" if prompt else "dialog",
        type="text" if prompt else "",
        label=dialog.message,
        placeholder=dialog.default_value if prompt else "",
    )


@asynccontextmanager
async def unchanged(
    tab: Tab, element_id: str | None, expects: str, at: tuple[float, float] | None = None
) -> AsyncGenerator[None]:
    """Hold what is done within to an element, or what lies `at` a point, as it was decided about; "" to nothing.

    A click or a submit that meets another element is stopped before the page hears of it.

    Raises:
        FaultError: ELEMENT_NOT_FOUND, when the element is another: nothing was done to it.
    """
    if not expects:
        yield
        return
    document, name = await _document(tab, element_id)
    if not (await document.call("arm", _Unchanged, id=name, expects=expects, at=at)).done:
        raise another()
    failure: FaultError | None = None
    try:
        yield
    except FaultError as error:
        failure = error
    finally:
        kept = (await document.call("disarm", _Unchanged)).done
    if not kept:
        raise another() from failure  # whatever failed, it was for want of what was stopped
    if failure is not None:
        raise failure


async def put_words(tab: Tab, element_id: str, expects: str, words: str) -> str:
    """Put words into a field in the same step in which it is compared; returns what was in the way, if anything.

    Raises:
        FaultError: ELEMENT_NOT_FOUND, when the field is another: nothing was put into it.
    """
    document, name = await _document(tab, element_id)
    problem = (await document.call("put", _Put, id=name, expects=expects, words=words)).problem
    if problem in ("another", "gone"):
        raise another()
    return problem


def another() -> FaultError:
    """Build the fault of an element that has changed since it was decided about."""
    message = f"{ANOTHER}: look at the page again, and ask again."
    return FaultError(fault(Code.ELEMENT_NOT_FOUND, message, field="element_id"))


async def _document(tab: Tab, element_id: str | None) -> tuple[TabDocument, str | None]:
    if element_id is None:
        return main_document(tab), None
    await locate(tab, element_id)
    document, name = await document_of(tab, element_id)
    if document is None:
        raise another()
    return document, name
