"""What came of an operation in a browser session, in words for a model: ours, and the web's, which are framed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import assert_never

import msgspec

from actors.gateway.errors import NextAction
from actors.gateway.translate import framed, one_line
from protocol.browsers import results as came
from protocol.browsers.pageinfo import Candidate, Element, PageRef, PageSummary, PastDialog, Section, Stability
from protocol.pages import Captured

MAX_TEXT_BYTES = 18_000
"""The words of the web in one answer at most: with ours it stays below 20 KB. The structured answer has all."""

_MAX_LABEL_CHARS = 160
_MAX_URL_CHARS = 500
_MAX_OPTIONS = 12
_MAX_LINKS = 30
_HANDLE = "handle_dialog"
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})


@dataclass(frozen=True)
class _Telling:
    """Sentences of ours, and lines of the web's."""

    ours: list[str]
    web: list[str]


def text_of(done: came.Done, boundary: str) -> str:
    """Write an answer for a model; `boundary` is a word of letters and digits that no page can know."""
    telling = _telling(done)
    if not telling.web:
        return "\n".join(telling.ours)
    shown, left = _fitting(telling.web)
    more = [f"{left} more lines stand in the structured result alone."] if left else []
    return "\n".join([*telling.ours, *more, framed("\n".join(shown), boundary)])


def next_actions(done: came.Done) -> tuple[NextAction, ...]:
    """Tell the calls that the answer itself makes plain, most urgent first."""
    where = {"sessionId": done.session_id, **({"tabId": done.tab_id} if done.tab_id is not None else {})}
    found: list[NextAction] = []

    def then(tool: str, reason: str, **args: object) -> None:
        found.append(NextAction(tool=tool, args=where | args, reason=reason, priority=len(found) + 1))

    if _waiting(done) is not None:
        then(_HANDLE, "A dialog waits for an answer, and the page with it.", action="dismiss")
    match done:
        case came.PageInfo():
            if done.stability is not None and not done.stability.stable:
                then("wait_for_stable", "The page has not come to rest.")
            if done.has_more and done.next_cursor:
                then("get_page_info", "There are more elements.", cursor=done.next_cursor)
        case came.NetworkLogs() if done.has_more and done.next_cursor:
            then("get_network_logs", "There are more requests.", cursor=done.next_cursor)
        case came.Acted() if done.new_tab_created is not None:
            then("switch_tab", "A new tab opened.", tabId=done.new_tab_created)
        case _:
            pass
    return tuple(found)


def captures(done: came.Done) -> tuple[Captured, ...]:
    """Tell the pictures and files that the answer names."""
    match done:
        case came.ScreenshotTaken():
            return (done.image,)
        case came.Downloads():
            return done.downloads
        case _:
            return ()


def _waiting(done: came.Done) -> PastDialog | None:
    match done:
        case came.Acted() | came.Navigated():
            dialog = done.dialog
        case came.PageInfo() | came.Dialogs():
            dialog = done.pending_dialog
        case _:
            return None
    return dialog if dialog is not None and not dialog.response else None


