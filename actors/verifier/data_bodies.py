"""Judges what came without markup, JSON and plain text: whether the little that it says is that there is no page."""

from __future__ import annotations

import re
from typing import cast

import msgspec

from actors.verdicts.certain import may_be_error
from actors.verdicts.kinds import REASONS
from actors.verdicts.views import ClaimView, Finding, refused
from actors.verifier.lexicon import KINDS, HashedText, folded, phrase_book
from actors.verifier.stated import kind_of_status
from protocol.page import PageKind

_SHARE = 0.4
"""The share of a short text that a phrase of a stand-in makes up, where the text is one."""

_SPOKEN = (
    *(PageKind.NOT_FOUND, PageKind.SERVER_ERROR, PageKind.FORBIDDEN, PageKind.RATE_LIMITED, PageKind.GEO_BLOCKED),
    *(PageKind.GONE, PageKind.MAINTENANCE, PageKind.LOGIN_WALL),
)
_MAX_FIELDS = 12
_ERROR_FIELDS = frozenset({"error", "errors", "error_code", "errorcode", "error_description", "fault", "exception"})
_STATUS_FIELDS = ("status", "statuscode", "status_code", "code", "error_code", "errorcode")
_WORD_FIELDS = ("message", "msg", "detail", "details", "reason", "title")
_CLEAR_STATUS_FIELDS, _CLEAR_WORD_FIELDS = frozenset({"status", "statuscode", "status_code"}), ("message", "msg")
"""A status and a title may be those of anything (`code` 404 is a colour): one of them must be clear."""

_STATUS = re.compile(r"[45]\d\d")


def error_in_data(page: ClaimView) -> Finding | None:
    """Refuse a body without markup that is an error: JSON that says so in its fields, or a short text that is one."""
    if not may_be_error(page):
        return None
    body = page.evidence.visible.strip()
    kind = _kind_of_data(body) if body.startswith(("{", "[")) else _kind_of_text(body)
    return refused(page, kind, f"{REASONS[kind]} ({' '.join(body.split())[:80]})") if kind else None


def _kind_of_text(text: str) -> PageKind | None:
    """Return what a short text is; of single words ("offline", "gone") only "forbidden" is no answer of its own."""
    kind = _spoken(text, _SHARE)
    return kind if kind is PageKind.FORBIDDEN or len(text.split()) > 1 else None


def _spoken(text: str, least: float) -> PageKind | None:
    """Return the kind whose phrases make up most of a text, where that is this share of it or more."""
    _, shares = phrase_book().counts(HashedText.of(folded(text)))
    best = max(_SPOKEN, key=lambda kind: float(shares[KINDS.index(kind)]))
    return best if shares[KINDS.index(best)] >= least else None


def _kind_of_data(body: str) -> PageKind | None:
    """Return what an object says that has an error, or a status that is one beside words, and little else."""
    try:
        data = msgspec.json.decode(body, type=dict[str, object])
    except msgspec.MsgspecError:
        return None
    fields = {name.casefold(): value for name, value in data.items()}
    error = next((fields[name] for name in sorted(_ERROR_FIELDS & fields.keys()) if fields[name]), None)
    if len(fields) > _MAX_FIELDS:
        return None
    inner = {name.casefold(): value for name, value in _object(error).items()}
    statuses = {name: _status(each[name]) for each in (fields, inner) for name in _STATUS_FIELDS if name in each}
    status = next(filter(None, statuses.values()), "")
    words = [str(each[name]) for each in (fields, inner) for name in _WORD_FIELDS if name in each]
    clear = any(statuses.get(name) for name in _CLEAR_STATUS_FIELDS) or any(map(fields.get, _CLEAR_WORD_FIELDS))
    if error is None and not (status and words and clear):
        return None
    spoken = kind_of_status(status) or _spoken(" ".join([*words, *_texts(error)]), 0.2)
    return spoken or (PageKind.SERVER_ERROR if status.startswith("5") else PageKind.FORBIDDEN if status else None)


def _status(value: object) -> str:
    return str(value) if isinstance(value, int | str) and _STATUS.fullmatch(str(value)) else ""


def _texts(error: object) -> list[str]:
    """Return the texts of an error: itself, those of its fields, or those that it lists."""
    if isinstance(error, str):
        return [error]
    values = list(_object(error).values())
    if isinstance(error, list):
        values = cast("list[object]", error)
    return [value for value in values if isinstance(value, str)]


def _object(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}
