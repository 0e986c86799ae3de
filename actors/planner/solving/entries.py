"""Values for several fields in one clause, and the words of a login."""

from __future__ import annotations

import re
from typing import Final

from actors.planner.solving.clauses import MaskedText, clauses_of, has_own_stop
from actors.planner.solving.targets import fit, phrase_of
from protocol.acting.tree import PageTree

_FLAGS: Final = re.IGNORECASE
_VALUE: Final = r"⟦\d+⟧|\{\w+\}"
_PAIR: Final = re.compile(
    rf"(?:^|,|;|\band\b|\bund\b|\bet\b|\by\b)\s*(?:the|my|your|a|an)?\s*(?P<name>[^,;:⟦{{]+?)\s*(?::|=|\bas\b|\bis\b|\bto\b)?\s*(?P<value>{_VALUE})",
    _FLAGS,
)
_LISTED: Final = re.compile(
    r"(?:^|[,;\n])\s*(?:and\s+)?(?P<name>[\w '’/()-]{1,40}?)\s*[:=]\s*(?P<value>[^,;\n]+)", _FLAGS
)
_FILLING: Final = re.compile(
    r"^(?:enter|type|fill|write|input|put|gib|trage|saisis|introduce)\b(?:\s+(?:in|out))?\s*", _FLAGS
)
_LOG_IN: Final = re.compile(
    r"^(?:please\s+)?(?:log|sign)\s*(?:me\s+)?in(?:to)?\b(?P<rest>.*)$"
    r"|^(?:melde (?:dich|mich)|connecte[-z]\S*|inicia sesi[oó]n)\b(?P<other>.*)$",
    _FLAGS | re.DOTALL,
)
_USER: Final = re.compile(
    rf"(?<!{{)\b(?:as|user\s?name|user|e-?mail(?:\s+address)?|login|als|benutzername|comme|identifiant|como|usuario)\s*:?\s*(?:the\s+)?(?:user\s+)?(?P<value>{_VALUE}|[^\s,;]+)",
    _FLAGS,
)
_SECRET: Final = re.compile(
    rf"(?<!{{)\b(?:password|passcode|pin|passwort|kennwort|mot de passe|contraseña|(?:with|mit|avec|con)(?=\s+{{))"
    rf"\s*:?\s*(?P<value>{_VALUE}|[^\s,;]+)",
    _FLAGS,
)
_BOTH_GIVEN: Final = re.compile(r"\bwith\s+(?P<user>{[^{}]+})\s*(?:,|and)\s*(?P<value>{[^{}]+})\s*$", _FLAGS)
_BEHIND: Final = re.compile(
    r"\s*(?:[,.;]\s*(?:(?:and|und|et|y)\s+)?(?:then\b|dann\b)?|(?:and|und|et|y)(?:\s+(?:then|dann))?\b|then\b|dann\b)"
    r"[\s,]*(?P<rest>\S.*)$",
    _FLAGS | re.DOTALL,
)
"""What is to be done after a login."""

_MORE_THAN_ONE: Final = 2
_LONGEST_NAME: Final = 4
_NAMES_A_FIELD: Final = 0.8


def entries_in(clause: str) -> tuple[tuple[str, str], ...]:
    """Return the names of fields and their values where a clause fills several; else none."""
    masked = MaskedText(clause)
    filling = _FILLING.match(masked.text)
    if filling is None:
        return ()
    rest = masked.text[filling.end() :]
    rest = re.sub(
        r"\s+(?:in|into)\s+(?:the|both|all|its|these)?\s*(?:\w+\s+)?(?:fields?|form|boxes|textboxes|inputs)\s*$",
        "",
        rest,
        flags=_FLAGS,
    )
    for pairs in (_pairs(rest), _listed(rest)):
        if len(pairs) >= _MORE_THAN_ONE:
            return tuple((name, masked.whole(value)) for name, value in pairs)
    return ()


