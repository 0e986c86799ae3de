"""What came of an operation in a browser session, for a model: our sentences, and the words of the web in a frame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

import msgspec
from msgspec import Struct

from actors.gateway.errors import NextAction
from actors.gateway.translate import framed, one_line
from protocol.acting.tree import LEGEND, PageTree
from protocol.browsers import results
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


class _Rendering(Struct, frozen=True):
    """Sentences of ours, and lines of the web's."""

    ours: list[str]
    web: list[str]


def text_of(done: results.Done, boundary: str) -> str:
    """Write an answer for a model; `boundary` is a word of letters and digits that no page can know."""
    rendering = _rendered(done)
    if not rendering.web:
        return "\n".join(rendering.ours)
    shown, left = _fitting(rendering.web)
    more = [f"{left} more lines stand in the structured result alone."] if left else []
    return "\n".join([*rendering.ours, *more, framed("\n".join(shown), boundary)])


def next_actions(done: results.Done) -> tuple[NextAction, ...]:
    """Return the calls that the answer itself makes plain, most urgent first."""
    where = {"sessionId": done.session_id, **({"tabId": done.tab_id} if done.tab_id is not None else {})}
    actions: list[NextAction] = []

    def then(tool: str, reason: str, **args: object) -> None:
        actions.append(NextAction(tool=tool, args=where | args, reason=reason, priority=len(actions) + 1))

    if _waiting(done) is not None:
        then(_HANDLE, "A dialog waits for an answer, and the page with it.", action="dismiss")
    match done:
        case results.PageInfo():
            if done.stability is not None and not done.stability.stable:
                then("wait_for_stable", "The page has not come to rest.")
            if done.has_more and done.next_cursor:
                then("get_page_info", "There are more elements.", cursor=done.next_cursor)
        case results.NetworkLogs() if done.has_more and done.next_cursor:
            then("get_network_logs", "There are more requests.", cursor=done.next_cursor)
        case results.Acted() if done.new_tab_created is not None:
            then("switch_tab", "A new tab opened.", tabId=done.new_tab_created)
        case _:
            pass
    return tuple(actions)


def captures(done: results.Done) -> tuple[Captured, ...]:
    """Return the pictures and files that the answer names."""
    match done:
        case results.ScreenshotTaken():
            return (done.image,)
        case results.Downloads():
            return done.downloads
        case _:
            return ()


def _waiting(done: results.Done) -> PastDialog | None:
    match done:
        case results.Acted() | results.Navigated():
            dialog = done.dialog
        case results.PageInfo() | results.Dialogs():
            dialog = done.pending_dialog
        case _:
            return None
    return dialog if dialog is not None and not dialog.response else None


def _rendered(done: results.Done) -> _Rendering:
    match done:
        case results.SessionCreated() | results.SessionClosed() | results.TabCreated() | results.Tabs():
            return _session_or_tabs(done)
        case results.Navigated():
            return _Rendering(_navigated(done), [*_page(done.page), *_some(done.changed), *_dialog(done.dialog)])
        case results.Acted():
            return _Rendering(_acted(done), [*_page(done.page), *_some(done.changed), *_dialog(done.dialog)])
        case results.Dialogs() | results.NetworkLogs() | results.ConsoleLogs() | results.Downloads():
            return _past_events(done)
        case (
            results.PageObserved()
            | results.SelectionLinks()
            | results.FieldDescribed()
            | results.TreeRead()
            | results.ElementRead()
            | results.RowsRead()
            | results.StepsRecorded()
            | results.WindowShown()
            | results.SessionHeld()
        ):
            return _read(done)
        case _:
            return _page_state(done)


def _session_or_tabs(
    done: results.SessionCreated | results.SessionClosed | results.TabCreated | results.Tabs,
) -> _Rendering:
    match done:
        case results.SessionCreated():
            return _Rendering([f"Session {done.session_id} is open."], _page(done.page))
        case results.SessionClosed():
            ours = "The session was kept." if done.kept else "The session is closed."
            return _Rendering([ours], [*_some(done.reason)])
        case results.TabCreated():
            late = " It has not come to rest yet." if done.partial else ""
            return _Rendering([f"Tab {done.tab_id} is open and active.{late}"], [_url(done.url)])
        case results.Tabs():
            return _Rendering(_tabs(done), [f"{tab.tab}: {_label(tab.title)} {_url(tab.url)}" for tab in done.tabs])
        case _:
            assert_never(done)