def _telling(done: came.Done) -> _Telling:  # noqa: C901, PLR0911, PLR0912 - a line or two for each kind of answer
    match done:
        case came.SessionCreated():
            return _Telling([f"Session {done.session_id} is open."], _page(done.page))
        case came.SessionClosed():
            return _Telling(["The session was kept." if done.kept else "The session is closed."], [*_some(done.reason)])
        case came.Navigated():
            return _Telling(_navigated(done), [*_page(done.page), *_some(done.changed), *_dialog(done.dialog)])
        case came.TabCreated():
            late = " It has not come to rest yet." if done.partial else ""
            return _Telling([f"Tab {done.tab_id} is open and active.{late}"], [_url(done.url)])
        case came.Tabs():
            return _Telling(_tabs(done), [f"{tab.tab}: {_label(tab.title)} {_url(tab.url)}" for tab in done.tabs])
        case came.Acted():
            return _Telling(_acted(done), [*_page(done.page), *_some(done.changed), *_dialog(done.dialog)])
        case came.PageInfo():
            return _Telling(_info(done), [*_summary(done.page), *_dialog(done.pending_dialog), *_elements(done)])
        case came.PageContent():
            cut = ["The content is longer: a larger maxLength gives more."] if done.truncated else []
            return _Telling(cut, list(_content(done)))
        case came.Found():
            ours = [f"Elements that fit: {len(done.candidates)}, best first."]
            return _Telling(ours, [_candidate(one) for one in done.candidates])
        case came.ScreenshotTaken():
            return _Telling([f"Screenshot of {done.width} x {done.height} pixels."], _page(done.page))
        case came.Evaluated():
            cut = ["The result is cut."] if done.truncated else []
            return _Telling(cut, msgspec.json.encode(done.result).decode().splitlines())
        case came.Stable():
            return _Telling([_stability(done)], [])
        case came.Dialogs():
            return _Telling(_dialogs(done), [*_dialog(done.pending_dialog), *_past(done.dialog_history)])
        case came.NetworkLogs():
            return _Telling(_requests(done), list(_exchanges(done)))
        case came.ConsoleLogs():
            lines = [f"[{line.level}] {_label(line.text)}" for line in done.logs]
            return _Telling([f"Lines of the console: {len(lines)}, newest last."], lines)
        case came.Downloads():
            files = [
                f"{one.name}: {_label(one.file_name)}, {one.media_type}, {one.size} bytes" for one in done.downloads
            ]
            return _Telling([f"Files: {len(files)}."], files)
        case _:
            assert_never(done)


# -- our sentences -----------------------------------------------------------------------------------------------------


def _navigated(done: came.Navigated) -> list[str]:
    status = "" if done.status_code is None else f" with HTTP status {done.status_code}"
    late = ["It has not come to rest yet: what is missing may come."] if done.partial else []
    there = "The tab is there" if done.success else "The tab stays where it is"
    return [f"{there}{status}.", *late, *_answer_it(done)]


def _acted(done: came.Acted) -> list[str]:
    new = [] if done.new_tab_created is None else [f"Tab {done.new_tab_created} opened: switch_tab goes there."]
    return ["Done." if done.success else "It came to nothing.", *new, *_answer_it(done)]


def _tabs(done: came.Tabs) -> list[str]:
    active = "" if done.active_tab_id is None else f" Tab {done.active_tab_id} is active."
    return [f"Tabs: {len(done.tabs)}.{active}"]


def _info(done: came.PageInfo) -> list[str]:
    lines = [f"Page for: {done.page.type}. Elements: {len(done.elements)} of {done.total_elements}."]
    if done.stability is not None and not done.stability.stable:
        lines.append(_stability(done.stability))
    if done.has_more and done.next_cursor:
        lines.append(f"The next ones: the same call with cursor {done.next_cursor}.")
    return [*lines, *_answer_it(done)]


def _stability(seen: Stability | came.Stable) -> str:
    state = "The page has come to rest" if seen.stable else "The page has not come to rest"
    return f"{state}: {seen.load_state}, {seen.network_pending} requests under way."


def _dialogs(done: came.Dialogs) -> list[str]:
    return _answer_it(done) or ["No dialog waits."]


def _requests(done: came.NetworkLogs) -> list[str]:
    lines = [f"Requests: {len(done.logs)} of {done.total_count}, newest last."]
    if done.has_more and done.next_cursor:
        lines.append(f"The next ones: the same call with cursor {done.next_cursor}.")
    return lines


def _answer_it(done: came.Done) -> list[str]:
    return [] if _waiting(done) is None else [f"A dialog waits: answer it with {_HANDLE} before anything else."]


# -- the words of the web ----------------------------------------------------------------------------------------------


