"""Finds what stands in the way of a task that only its user can take away: by words, and by where they stand.

A page that talks about captchas or passwords is no blocker: the words must stand where such a thing would be.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Final

from msgspec import Struct

from actors.verifier.steps.attribution import StepEvidence, box_of, gap
from actors.verifier.steps.comparison import is_control
from actors.verifier.steps.phrases import says, word_count
from protocol.acting.steps import Blocker, BlockerKind
from protocol.acting.tree import SemanticNode

CERTAIN: Final = 0.8
"""Below this nothing stops a task (001, blockers)."""

_FEW_CONTROLS = 8
"""A page with more has something of its own beside an error."""

_COVERED = 0.4
_SHORT_WORDS = 14
_STATUS = re.compile(
    r"^\W*(?:(?:http|error|fehler|erreur|errore|erro|fout)\W+)?(?:404|410|50[0-4])\s*"
    r"(?:$|[^\w\s.,%$€]|(?:page|not|gone|server|internal|bad|service|gateway|error|fehler|erreur|errore|erro|fout)\b)",
    re.IGNORECASE,
)
_BESIDE_PX = 300.0
_MANY_NODES = 100
"""On another page of more nodes than these a sentence among them is no answer to a login."""

_MESSAGES = frozenset({"aler", "stat"})
_PROMINENT = frozenset({"h", "aler", "dial"})


class BlockerView(Struct, frozen=True, dict=True):
    """A page as it is after an action, by what matters for what may stand in the way."""

    evidence: StepEvidence

    @cached_property
    def nodes(self) -> tuple[SemanticNode, ...]:
        """All nodes of the page."""
        return self.evidence.claim.after.nodes

    @cached_property
    def controls(self) -> tuple[SemanticNode, ...]:
        """What can be acted on."""
        return tuple(one for one in self.nodes if is_control(one))

    @cached_property
    def bare(self) -> bool:
        """Whether there is little to act on: a page that says one thing."""
        return len(self.controls) <= _FEW_CONTROLS

    @cached_property
    def has_password(self) -> bool:
        """Whether there is a field for a password."""
        return any(one.role == "inp" and _is_password(one) for one in self.nodes)

    @cached_property
    def loud(self) -> tuple[str, ...]:
        """What the page says loudest: its title, headings, messages and what just happened."""
        shown = (one.name for one in self.nodes if one.role in _PROMINENT)
        return (self.evidence.claim.after.title, *shown, *self.evidence.page.events)

    @cached_property
    def messages(self) -> tuple[str, ...]:
        """What was not there before, and what is marked as a message."""
        fresh = (one.name for one in self.evidence.new_texts())
        return (*self.evidence.page.events, *fresh, *self.marked)

    @cached_property
    def marked(self) -> tuple[str, ...]:
        """What is marked as a message."""
        return tuple(one.name for one in self.nodes if one.role in _MESSAGES)

    def texts(self) -> Iterator[str]:
        """Yield each short text of the page."""
        yield from (one.name for one in self.nodes if word_count(one.name) <= _SHORT_WORDS)


def blocker_of(evidence: StepEvidence) -> Blocker | None:
    """Return what stands in the way of a task on the page as it is now; None where nothing does for sure."""
    view = BlockerView(evidence)
    finding = filter(None, (rule(view) for rule in _RULES))
    return next((one for one in finding if one.confidence >= CERTAIN), None)


def _login_failed(view: BlockerView) -> Blocker | None:
    hidden_among = view.evidence.page.significant and len(view.nodes) > _MANY_NODES
    messages = (*view.loud, *view.marked) if hidden_among else view.messages
    short = [one for one in messages if word_count(one) <= _SHORT_WORDS]
    both = (one for one in short if says(one, "login_failure", "wrong") and says(one, "login_failure", "named"))
    words = _first(messages, "login_failure") or (next(both, "") if view.has_password else "")
    if not words:
        return None
    return Blocker(kind=BlockerKind.LOGIN_FAILED, confidence=0.95 if view.has_password else 0.8, words=words)


def _session_expired(view: BlockerView) -> Blocker | None:
    words = _first((*view.loud, *view.messages), "session_expired")
    if not words or not (view.bare or view.has_password):
        return None
    return Blocker(kind=BlockerKind.SESSION_EXPIRED, confidence=0.9, words=words)


def _mfa(view: BlockerView) -> Blocker | None:
    fields = [one for one in view.nodes if one.role == "inp" and not _is_password(one)]
    wanted = any(says(f"{one.name} {one.context}", "mfa", "fields") or says(one.name, "mfa") for one in fields)
    words = _first((*view.loud, *view.texts()), "mfa")
    if not words or not wanted or len(fields) > _FEW_CONTROLS:
        return None
    return Blocker(kind=BlockerKind.MFA, confidence=0.9, words=words)


def _captcha(view: BlockerView) -> Blocker | None:
    boxes = [one.name for one in view.nodes if one.role in {"chk", "btn", "inp", "img", "ifra"}]
    if words := _first(boxes, "captcha"):
        return Blocker(kind=BlockerKind.CAPTCHA, confidence=0.95, words=words)
    words = _first(view.loud, "captcha")
    if not words or not view.bare:
        return None
    return Blocker(kind=BlockerKind.CAPTCHA, confidence=0.9, words=words)


def _consent(view: BlockerView) -> Blocker | None:
    buttons = [one for one in view.nodes if one.role in {"btn", "link"} and says(one.name, "cookie_consent", "buttons")]
    words = next((one.name for one in view.nodes if _asks_consent(one, buttons)), "")
    if not words or all(one.occluded for one in buttons):
        return None
    target, own = view.evidence.target_after, {one.id for one in buttons}
    others = [one for one in view.controls if one.id not in own]
    covered = bool(others) and sum(one.occluded for one in others) >= _COVERED * len(others)
    wanted = target is not None and target.occluded and target.id not in own
    return Blocker(kind=BlockerKind.COOKIE_CONSENT, confidence=0.9, words=words) if covered or wanted else None


def _asks_consent(node: SemanticNode, buttons: Sequence[SemanticNode]) -> bool:
    """Return whether a text beside buttons of consent is about cookies or privacy."""
    if node.role == "link" or not says(node.name, "cookie_consent"):
        return False
    own, places = box_of(node), [box_of(one) for one in buttons]
    return own is None or any(box is None or gap(own, box) <= _BESIDE_PX for box in places)


def _loud_kind(kind: BlockerKind, name: str) -> Callable[[BlockerView], Blocker | None]:
    """Return a rule for what a page that says little else says loudly, or in a message."""

    def rule(view: BlockerView) -> Blocker | None:
        words = _first(view.loud if view.bare else view.evidence.page.events, name)
        if not words and view.bare and view.evidence.page.changed:
            words = _first(
                (one.name for one in view.evidence.new_texts() if word_count(one.name) <= _SHORT_WORDS), name
            )
        return Blocker(kind=kind, confidence=0.9 if view.bare else CERTAIN, words=words) if words else None

    return rule


def _browser_error(view: BlockerView) -> Blocker | None:
    if not view.evidence.claim.after.url.startswith("chrome-error:"):
        return None
    return Blocker(kind=BlockerKind.PAGE_ERROR, confidence=0.99, words=view.evidence.claim.after.title)


def _status_told(view: BlockerView) -> Blocker | None:
    """Return the status of an error that a page begins with: its title, or a heading where there is little else."""
    title = view.evidence.claim.after.title
    heads = [one.name for one in view.nodes if one.role == "h"]
    stated = [one for one in heads if _STATUS.match(one)]
    if _STATUS.match(title) and (view.bare or stated):
        return Blocker(kind=BlockerKind.PAGE_ERROR, confidence=0.95, words=title)
    if stated and view.bare:
        return Blocker(kind=BlockerKind.PAGE_ERROR, confidence=0.85, words=stated[0])
    return None


def _status_answered(view: BlockerView) -> Blocker | None:
    """Return the status of an error that the page came with, where the page before had none."""
    before, after = view.evidence.claim.before, view.evidence.claim.after
    if not after.status or before.status or not view.evidence.page.significant:
        return None
    heading = next((one.name for one in view.nodes if one.role == "h"), after.title)
    return Blocker(kind=BlockerKind.PAGE_ERROR, confidence=0.95, words=f"HTTP status {after.status}, {heading}")


def _is_password(node: SemanticNode) -> bool:
    return says(f"{node.name} {node.context}", "password")


def _first(texts: Iterator[str] | tuple[str, ...] | list[str], kind: str) -> str:
    return next((one for one in texts if says(one, kind)), "")


_RULES: Final[tuple[Callable[[BlockerView], Blocker | None], ...]] = (
    _browser_error,
    _loud_kind(BlockerKind.RATE_LIMIT, "rate_limit"),
    _session_expired,
    _login_failed,
    _mfa,
    _captcha,
    _consent,
    _loud_kind(BlockerKind.ACCESS_DENIED, "access_denied"),
    _status_answered,
    _loud_kind(BlockerKind.PAGE_ERROR, "page_error"),
    _status_told,
)
