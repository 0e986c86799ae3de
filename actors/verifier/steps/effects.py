"""What each action should leave on a page, and whether it did: a rule for each kind of action."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from actors.verifier.steps.attribution import ChangeKind, ChangeScope, NodeEvent, StepEvidence
from actors.verifier.steps.bands import StepBand, StepFinding
from actors.verifier.steps.comparison import AddressChange, address_change
from actors.verifier.steps.phrases import content_words, spoken

READS: Final = frozenset(
    {"getText", "getAttribute", "isVisible", "isEnabled", "getTabs", "dropdownOptions", "findText", "screenshot"}
)
"""Actions that only read: what they return is what they did."""

SERVED: Final = frozenset({"remember", "recall", "ask_user", "finish", "fail", "verifySuccess"})
"""Actions that no page sees."""

_CHOSEN = frozenset({"checked", "selected", "on", "pressed"})
_CUT_CHARS = 40
"""From here on a value may have been cut for the tree."""

_MASK = re.compile(r"^[•*●·]+$")


def effect(evidence: StepEvidence) -> StepFinding:
    """Return what an action has left on the page, by the rule of its kind."""
    rule = _RULES.get(evidence.claim.action.name, general_effect)
    return rule(evidence)


def general_effect(evidence: StepEvidence) -> StepFinding:
    """Return what changed that an action on a page may have done: what says most counts."""
    page = evidence.page
    if page.dialog_opened or page.dialog_closed or page.tabs:
        return StepFinding(StepBand.PAGE_CHANGED, "A dialog or a tab opened or closed.")
    if page.significant:
        return _arrived(evidence)
    if name := evidence.focused_instead:
        return StepFinding(StepBand.OTHER_CHOSEN, f"Another one has the focus: {name!r}.")
    if evidence.successes:
        return StepFinding(StepBand.MESSAGE, f"The page says: {evidence.successes[0]!r}.")
    if name := evidence.chosen_instead:
        return StepFinding(StepBand.OTHER_CHOSEN, f"Another one was chosen: {name!r}.")
    return _of_target(evidence) or _of_nodes(evidence)


def _arrived(evidence: StepEvidence) -> StepFinding:
    """Judge another address: a page that is headed as another link, and not as the one clicked, is the wrong one."""
    claim, target = evidence.claim, evidence.target
    heads = [claim.after.title, *(one.name for one in evidence.page.added if one.role == "h")]
    heads = [spoken(one) for one in heads if one.strip()]
    if target is not None and target.role == "link" and target.name and claim.action.name == "click":
        own = any(spoken(target.name) in one or one in spoken(target.name) for one in heads)
        own = own or bool(content_words(target.name) & content_words(f"{claim.after.url} {' '.join(heads)}"))
        others = {spoken(one.name) for one in claim.before.nodes if one.role == "link" and one.name != target.name}
        if not own and any(one in others for one in heads):
            return StepFinding(StepBand.ELSEWHERE_NAVIGATED, "The page is the one that another link names.")
    return StepFinding(StepBand.NAVIGATED, "The page stands at another address than before.")


def _of_target(evidence: StepEvidence) -> StepFinding | None:
    """Judge what became of what was acted on, and of the page as a whole."""
    page = evidence.page
    if evidence.target is not None and evidence.target_after is None and not evidence.sweeping:
        return StepFinding(StepBand.TARGET_GONE, "What was acted on is gone.")
    touched = any(one.scope is ChangeScope.TARGET for one in evidence.events)
    if touched and evidence.target_after is not None and not evidence.covered:
        return StepFinding(StepBand.TARGET_CHANGED, "What was acted on is otherwise than before.")
    if evidence.sweeping:
        return StepFinding(StepBand.PAGE_CHANGED, "Much of the page is otherwise than before.")
    if touched and evidence.covered:
        return StepFinding(StepBand.PAGE_CHANGED, "Something lies over what was acted on.")
    if page.address is AddressChange.FRAGMENT:
        return StepFinding(StepBand.PAGE_CHANGED, "The fragment of the address is another.")
    return None


def _of_nodes(evidence: StepEvidence) -> StepFinding:
    """Return what the nearest change of a node comes to."""
    event = evidence.plainest or evidence.nearest
    if event is None or (event.is_weak and evidence.arrival.answered):
        return _without_nodes(evidence)
    if event.kind is ChangeKind.SWAPPED:
        return _of_other_words(evidence, event)
    if event.scope is ChangeScope.NAMED:
        return StepFinding(StepBand.NAMED_CHANGED, f"What speaks of it changed: {event.words!r}.")
    if event.scope is not ChangeScope.ELSEWHERE:
        return StepFinding(StepBand.NEAR_CHANGED, f"Beside it changed: {event.words!r}.")
    if event.kind is ChangeKind.APPEARED:
        return StepFinding(StepBand.APPEARED_ELSEWHERE, f"Away from it something appeared: {event.words!r}.")
    return StepFinding(StepBand.CHANGED_ELSEWHERE, f"Only far from it something changed: {event.words!r}.")


def _of_other_words(evidence: StepEvidence, event: NodeEvent) -> StepFinding:
    """Return what other words in the same place come to: right beside what was surely clicked they are its own."""
    if evidence.arrival.reached and event.beside:
        return StepFinding(StepBand.REACHED_SWAPPED, f"Beside what was clicked it says otherwise: {event.words!r}.")
    band = StepBand.SWAPPED_ELSEWHERE if event.scope is ChangeScope.ELSEWHERE else StepBand.SWAPPED_NEAR
    return StepFinding(band, f"Other words stand where others stood: {event.words!r}.")


def _without_nodes(evidence: StepEvidence) -> StepFinding:
    """Return what there is to say where no node changed, but what changes by itself."""
    if evidence.arrival.answered:
        return StepFinding(StepBand.ANSWERED, "The page has changed what was clicked, though not in words.")
    if evidence.page.selected:
        return StepFinding(StepBand.FOCUSED, f"Words are selected now: {evidence.page.selected!r}.")
    if _field_was_focused(evidence):
        return StepFinding(StepBand.FOCUSED, "The field has the focus now.")
    if evidence.events or evidence.page.retitled:
        return StepFinding(StepBand.AMBIENT, "Only what changes by itself has changed, such as a clock.")
    if client_saw(evidence):
        return StepFinding(StepBand.SEEN_BY_CLIENT, "The client saw something happen; nothing to act on changed.")
    return StepFinding(StepBand.NOTHING, "Nothing changed.")


def client_saw(evidence: StepEvidence) -> bool:
    """Return whether a client has seen anything come of its action."""
    client = evidence.claim.client
    return bool(client.network or client.mutation or client.url_changed)


def _field_was_focused(evidence: StepEvidence) -> bool:
    """Return whether a field was given the focus, which is all that a click on one does."""
    node = evidence.target
    return (
        node is not None
        and node.role in {"inp", "sel"}
        and evidence.claim.after.focused == node.id != evidence.claim.before.focused
    )


# -- fields ------------------------------------------------------------------------------------------------------------


def _filled(evidence: StepEvidence) -> StepFinding:
    """Judge setValue, type and selectDropdown: the field says now what it should."""
    arguments = evidence.claim.action.arguments
    wanted = str(arguments.get("value", arguments.get("text", "")))
    node = evidence.target_after
    if node is None:
        return _typed_on_page(wanted, evidence) or general_effect(evidence)
    before = evidence.target.value if evidence.target is not None else None
    if node.id in evidence.claim.typed or _MASK.match(node.value or ""):
        return _masked(before or "", node.value or "", evidence)
    if (node.value or "") == (before or "") and not evidence.page.nodes_changed and not client_saw(evidence):
        return StepFinding(StepBand.NOTHING, "The field has the value that it had.")
    return _by_value(wanted, before or "", node.value or "", keeps=not arguments.get("clear", True))


def _typed_on_page(wanted: str, evidence: StepEvidence) -> StepFinding | None:
    """Judge what was typed into no field, as terminals take it: it stands among the words of the page now."""
    renamed = ((one.before.name, one.after.name) for one in evidence.page.altered)
    texts = (*renamed, *(("", one.name) for one in evidence.page.added))
    if wanted.strip() and any(now.count(wanted) > before.count(wanted) for before, now in texts):
        return StepFinding(StepBand.NEARLY_AS_WANTED, "What was typed stands on the page.")
    return None


def _by_value(wanted: str, before: str, now: str, *, keeps: bool) -> StepFinding:
    """Compare the value of a field with what was asked for; where it `keeps` what it had, that stands before it."""
    if now.strip() == wanted.strip() or spoken(now) == spoken(wanted) != "  ":
        return StepFinding(StepBand.AS_WANTED, "The field has the value that was asked for.")
    if keeps and before and now == before + wanted:
        return StepFinding(StepBand.AS_WANTED, "The field has what it had, and the value that was asked for.")
    if _same_figures(wanted, now) or _is_cut(wanted, now) or (wanted and spoken(wanted) in spoken(now) and not before):
        return StepFinding(StepBand.NEARLY_AS_WANTED, "The field has the value that was asked for, in another form.")
    return StepFinding(StepBand.NOT_AS_WANTED, f"The field has another value than was asked for: {now[:_CUT_CHARS]!r}.")


def _masked(before: str, now: str, evidence: StepEvidence) -> StepFinding:
    """Judge a field whose value nobody looks at: it must have one that it had not."""
    if now and len(now) != len(before):
        return StepFinding(StepBand.MASKED, "The field has a value now; it is not looked at.")
    if client_saw(evidence) or evidence.change is not None or evidence.claim.client.status == "success":
        return StepFinding(StepBand.MASKED, "Something was put into the field; it is not looked at.")
    return StepFinding(StepBand.NOTHING, "The field is as it was.")


def _same_figures(wanted: str, now: str) -> bool:
    """Return whether two texts have the same figures and little else, as dates and phone numbers are written anew.

    Figures that letters stood between are not the same where those are gone.
    """
    one, other = re.findall(r"\d+", wanted), re.findall(r"\d+", now)
    if not one or not other:
        return False
    same = sorted(f"{int(figure):d}" for figure in one) == sorted(f"{int(figure):d}" for figure in other)
    return same or ("".join(one) == "".join(other) and not re.search(r"[^\W\d_]", wanted))


def _is_cut(wanted: str, now: str) -> bool:
    kept = now.rstrip("….")
    return len(kept) >= _CUT_CHARS and wanted.startswith(kept)


def _selected(evidence: StepEvidence) -> StepFinding:
    """Judge selectDropdown: its value is the option, or an option of several."""
    finding, wanted = _filled(evidence), spoken(str(evidence.claim.action.arguments.get("value", "")))
    node = evidence.target_after
    if (
        finding.band is StepBand.NOT_AS_WANTED
        and node is not None
        and wanted.strip()
        and wanted in spoken(node.value or "")
    ):
        return StepFinding(StepBand.NEARLY_AS_WANTED, "What was asked for is among what is selected.")
    return finding


def _ticked(evidence: StepEvidence) -> StepFinding:
    """Judge check and uncheck: the box is as it should be, and was not before."""
    wanted, node = evidence.claim.action.name == "check", evidence.target_after
    if node is None:
        return general_effect(evidence)
    now = bool(node.states & _CHOSEN)
    if now is not wanted:
        observed = evidence.page.nodes_changed or client_saw(evidence)
        return StepFinding(StepBand.NOT_AS_WANTED if observed else StepBand.NOTHING, "The box is as it was.")
    if evidence.change is None and not client_saw(evidence):
        return StepFinding(StepBand.NOTHING, "The box was as it should be before.")
    return StepFinding(StepBand.AS_WANTED, "The box is as it should be.")


# -- pages -------------------------------------------------------------------------------------------------------------


def _navigated(evidence: StepEvidence) -> StepFinding:
    """Judge navigate and createTab: the page stands at the address that was asked for."""
    wanted, now = str(evidence.claim.action.arguments.get("url", "")), evidence.claim.after.url
    absolute = wanted if "://" in wanted or not wanted else f"https://{wanted}"
    if now.startswith("chrome-error:"):
        return StepFinding(StepBand.FAILED, "The browser could not open the page.")
    change = address_change(absolute, now)
    if wanted and change <= AddressChange.FRAGMENT:
        return StepFinding(StepBand.THERE, "The page stands at the address that was asked for.")
    if evidence.page.significant or evidence.page.tabs > 0:
        elsewhere = wanted and change is AddressChange.HOST and _host(now) not in _host(absolute)
        band = StepBand.ELSEWHERE_NAVIGATED if elsewhere and _host(absolute) not in _host(now) else StepBand.NAVIGATED
        return StepFinding(band, "The page stands at another address than before.")
    return general_effect(evidence) if not wanted else StepFinding(StepBand.NOT_AS_WANTED, "The page is where it was.")


def _host(url: str) -> str:
    return url.partition("://")[2].partition("/")[0].partition(":")[0].removeprefix("www.").lower()


def _went(evidence: StepEvidence) -> StepFinding:
    """Judge goBack, goForward, search and switch: another page is there."""
    if evidence.page.significant or evidence.page.tabs:
        return StepFinding(StepBand.NAVIGATED, "The page stands at another address than before.")
    return general_effect(evidence)


def _reloaded(evidence: StepEvidence) -> StepFinding:
    """Judge refresh: the page is there again; where it is the same, only who did it can say so."""
    if evidence.page.changed or client_saw(evidence) or evidence.claim.client.status == "success":
        return StepFinding(StepBand.NAVIGATED, "The page was loaded again.")
    return StepFinding(StepBand.NOTHING, "Nothing shows that the page was loaded again.")


def _scrolled(evidence: StepEvidence) -> StepFinding:
    """Judge scroll and scroll_container: something stands elsewhere than before."""
    if evidence.page.scrolled:
        return StepFinding(StepBand.SCROLLED, "The scroll position is another.")
    if evidence.page.added or evidence.page.removed:
        return StepFinding(StepBand.SCROLLED, "Other parts of the page are in sight.")
    return StepFinding(StepBand.NOTHING, "Nothing was scrolled.")


def _pressed(evidence: StepEvidence) -> StepFinding:
    """Judge press: as any action, and the focus may have moved or the value of the field changed."""
    finding = general_effect(evidence)
    if finding.band in {StepBand.NOTHING, StepBand.AMBIENT, StepBand.SEEN_BY_CLIENT} and evidence.page.refocused:
        return StepFinding(StepBand.FOCUSED, "The focus is elsewhere than before.")
    return finding


def _focused(evidence: StepEvidence) -> StepFinding:
    """Judge focus and blur: the focus is where it should be."""
    wanted = evidence.claim.action.name == "focus"
    has = evidence.claim.after.focused == evidence.claim.action.element
    if has is wanted and evidence.page.refocused:
        return StepFinding(StepBand.FOCUSED, "The focus is where it should be.")
    return (
        general_effect(evidence) if evidence.page.nodes_changed else StepFinding(StepBand.NOTHING, "The focus stayed.")
    )


def _hovered(evidence: StepEvidence) -> StepFinding:
    """Judge hover: something came up, or the node says that the pointer is over it."""
    node = evidence.target_after
    if node is not None and node.states & {"hovered", "active"}:
        return StepFinding(StepBand.FOCUSED, "The pointer is over it.")
    return general_effect(evidence)


# -- what is not seen on the page --------------------------------------------------------------------------------------


def _read(evidence: StepEvidence) -> StepFinding:
    """Judge what only reads: it has returned something, or nobody says that it failed."""
    if evidence.claim.text.strip() or evidence.claim.client.actual_state.strip():
        return StepFinding(StepBand.READ, "It returned what was read.")
    if evidence.claim.action.name == "screenshot" and evidence.claim.client.status == "success":
        return StepFinding(StepBand.READ, "The picture was taken.")
    return StepFinding(StepBand.NOTHING, "Nothing was read.")


def _waited(evidence: StepEvidence) -> StepFinding:
    """Judge wait and waitForElement: the time is over, or the element is there."""
    if evidence.claim.action.name == "wait" or evidence.target_after is not None:
        return StepFinding(StepBand.READ, "It waited, and what it waited for is there.")
    return StepFinding(StepBand.NOT_AS_WANTED, "What it waited for is not there.")


def _verified(evidence: StepEvidence) -> StepFinding:
    """Judge verifySuccess: the words stand on the page, or the page says that it went well."""
    wanted = str(evidence.claim.action.arguments.get("text", ""))
    after = evidence.claim.after
    words = [after.title, *(one.name for one in after.nodes), *(one.value or "" for one in after.nodes)]
    if wanted and any(spoken(wanted) in spoken(one) for one in (*words, *after.recent_events)):
        return StepFinding(StepBand.EXPECTED, "The page has the words that were looked for.")
    if not wanted and after.has_success and not after.has_errors:
        return StepFinding(StepBand.MESSAGE, "The page says that it went well.")
    return StepFinding(StepBand.UNEXPECTED, "The page does not say so.")


def _served(evidence: StepEvidence) -> StepFinding:
    """Return that an action which no page sees was done."""
    return StepFinding(StepBand.SERVED, f"{evidence.claim.action.name} was done without the page.")


def _answered(evidence: StepEvidence) -> StepFinding:
    """Judge acceptDialog and dismissDialog: the dialog is gone, or another one stands in its place."""
    if evidence.page.dialog_closed or evidence.page.dialog_opened:
        return StepFinding(StepBand.AS_WANTED, "The dialog was answered.")
    return general_effect(evidence)


_RULES: Final[Mapping[str, Callable[[StepEvidence], StepFinding]]] = MappingProxyType(
    {
        "setValue": _filled,
        "type": _filled,
        "selectDropdown": _selected,
        "check": _ticked,
        "uncheck": _ticked,
        "navigate": _navigated,
        "createTab": _navigated,
        "goBack": _went,
        "goForward": _went,
        "search": _went,
        "googleSearch": _went,
        "switch": _went,
        "close": _went,
        "refresh": _reloaded,
        "scroll": _scrolled,
        "scroll_container": _scrolled,
        "press": _pressed,
        "focus": _focused,
        "blur": _focused,
        "hover": _hovered,
        "wait": _waited,
        "waitForElement": _waited,
        "acceptDialog": _answered,
        "dismissDialog": _answered,
        "verifySuccess": _verified,
    }
    | dict.fromkeys(READS, _read)
    | dict.fromkeys(SERVED - {"verifySuccess"}, _served)
)
