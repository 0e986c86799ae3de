"""The values of a task: texts by name that stand nowhere but sealed, and `{name}` in their place everywhere else."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec
from msgspec import structs

from actors import redact
from bus.seal import Seal, UnsealError
from protocol.acting.act import MAX_VALUE_CHARS, MAX_VALUES, values_place
from protocol.acting.actions import ActionCall
from protocol.acting.tree import PageTree, SemanticNode
from protocol.faults import Code, FaultError, fault

NO_VALUES: Final = f"The values are a JSON object of {MAX_VALUES} texts at most, each of {MAX_VALUE_CHARS} characters."

_TELLING_WORDS: Final = (
    r"pass(?:word|code|phrase|wort)|kennwort|pwd|pin|cvc|cvv|otp|one[- ]time code|security code|mot de passe"
    r"|code secret|contrase[nñ]a|clave|wachtwoord|senha"
)
_LINKS: Final = r"(?:[\s:=]|\b(?:is|of|to|as|with|field|box|value|being|ist|lautet|est|es|de)\b){1,8}"
_INTO: Final = r"(?:as|into|in|for|to|als|en|como|comme|dans|per)"
_QUOTED: Final = re.compile(
    rf"(?<!\{{)\b({_TELLING_WORDS})\b({_LINKS})[\"'“„«`]([^\"'”“»`\n]{{1,256}})[\"'”“»`]", re.IGNORECASE
)
_BEFORE: Final = re.compile(
    rf"[\"'“„«`]([^\"'”“»`\n]{{1,256}})[\"'”“»`]\s+{_INTO}\s+(?:\w+\s+){{0,2}}[\"'“„«`]?(?<!\{{)\b({_TELLING_WORDS})\b",
    re.IGNORECASE,
)
_BARE: Final = re.compile(
    rf"(?<!\{{)\b({_TELLING_WORDS})(\s*[:=]\s*|\s+(?:(?:is|ist|est|es|as|of)\s+)?)([^\s\"'“”„«»`,;{{}}]{{3,256}})",
    re.IGNORECASE,
)
_CARD: Final = re.compile(r"\b(?:\d[ -]?){12,18}\d\b")
_PLACE: Final = re.compile(r"\{([A-Za-z_][\w.-]{0,63})\}")


def moved(goal: str, values: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Return a goal with its secrets taken out into the values: a password that is quoted in it, the number of a card.

    What of `values` stands in it in so many words is taken out likewise, where its name says that it is a secret.
    """
    kept = dict(values)
    for name, value in values.items():
        if value and redact.is_secret(name):
            goal = goal.replace(value, f"{{{name}}}")
    for pattern, word, secret in ((_BEFORE, 2, 1), (_QUOTED, 1, 3), (_BARE, 1, 3)):
        for match in list(pattern.finditer(goal)):
            if _PLACE.search(match[secret]) or (pattern is _BARE and not _is_announced(match)):
                continue
            goal = goal.replace(match[secret], f"{{{_kept(kept, _name_of(match[word]), match[secret])}}}")
    for match in list(_CARD.finditer(goal)):
        if _is_card(match[0]):
            goal = goal.replace(match[0], f"{{{_kept(kept, 'card_number', match[0])}}}")
    return goal, kept


def filled(action: ActionCall, values: Mapping[str, str]) -> ActionCall:
    """Return an action with the values in their places: for the page that it is performed on, and nobody else."""
    arguments = {name: put_in(value, values) for name, value in action.arguments.items()}
    return structs.replace(action, arguments=arguments)


def put_in(text: Any, values: Mapping[str, str]) -> Any:
    """Return a text with the values in their places; what is no text stays what it is."""
    if not isinstance(text, str):
        return text
    return _PLACE.sub(lambda match: values.get(match[1], match[0]), text)


def named_in(action: ActionCall, values: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of the values that an action puts in."""
    texts = (value for value in action.arguments.values() if isinstance(value, str))
    return tuple(dict.fromkeys(name for text in texts for name in _PLACE.findall(text) if name in values))


def masked(page: PageTree, values: Mapping[str, str], typed: Container[str] = ()) -> PageTree:
    """Return a page whose fields show `{name}` where they hold a secret, or what was put into them from the values.

    `typed` are the nodes that values were put into; what another field holds by chance is no value.
    """
    names = {value: name for name, value in values.items() if value}
    if not names or not page.nodes:
        return page
    return structs.replace(page, nodes=tuple(_masked(node, names, typed) for node in page.nodes))


def shown_values(values: Mapping[str, str]) -> Mapping[str, str]:
    """Return the values for whoever chooses: of a secret, its place alone."""
    shown = {name: f"{{{name}}}" if redact.is_secret(name) else value for name, value in values.items()}
    return MappingProxyType(shown)


def sealed_values(seal: Seal | None, task: str, values: Mapping[str, str]) -> bytes:
    """Seal the values of a task; b"" where there are none."""
    if not values:
        return b""
    if seal is None:
        msg = "values are sealed"
        raise ValueError(msg)
    return seal.seal(msgspec.json.encode(dict(values)), values_place(task))


def opened_values(seal: Seal | None, task: str, given: bytes) -> dict[str, str]:
    """Return the values of a task.

    Raises:
        FaultError: they are none, or were sealed for another task.
    """
    if not given:
        return {}
    values = _unsealed(seal, task, given)
    if values is None or len(values) > MAX_VALUES or any(len(one) > MAX_VALUE_CHARS for one in values.values()):
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, NO_VALUES, field="values"))
    return values


def _unsealed(seal: Seal | None, task: str, given: bytes) -> dict[str, str] | None:
    try:
        return msgspec.json.decode(seal.unseal(given, values_place(task)), type=dict[str, str]) if seal else None
    except (UnsealError, msgspec.MsgspecError):
        return None


def _masked(node: SemanticNode, names: Mapping[str, str], typed: Container[str]) -> SemanticNode:
    name = names.get(node.value or "", "")
    if not name or not (node.id in typed or redact.is_secret(name)):
        return node
    return structs.replace(node, value=f"{{{name}}}")


def _kept(values: dict[str, str], name: str, secret: str) -> str:
    """Keep a value under a name that no other has, and return it."""
    known = next((one for one, value in values.items() if value == secret), "")
    if known:
        return known
    free = next(one for one in (name, *(f"{name}_{count}" for count in range(2, MAX_VALUES + 3))) if one not in values)
    values[free] = secret
    return free


def _name_of(word: str) -> str:
    return re.sub(r"\W+", "_", word.lower())


def _is_announced(match: re.Match[str]) -> bool:
    """Return whether a bare word behind a telling one is a secret: it is announced, or no word of a language."""
    announced = any(sign in match[2] for sign in ":=") or " is " in f" {match[2].strip()} "
    return announced or any(not one.isalpha() for one in match[3].rstrip(".!?)"))


def _is_card(text: str) -> bool:
    """Return whether digits are the number of a card (Luhn)."""
    digits = [int(one) for one in text if one.isdigit()]
    doubled = [sum(divmod(2 * one, 10)) for one in digits[-2::-2]]
    return (sum(doubled) + sum(digits[-1::-2])) % 10 == 0