def entries_of_fields(clause: str, page: PageTree) -> tuple[tuple[str, str], ...]:
    """Return what a clause says for fields that the page has: `first name Ada, city Paris`, `Ada as the name`."""
    masked = MaskedText(clause)
    filling = _FILLING.match(masked.text)
    if filling is None:
        return ()
    rest = masked.text[filling.end() :]
    pieces = re.split(r"\s*,\s*(?:and\s+)?|\s+and\s+", rest)
    placed = [re.fullmatch(r"(.+?)\s+(?:as|for|into|in)\s+(?:the|my|your)?\s*(.+)", piece) for piece in pieces]
    if len(pieces) >= _MORE_THAN_ONE and all(placed):
        return tuple((one[2], _as_quote(masked.whole(one[1]))) for one in placed if one)
    described = [
        _described(masked.whole(piece), page) for piece in re.split(r"\s*[,;]\s*(?:and\s+)?", _after_form(rest))
    ]
    if len(described) >= _MORE_THAN_ONE and all(described):
        return tuple(one for one in described if one)
    names = sorted(
        {node.name.rstrip(":* ") for node in page.nodes if node.role in {"inp", "sel"}}, key=len, reverse=True
    )
    known = "|".join(re.escape(name) for name in names if name)
    if not known:
        return ()
    cue = re.compile(
        rf"\b(?P<name>{known})\b\s*(?::|=|is|as|to)?\s+(?P<value>.+?)(?=\s*(?:,|;|\band\b)\s*(?:the\s+)?(?:{known})\b|$)",
        _FLAGS,
    )
    entries = [(match["name"], _as_quote(masked.whole(match["value"]))) for match in cue.finditer(rest)]
    return tuple(entries) if len(entries) >= _MORE_THAN_ONE else ()


_FORM: Final = re.compile(
    r"^(?:(?:the|this|out|in)\s+)*(?:form|fields?|details)\s*(?:with|using|as follows)?\s*:?\s*", _FLAGS
)


def _after_form(text: str) -> str:
    return _FORM.sub("", text)


def _described(piece: str, page: PageTree) -> tuple[str, str] | None:
    """Return the name of a field of the page and the value behind it, where a piece begins with such a name."""
    words = re.sub(r"^(?:the|my|your|a|an)\s+", "", piece.strip(), flags=_FLAGS).split()
    fields = [node for node in page.nodes if node.role in {"inp", "sel"}]
    for length in range(min(len(words) - 1, _LONGEST_NAME), 0, -1):
        name = " ".join(words[:length])
        if any(fit(phrase_of(name), node) >= _NAMES_A_FIELD for node in fields):
            value = re.sub(r"^(?:is|as|to|=|:)\s+", "", " ".join(words[length:]))
            return name, _as_quote(value)
    return None


def _pairs(text: str) -> list[tuple[str, str]]:
    behind = re.sub(r"^.*?\b(?:with|mit|avec|con)\b\s*(?=.*⟦)", "", text, flags=_FLAGS)
    return [(match["name"].strip(), match["value"]) for match in _PAIR.finditer(behind)]


def _listed(text: str) -> list[tuple[str, str]]:
    lead = re.match(r"^[^:]*\b(?:with|form|fields|details|follows)\b\s*:?\s*", text, _FLAGS)
    behind = text[lead.end() :] if lead else text
    return [(match["name"].strip(), match["value"].strip()) for match in _LISTED.finditer(behind)]


def login_steps(goal: str, page: PageTree) -> tuple[str, ...]:
    """Return the steps of a login with given words; none where a goal is no such thing, or more than that."""
    masked = MaskedText(goal.strip())
    match = _LOG_IN.match(masked.text)
    if match is None:
        return ()
    rest = match["rest"] or match["other"] or ""
    both = _BOTH_GIVEN.search(rest)
    secret, user = _SECRET.search(rest), _USER.search(rest)
    if both is not None and (secret is None or user is None):
        return _login(both["user"], both["value"], page)
    if secret is None or user is None:
        return ()
    steps = _login(masked.whole(user["value"]), masked.whole(secret["value"]), page)
    behind = _BEHIND.match(rest[max(secret.end(), user.end()) :])
    return steps if behind is None else (*steps, *clauses_of(masked.whole(behind["rest"])))


def _login(user: str, secret: str, page: PageTree) -> tuple[str, ...]:
    has_form = any("password" in node.name.casefold() or node.role == "inp" for node in page.nodes)
    return (
        *(() if has_form else ("Click log in",)),
        f"Enter {_as_quote(user)} into the username field",
        f"Enter {_as_quote(secret)} into the password field",
        "Submit log in",
    )


def _as_quote(value: str) -> str:
    bare = value.strip().strip(",")
    bare = bare if has_own_stop(bare) else bare.rstrip(".")
    return bare if bare.startswith(("{", '"', "“", "'")) else f'"{bare}"'