def _page(page: PageRef | None) -> list[str]:
    if page is None:
        return []
    return [*([f"Title: {_label(page.title)}"] if page.title else []), f"URL: {_url(page.url)}"]


def _summary(page: PageSummary) -> list[str]:
    return [f"Title: {_label(page.title)}", f"URL: {_url(page.url)}", *_some(page.summary)]


def _dialog(dialog: PastDialog | None) -> list[str]:
    return [] if dialog is None else list(_past((dialog,)))


def _past(dialogs: Iterable[PastDialog]) -> Iterator[str]:
    for one in dialogs:
        given = f" (holds {_label(one.default_value)!r})" if one.default_value else ""
        yield f"Dialog {one.type}{f', {one.response}' if one.response else ''}: {_label(one.message)}{given}"


def _elements(done: came.PageInfo) -> Iterator[str]:
    for intent in done.recommended_by_intent:
        yield f"For {intent.intent}: {', '.join(intent.suggested_element_ids)}"
    for region in dict.fromkeys(one.region for one in done.elements):
        yield f"[{one_line(region)}]" if region else "[page]"
        yield from (_element(one) for one in done.elements if one.region == region)


def _element(one: Element) -> str:
    said = [f"- {one.id} ({one.type})", _label(one.label)]
    said += [f"= {_label(one.value)!r}"] if one.value else []
    said += [f"placeholder {_label(one.placeholder)!r}"] if one.placeholder and one.placeholder != one.label else []
    if one.options:
        rest = ["…"] if len(one.options) > _MAX_OPTIONS else []
        said.append(f"options {' | '.join([*map(_label, one.options[:_MAX_OPTIONS]), *rest])}")
    said += [f"[{', '.join(one.states)}]"] if one.states else []
    said += [] if one.in_view else ["[out of view]"]
    said += [f"-> {_url(one.href)}"] if one.href else []
    return " ".join(part for part in said if part)


def _candidate(one: Candidate) -> str:
    return f"- {one.id} ({one.type}) {_label(one.label)}: {one.score:.2f}, {_label(one.match_reason)}"


def _content(done: came.PageContent) -> Iterator[str]:
    yield f"Title: {_label(done.title)}"
    heading = ""
    for section in done.sections:
        level = _level(section)
        if level:
            yield f"\n{'#' * level} {section.text}"
        elif section.heading and one_line(section.heading) != heading:
            yield f"\n## {_label(section.heading)}"
        heading = one_line(section.text if level else section.heading)
        if not level:
            yield section.text
    if done.links:
        yield "\nLinks:"
        yield from (f"- {_label(link.text)} -> {_url(link.url)}" for link in done.links[:_MAX_LINKS])


def _level(section: Section) -> int:
    """Tell of which level a heading is; 0 where it is none."""
    return int(section.tag[1:]) if section.tag in _HEADINGS else 0


def _exchanges(done: came.NetworkLogs) -> Iterator[str]:
    yield from (f"! {_label(issue)}" for issue in done.top_issues)
    for one in done.logs:
        kind = f" {one.content_type}" if one.content_type else ""
        took = f" {one.duration} ms" if isinstance(one.duration, int) else ""
        yield f"{one.method} {one.status}{kind}{took} {_url(one.url)}"


def _some(text: str) -> list[str]:
    return [one_line(text)] if text else []


def _label(text: str) -> str:
    return _cut(one_line(text), _MAX_LABEL_CHARS)


def _url(url: str) -> str:
    return _cut(one_line(url), _MAX_URL_CHARS)


def _cut(text: str, chars: int) -> str:
    return text if len(text) <= chars else f"{text[: chars - 1]}…"


def _fitting(lines: list[str]) -> tuple[list[str], int]:
    """Take the lines that there is room for, in order, and count the others."""
    room = MAX_TEXT_BYTES
    for count, line in enumerate(lines):
        room -= len(line.encode()) + 1
        if room < 0:
            return lines[:count], len(lines) - count
    return lines, 0
