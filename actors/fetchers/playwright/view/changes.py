"""Outlines a page before and after an action, and says in a sentence what changed."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from actors import redact
from actors.fetchers.playwright.tab import Tab
from actors.fetchers.playwright.view.snapshot import take_snapshot

_MAX_QUOTED = 3
_QUOTE_CHARS = 40
_MAX_CHARS = 400


class PageOutline(Struct, frozen=True):
    """The address of a page, labels and states of its elements, and how many dialogs it shows.

    `status` is the HTTP status that it came with, where that is one of an error.
    """

    url: str
    title: str
    page: str
    labels: Mapping[str, str]
    states: Mapping[str, tuple[str, ...]]
    dialogs: int
    notices: tuple[str, ...] = ()
    words: int = 0
    status: int = 0


async def outline(tab: Tab) -> PageOutline:
    """Outline a page in its current state.

    Raises:
        FaultError: PAGE_CRASHED or BROWSER_PAGE_HUNG.
    """
    snapshot = await take_snapshot(tab)
    return PageOutline(
        url=snapshot.url,
        title=snapshot.title,
        page=snapshot.page,
        labels={element.id: element.label for element in snapshot.elements},
        states={
            element.id: (element.value, *(one for one in element.states if one != "focused"))
            for element in snapshot.elements
        },
        dialogs=snapshot.markers.dialogs,
        notices=snapshot.markers.notices,
        words=snapshot.markers.words,
        status=tab.error_status,
    )


def difference(before: PageOutline, after: PageOutline) -> str:
    """Say in a sentence what is different; text of the page is quoted."""
    clauses = [_moved(before, after), *_dialogs(before, after), *_notices(before, after)]
    if before.page == after.page:
        added = [after.labels[name] for name in after.labels if name not in before.labels]
        removed = [before.labels[name] for name in before.labels if name not in after.labels]
        both = [name for name in after.labels if name in before.labels]
        renamed = [after.labels[name] for name in both if after.labels[name] != before.labels[name]]
        changed = [after.labels[name] for name in both if after.states[name] != before.states[name]]
        clauses += [_counted(added, "came"), _counted(removed, "went"), _counted(renamed, "says something else now")]
        clauses += [_counted(changed, "changed its state")]
    clauses = [clause for clause in clauses if clause]
    if not clauses:
        return (
            "Nothing has changed." if before.words == after.words else "Words of the page changed, nothing to act on."
        )
    return f"{'; '.join(clauses)[:_MAX_CHARS]}."


def _moved(before: PageOutline, after: PageOutline) -> str:
    if after.url != before.url:
        return f"the page is now {redact.url(after.url)[:200]} ({_quoted(after.title)}){_status(before, after)}"
    if after.page != before.page:
        return f"the page was loaded again{_status(before, after)}"
    return f"the title is now {_quoted(after.title)}" if after.title != before.title else ""


def _status(before: PageOutline, after: PageOutline) -> str:
    return f", an error with the HTTP status {after.status}" if after.status and after.page != before.page else ""


def _dialogs(before: PageOutline, after: PageOutline) -> list[str]:
    if after.dialogs == before.dialogs:
        return []
    return ["a dialog opened" if after.dialogs > before.dialogs else "a dialog closed"]


def _notices(before: PageOutline, after: PageOutline) -> list[str]:
    return [f"a notice says {_quoted(words)}" for words in after.notices if words not in before.notices]


def _counted(labels: list[str], what: str) -> str:
    if not labels:
        return ""
    named = [_quoted(label) for label in labels if label][:_MAX_QUOTED]
    more = ", …" if len(labels) > len(named) and named else ""
    listed = f" ({', '.join(named)}{more})" if named else ""
    return (
        f"{len(labels)} element{'' if len(labels) == 1 else 's'} {what if len(labels) == 1 else _plural(what)}{listed}"
    )


def _plural(what: str) -> str:
    return {"says something else now": "say something else now", "changed its state": "changed their states"}.get(
        what, what
    )


def _quoted(words: str) -> str:
    cut = words if len(words) <= _QUOTE_CHARS else f"{words[: _QUOTE_CHARS - 1]}…"
    return "“" + cut.replace("“", '"').replace("”", '"') + "”"
