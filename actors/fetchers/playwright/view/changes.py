"""Outlines a page before and after an action, and says in a sentence what changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from actors import redact
from actors.fetchers.playwright.tab import Tab
from actors.fetchers.playwright.view.elements import PageNews
from actors.fetchers.playwright.view.snapshot import take_snapshot

_MAX_QUOTED = 3
_QUOTE_CHARS = 40
_NEWS_CHARS = 120
_MAX_CHARS = 1_200
NOTHING = "Nothing has changed."
_FILE = "File"
_LOUD = frozenset({"Error", "Success"})


class PageOutline(Struct, frozen=True):
    """The address of a page, labels and states of its elements, how many dialogs it shows, and what it said lately.

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
    news: tuple[PageNews, ...] = ()


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
        news=snapshot.news,
    )


def asks_for_file(before: PageOutline, after: PageOutline) -> bool:
    """Whether a link to a file, which the browser saves, was clicked since."""
    return before.page == after.page and any(one.kind == _FILE for one in _new(before, after))


def difference(before: PageOutline, after: PageOutline) -> str:
    """Say in a sentence what is different; text of the page is quoted."""
    clauses = [_moved(before, after), *_dialogs(before, after), *_notices(before, after)]
    if before.page == after.page:
        clauses += _quoted_news(_new(before, after), after)
        added = [after.labels[name] for name in after.labels if name not in before.labels]
        removed = [before.labels[name] for name in before.labels if name not in after.labels]
        both = [name for name in after.labels if name in before.labels]
        renamed = [after.labels[name] for name in both if after.labels[name] != before.labels[name]]
        changed = [after.labels[name] for name in both if after.states[name] != before.states[name]]
        clauses += [_counted(added, "came"), _counted(removed, "went"), _counted(renamed, "says something else now")]
        clauses += [_counted(changed, "changed its state")]
    clauses = [clause for clause in clauses if clause]
    if not clauses:
        return NOTHING if before.words == after.words else "Words of the page changed, nothing to act on."
    return f"{'; '.join(_fitting(clauses))}."


def _fitting(clauses: list[str]) -> list[str]:
    """Take the clauses that fit, whole: words of the page that are cut off would leave their quotes."""
    left, kept = _MAX_CHARS, list[str]()
    for clause in clauses:
        left -= len(clause) + 2
        if left >= 0:
            kept.append(clause)
    return kept


def _moved(before: PageOutline, after: PageOutline) -> str:
    if after.url != before.url:
        return f"the page is now {redact.url(after.url)[:200]} ({quoted(after.title)}){_status(before, after)}"
    if after.page != before.page:
        return f"the page was loaded again{_status(before, after)}"
    return f"the title is now {quoted(after.title)}" if after.title != before.title else ""


def _status(before: PageOutline, after: PageOutline) -> str:
    return f", an error with the HTTP status {after.status}" if after.status and after.page != before.page else ""


def _dialogs(before: PageOutline, after: PageOutline) -> list[str]:
    if after.dialogs == before.dialogs:
        return []
    return ["a dialog opened" if after.dialogs > before.dialogs else "a dialog closed"]


def _notices(before: PageOutline, after: PageOutline) -> list[str]:
    return [f"a notice says {quoted(words, _NEWS_CHARS)}" for words in after.notices if words not in before.notices]


def _new(before: PageOutline, after: PageOutline) -> list[PageNews]:
    """Return what was said since, what tells of errors and success first."""
    heard = dict[str, int]()
    for one in before.news:
        heard[one.page] = max(one.number, heard.get(one.page, 0))
    new = [one for one in after.news if one.number > heard.get(one.page, 0)]
    return sorted(new, key=lambda one: one.kind not in _LOUD)


def _quoted_news(new: Iterable[PageNews], after: PageOutline) -> list[str]:
    """Quote the first words that came, except those that are told as notices, or as labels and values of elements."""
    values = (value for value, *_ in after.states.values())
    shown = {after.title, *after.labels.values(), *values}
    notices = " ".join(after.notices)
    left = [
        one
        for one in new
        if one.field or not (one.kind == _FILE or one.words in shown or (one.announced and one.words in notices))
    ]
    refused = [f"{quoted(one.field)}: {quoted(one.words, _NEWS_CHARS)}" for one in left if one.field]
    announced = [quoted(one.words, _NEWS_CHARS) for one in left if one.announced]
    words = [quoted(one.words, _NEWS_CHARS) for one in left if not (one.field or one.announced)]
    return [
        _listed("the browser does not accept the field", refused),
        _listed("a notice said", announced),
        _listed("new words:", words),
    ]


def _listed(what: str, quotes: list[str]) -> str:
    more = ", …" if len(quotes) > _MAX_QUOTED else ""
    return f"{what} {', '.join(quotes[:_MAX_QUOTED])}{more}" if quotes else ""


def _counted(labels: list[str], what: str) -> str:
    if not labels:
        return ""
    named = [quoted(label) for label in labels if label][:_MAX_QUOTED]
    more = ", …" if len(labels) > len(named) and named else ""
    listed = f" ({', '.join(named)}{more})" if named else ""
    return (
        f"{len(labels)} element{'' if len(labels) == 1 else 's'} {what if len(labels) == 1 else _plural(what)}{listed}"
    )


def _plural(what: str) -> str:
    return {"says something else now": "say something else now", "changed its state": "changed their states"}.get(
        what, what
    )


def quoted(words: str, most: int = _QUOTE_CHARS) -> str:
    """Quote words of the page so that they cannot leave their quotes, without what looks like a credential."""
    words = redact.text(words)
    cut = words if len(words) <= most else f"{words[: most - 1]}…"
    return "“" + cut.replace("“", '"').replace("”", '"') + "”"