def _past_events(
    done: results.Dialogs | results.NetworkLogs | results.ConsoleLogs | results.Downloads,
) -> _Rendering:
    match done:
        case results.Dialogs():
            return _Rendering(_dialogs(done), [*_dialog(done.pending_dialog), *_past(done.dialog_history)])
        case results.NetworkLogs():
            return _Rendering(_requests(done), list(_exchanges(done)))
        case results.ConsoleLogs():
            lines = [f"[{line.level}] {_label(line.text)}" for line in done.logs]
            return _Rendering([f"Lines of the console: {len(lines)}, newest last."], lines)
        case results.Downloads():
            files = [
                f"{one.name}: {_label(one.file_name)}, {one.media_type}, {one.size} bytes" for one in done.downloads
            ]
            return _Rendering([f"Files: {len(files)}."], files)
        case _:
            assert_never(done)


def _read(
    done: results.PageObserved
    | results.SelectionLinks
    | results.FieldDescribed
    | results.TreeRead
    | results.ElementRead
    | results.RowsRead
    | results.StepsRecorded
    | results.WindowShown
    | results.SessionHeld,
) -> _Rendering:
    match done:
        case results.PageObserved():
            return _Rendering(
                ["The page as it stands; handles are in the structured result."], [done.document.markdown]
            )
        case results.SelectionLinks():
            links = [f"{_label(link.text)} {_url(link.url)}" for link in done.links]
            return _Rendering([f"Links of what is selected: {len(links)}."], links)
        case results.RowsRead():
            more = "" if done.complete else " There are more."
            return _Rendering([f"Rows: {len(done.rows)}.{more}"], [_row(row) for row in done.rows])
        case results.ElementRead():
            return _Rendering([_states(done)], [*_some(done.text), *_some(done.value), *_some(done.attribute or "")])
        case results.FieldDescribed() | results.StepsRecorded() | results.WindowShown() | results.SessionHeld():
            return _Rendering(["For Weft itself."], [])
        case results.TreeRead():
            return _tree(done.tree)
        case _:
            assert_never(done)


def _page_state(
    done: results.PageInfo
    | results.PageContent
    | results.Found
    | results.ScreenshotTaken
    | results.Evaluated
    | results.Stable,
) -> _Rendering:
    match done:
        case results.PageInfo():
            return _Rendering(_info(done), [*_summary(done.page), *_dialog(done.pending_dialog), *_elements(done)])
        case results.PageContent():
            cut = ["The content is longer: a larger maxLength gives more."] if done.truncated else []
            return _Rendering(cut, list(_content(done)))
        case results.Found():
            ours = [f"Elements that fit: {len(done.candidates)}, best first."]
            return _Rendering(ours, [_candidate(one) for one in done.candidates])
        case results.ScreenshotTaken():
            return _Rendering([f"Screenshot of {done.width} x {done.height} pixels."], _page(done.page))
        case results.Evaluated():
            cut = ["The result is cut."] if done.truncated else []
            return _Rendering(cut, msgspec.json.encode(done.result).decode().splitlines())
        case results.Stable():
            return _Rendering([_stability(done)], [])
        case _:
            assert_never(done)


# -- our sentences -----------------------------------------------------------------------------------------------------


def _navigated(done: results.Navigated) -> list[str]:
    status = "" if done.status_code is None else f" with HTTP status {done.status_code}"
    late = ["It has not come to rest yet: what is missing may come."] if done.partial else []
    there = "The tab is there" if done.success else "The tab stays where it is"
    return [f"{there}{status}.", *late, *_answer_it(done)]


def _tree(tree: PageTree) -> _Rendering:
    """Write a page as its nodes, one a line, with the legend of their keys."""
    if tree.unchanged:
        return _Rendering(["Nothing to act on has changed."], [])
    more = [f"{tree.left_out} more nodes: after={tree.next} goes on."] if tree.left_out else []
    flags = [
        words for has, words in ((tree.has_errors, "It shows an error."), (tree.has_success, "It succeeded.")) if has
    ]
    events = [f"event: {_label(one)}" for one in tree.recent_events]
    nodes = [msgspec.json.encode(node).decode() for node in tree.nodes]
    head = [f"Nodes: {len(tree.nodes)} of {tree.original_node_count}. {LEGEND}", *more, *flags]
    dialog = [f"dialog: {_label(tree.dialog)}"] if tree.dialog else []
    return _Rendering(head, [f"{_label(tree.title)} {_url(tree.url)}", *dialog, *events, *nodes])


