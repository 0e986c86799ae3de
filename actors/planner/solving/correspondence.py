"""Goals about messages: whose message it is, and to whom it goes, in whatever order a sentence says so."""

from __future__ import annotations

import re
from typing import Final

from actors.planner.solving.clauses import MaskedText

_FLAGS: Final = re.IGNORECASE
_ABOUT: Final = re.compile(r"\b(?:e-?mails?|messages?|inbox|mail|information|note)\b", _FLAGS)
_NAME: Final = r"(?P<name>⟦\d+⟧|[A-ZÄÖÜ][\w\-]+(?:\s+[A-ZÄÖÜ][\w\-]+)?|[\w.+-]+@[\w.-]+)"
_VERBS: Final = r"(?:sent|wrote|has sent|has written|mailed|emailed|gave|forwarded|received)"
_SENDERS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b(?:[Ff]rom|[Bb]y|[Ww]ritten by|[Ss]ent by)\s+{_NAME}",
        rf"{_NAME}['’]s\s+(?:\w+\s+)?(?:e-?mails?|messages?|mail|note|information)",
        rf"{_NAME}\s+{_VERBS}\b",
        rf"\b(?:e-?mail|message)s?\s+of\s+{_NAME}",
    )
)
_RECIPIENTS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b[Tt]o\s+{_NAME}",
        rf"\b(?:[Gg]ive|[Ss]end|[Ff]orward|[Ss]how|[Pp]ass|[Mm]ail|[Ee]mail)\s+{_NAME}",
        rf"{_NAME}\s+(?:wants|needs|should (?:get|receive|have)|must (?:get|receive))\b",
    )
)
_NOT_NAMES: Final = frozenset(
    {"Find", "Look", "Forward", "Send", "Please", "The", "This", "Email", "Give", "Delete", "Reply"}
)
_DELETES: Final = re.compile(r"\b(?:delete|deleted|trash|remove|removed|erase|get rid|bin|discard)\b", _FLAGS)
_STARS: Final = re.compile(r"\b(?:star|starred|important|flag|favou?rite)\b", _FLAGS)
_REPLIES: Final = re.compile(r"\b(?:reply|respond|answer|write back)\b", _FLAGS)
_FORWARDS: Final = re.compile(r"\b(?:forward|forwarded|send|give|pass|share|show)\b", _FLAGS)


def correspondence_steps(goal: str) -> tuple[str, ...]:
    """Return the steps of a goal about one message; none where it is about none, or does not say whose."""
    masked = MaskedText(goal.strip())
    text = masked.text
    if not (_ABOUT.search(text) or re.match(r"(?:forward|reply)\b", text, _FLAGS)):
        return ()
    recipient_span = _first(_RECIPIENTS, text)
    sender = _first(_SENDERS, text, without=recipient_span[0] if recipient_span else "")
    if sender is None and _REPLIES.search(text):
        sender = _first(_SENDERS, text) or recipient_span
    if sender is None:
        return ()
    thread = masked.whole(sender[0])
    if _REPLIES.search(text):
        words = re.search(r"⟦\d+⟧", text[text.casefold().find("repl") :] if "repl" in text.casefold() else text)
        if words is None:
            return ()
        return (f"Reply to {thread}", f"Enter {masked.whole(words[0])} into the message text", "Send the message")
    if _STARS.search(text):
        return (f"Star {thread}",)
    if _DELETES.search(text):
        return (f"Delete {thread}",)
    if _FORWARDS.search(text) and recipient_span is not None:
        whom = masked.whole(recipient_span[0]).strip('"“”')
        return (f"Forward {thread}", f'Enter "{whom}" into the recipient field', "Send the message")
    return ()


def _first(patterns: tuple[re.Pattern[str], ...], text: str, *, without: str = "") -> tuple[str, int] | None:
    for pattern in patterns:
        for match in pattern.finditer(text):
            name = match["name"].strip()
            if name != without and name.split(" ")[0] not in _NOT_NAMES:
                return name, match.start()
    return None
