"""Rules for pages with login forms: which elements are the fields, are they filled in, is the form still there."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from urllib.parse import quote, quote_plus, urldefrag, urlsplit

from msgspec import Struct

from actors.runner.login_types import Credentials, FormFields, Hints, Locate, LoginForm, LoginInputs
from protocol.browsers.operations import CSS
from protocol.browsers.pageinfo import Candidate, Element, ElementKind, ViewType
from protocol.browsers.results import PageInfo

LOGIN, LOGOUT, CONSENT = "login", "logout", "manage_consent"
"""The intents of a page that concern logins, and the consent that is asked for before them."""

_REFUSES = re.compile(
    r"\b(?:reject|decline|refuse|deny|necessary|essential|ablehnen|notwendige|refuser|rechazar|rifiuta)\b|拒绝|必要",
    re.IGNORECASE,
)

_PRESSED = frozenset({ElementKind.BUTTON, ElementKind.LINK, ElementKind.OTHER, ElementKind.MENU_ITEM, ElementKind.TAB})


class LoginField(StrEnum):
    """The three fields of a form, as the inputs name them."""

    USERNAME = "username"
    PASSWORD = "password"  # noqa: S105 - the name of a field
    SUBMIT = "submit"


DEFAULT_QUERIES: Mapping[LoginField, str] = {
    LoginField.USERNAME: "username or email",
    LoginField.PASSWORD: "password",
    LoginField.SUBMIT: "log in",
}
KINDS: Mapping[LoginField, frozenset[ElementKind]] = {
    LoginField.USERNAME: frozenset({ElementKind.INPUT, ElementKind.SELECT}),
    LoginField.PASSWORD: frozenset({ElementKind.INPUT}),
    LoginField.SUBMIT: _PRESSED,
}


class FieldQuery(Struct, frozen=True):
    """How a field is found: by the `query` of find_element, from the input `named`; by default without one."""

    field: LoginField
    query: str | None
    named: str

    @property
    def by_selector(self) -> bool:
        """Whether the query is a selector: the caller names exactly one element."""
        return self.query is not None and self.query.startswith(CSS)


def field_queries(inputs: LoginInputs) -> dict[LoginField, FieldQuery]:
    """Return the query of each field, from either form of the inputs."""
    mode = locate_mode(inputs)
    return {field: _query(inputs, field, mode) for field in LoginField}


def locate_mode(inputs: LoginInputs) -> Locate:
    """Return how the fields are found, from either form of the inputs."""
    if inputs.locate_mode is None and inputs.selectors is not None:
        return Locate.SELECTOR
    return inputs.locate_mode or inputs.fields.mode


def suggested(info: PageInfo) -> dict[LoginField, Element]:
    """Return the fields of the login form that a page suggests, if it has one with a password."""
    ids = next((one.suggested_element_ids for one in info.recommended_by_intent if one.intent == LOGIN), ())
    by_id = {element.id: element for element in info.elements}
    suggested_elements = [by_id[name] for name in ids if name in by_id]
    inputs = [element for element in suggested_elements if element.type is ElementKind.INPUT]
    if not inputs:
        return {}
    fields = {LoginField.PASSWORD: inputs[-1]}
    if len(inputs) > 1:
        fields[LoginField.USERNAME] = inputs[0]
    pressed = [element for element in suggested_elements if element.type is ElementKind.BUTTON]
    if pressed:
        fields[LoginField.SUBMIT] = pressed[0]
    return fields


def refusal(info: PageInfo) -> str:
    """Return the element that refuses the consent which a page asks for, `""` where it asks for none."""
    ids = next((one.suggested_element_ids for one in info.recommended_by_intent if one.intent == CONSENT), ())
    labels = {element.id: element.label for element in info.elements}
    return next((name for name in ids if _REFUSES.search(labels.get(name, ""))), "")


def best(field: LoginField, candidates: Sequence[Candidate], info: PageInfo, near: str = "") -> str:
    """Choose among candidates of the kind of a field: those in the region of `near` first, then by their score.

    Of equal ones the one in the smaller form: a login has fewer fields than a registration.
    """
    by_id = {element.id: element for element in info.elements}
    region = by_id[near].region if near in by_id else ""

    def rank(one: Candidate) -> tuple[bool, bool, float, int]:
        where = by_id[one.id].region if one.id in by_id else ""
        elsewhere = bool(region) and where != region
        return (elsewhere, one.type is ElementKind.LINK, -one.score, _inputs(info, where))

    fitting = [one for one in candidates if one.type in KINDS[field] and one.id != near]
    return min(fitting, key=rank).id if fitting else ""


def beside(info: PageInfo, password: str) -> str:
    """Return the input right before that of the password."""
    by_id = {element.id: element for element in info.elements}
    secret = by_id.get(password)
    if secret is None or secret.box is None:
        return ""
    before = [
        (element.box.y, element.box.x, element.id)
        for element in info.elements
        if element.type is ElementKind.INPUT and element.region == secret.region and element.box is not None
        if (element.box.y, element.box.x) < (secret.box.y, secret.box.x)
    ]
    return max(before)[2] if before else ""


def is_filled(info: PageInfo, form: LoginForm) -> bool | None:
    """Return whether both fields hold something; None where they are no longer there."""
    values = {element.id: element.value for element in info.elements}
    if form.username not in values or form.password not in values:
        return None
    return bool(values[form.username]) and bool(values[form.password])


def asks_again(info: PageInfo, form: LoginForm) -> bool:
    """Return whether the page shows a login form: the one that was filled in, or another."""
    same = any(element.id == form.password for element in info.elements) and is_same_page(info.page.url, form.url)
    return same or LoginField.PASSWORD in suggested(info)


def is_error(info: PageInfo) -> bool:
    """Return whether the page shows an error."""
    return info.page.type is ViewType.ERROR


def speaks_for_login(info: PageInfo) -> bool:
    """Return whether the page offers to log out."""
    return LOGOUT in info.intents


def is_same_page(one: str, other: str) -> bool:
    """Return whether two addresses differ in nothing but their queries and fragments."""
    return urldefrag(one).url.partition("?")[0] == urldefrag(other).url.partition("?")[0]


def without_password(url: str, credentials: Credentials | None) -> str:
    """Return an address that may be shown: without its query where a form has put the password into it."""
    if credentials is None:
        return url
    secret = credentials.password
    forms = {secret, quote(secret), quote(secret, safe=""), quote_plus(secret)}
    parts = urlsplit(url)
    if not any(form in part for form in forms for part in (parts.query, parts.fragment)):
        return url
    return parts._replace(query="", fragment="").geturl()


def _query(inputs: LoginInputs, field: LoginField, mode: Locate) -> FieldQuery:
    if mode is Locate.SELECTOR:
        older = _hint(inputs.selectors, field)
        selector = _form_field(inputs.fields, f"{field.value}_selector") or older
        named = f"selectors.{field.value}" if older else f"fields.{field.value}Selector"
        return FieldQuery(field, f"{CSS}{selector}" if selector else None, named)
    older = _hint(inputs.semantic_hints, field)
    query = _form_field(inputs.fields, f"{field.value}_query") or older
    return FieldQuery(field, query, f"semanticHints.{field.value}" if older else f"fields.{field.value}Query")


def _form_field(fields: FormFields, name: str) -> str | None:
    value: str | None = getattr(fields, name)
    return value


def _hint(hints: Hints | None, field: LoginField) -> str | None:
    if hints is None:
        return None
    value: str | None = getattr(hints, field.value)
    return value


def _inputs(info: PageInfo, region: str) -> int:
    return sum(element.type is ElementKind.INPUT and element.region == region for element in info.elements)