def _row(row: results.ListRow) -> str:
    return f"{_label(row.text)} [{', '.join(row.ids)}]" if row.ids else _label(row.text)


def _states(done: results.ElementRead) -> str:
    switch = "" if done.checked is None else ", on" if done.checked else ", off"
    shown, enabled = "shown" if done.visible else "not shown", "enabled" if done.enabled else "disabled"
    options = f" It has {len(done.options)} options." if done.options else ""
    return f"The element is {shown}, {enabled}{switch}.{options}"


def _acted(done: results.Acted) -> list[str]:
    new = [] if done.new_tab_created is None else [f"Tab {done.new_tab_created} opened: switch_tab goes there."]
    return ["Done." if done.success else "It came to nothing.", *new, *_answer_it(done)]


def _tabs(done: results.Tabs) -> list[str]:
    active = "" if done.active_tab_id is None else f" Tab {done.active_tab_id} is active."
    return [f"Tabs: {len(done.tabs)}.{active}"]


def _info(done: results.PageInfo) -> list[str]:
    lines = [f"Page for: {done.page.type}. Elements: {len(done.elements)} of {done.total_elements}."]
    if done.stability is not None and not done.stability.stable:
        lines.append(_stability(done.stability))
    if done.has_more and done.next_cursor:
        lines.append(f"The next ones: the same call with cursor {done.next_cursor}.")
    return [*lines, *_answer_it(done)]


def _stability(state: Stability | results.Stable) -> str:
    return "The page has come to rest." if state.stable else f"The page has not come to rest: {_unrest(state)}."


def _unrest(state: Stability | results.Stable) -> str:
    """Say what a page is waited for."""
    many, moving = state.network_pending, "it still changes, or shows that it loads"
    reasons = ["its document is still being loaded"] if state.load_state != "complete" else []
    reasons += [f"{many} request{' is' if many == 1 else 's are'} under way"] if many else []
    return ", ".join(reasons) or ("its last request has only just ended" if state.dom_stable else moving)


def _dialogs(done: results.Dialogs) -> list[str]:
    return _answer_it(done) or ["No dialog waits."]


def _requests(done: results.NetworkLogs) -> list[str]:
    lines = [f"Requests: {len(done.logs)} of {done.total_count}, newest last."]
    if done.has_more and done.next_cursor:
        lines.append(f"The next ones: the same call with cursor {done.next_cursor}.")
    return lines


def _answer_it(done: results.Done) -> list[str]:
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


def _elements(done: results.PageInfo) -> Iterator[str]:
    for intent in done.recommended_by_intent:
        yield f"For {intent.intent}: {', '.join(intent.suggested_element_ids)}"
    for region in dict.fromkeys(one.region for one in done.elements):
        yield f"[{one_line(region)}]" if region else "[page]"
        yield from (_element(one) for one in done.elements if one.region == region)


def _element(one: Element) -> str:
    words = [f"- {one.id} ({one.type})", _label(one.label)]
    words += [f"= {_label(one.value)!r}"] if one.value else []
    words += [f"placeholder {_label(one.placeholder)!r}"] if one.placeholder and one.placeholder != one.label else []
    if one.options:
        rest = ["…"] if len(one.options) > _MAX_OPTIONS else []
        words.append(f"options {' | '.join([*map(_label, one.options[:_MAX_OPTIONS]), *rest])}")
    words += [f"[{', '.join(one.states)}]"] if one.states else []
    words += [] if one.in_view else ["[out of view]"]
    words += [f"-> {_url(one.href)}"] if one.href else []
    return " ".join(part for part in words if part)


def _candidate(one: Candidate) -> str:
    return f"- {one.id} ({one.type}) {_label(one.label)}: {one.score:.2f}, {_label(one.match_reason)}"


def _content(done: results.PageContent) -> Iterator[str]:
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
    """Return the level of a heading; 0 where it is none."""
    return int(section.tag[1:]) if section.tag in _HEADINGS else 0


def _exchanges(done: results.NetworkLogs) -> Iterator[str]:
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
