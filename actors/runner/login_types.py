"""The types of login_keep_session: its inputs, its result, and the outputs of its steps."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from protocol.pages import Url
from protocol.sessions import DEFAULT_PROFILE, Profile

MAX_SECRET_CHARS: Final = 1_000
MAX_WORDS_CHARS: Final = 290

Secret = Annotated[str, Meta(min_length=1, max_length=MAX_SECRET_CHARS)]
Words = Annotated[str, Meta(min_length=1, max_length=MAX_WORDS_CHARS)]
Css = Annotated[str, Meta(min_length=1, max_length=MAX_WORDS_CHARS, description="CSS.")]


class Locate(StrEnum):
    """How the fields are looked for."""

    SELECTOR = "selector"
    SEMANTIC = "semantic"


class LoginState(StrEnum):
    """Whether it was seen that somebody is logged in."""

    AUTHENTICATED = "authenticated"
    UNKNOWN = "unknown"


class _Input(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """Something that a caller says."""


class Credentials(_Input, frozen=True, kw_only=True):
    """Who logs in: in memory and in the form alone."""

    username: Secret
    password: Secret

    def __repr__(self) -> str:
        """Show neither of the two: a repr may be logged."""
        return "Credentials(...)"


class FormFields(_Input, frozen=True, kw_only=True):
    """Where the form has its fields: by selectors, or by words of what they say; without words as forms mostly are."""

    mode: Locate = Locate.SEMANTIC
    username_selector: Css | None = None
    password_selector: Css | None = None
    submit_selector: Css | None = None
    username_query: Words | None = None
    password_query: Words | None = None
    submit_query: Words | None = None


class Hints(_Input, frozen=True, kw_only=True):
    """The three fields in an older form of the inputs."""

    username: Words | None = None
    password: Words | None = None
    submit: Words | None = None


class SuccessIndicator(_Input, frozen=True, kw_only=True):
    """What shows that the login has succeeded: an element, a part of the address, or that the form is gone."""

    type: Literal["selector", "urlContains", "stable"] = "stable"
    value: Annotated[str, Meta(min_length=1, max_length=500)] | None = None


class LoginInputs(_Input, frozen=True, kw_only=True):
    """login_keep_session: what it is given.

    `profile` is the saved login that is kept up to date, for `sessionProfile` of a browse. What follows it is an older
    form of `fields`.
    """

    start_url: Annotated[Url, Meta(description="Page with the login form.")]
    credentials: Annotated[Credentials | None, Meta(description="Needed; never stored.")] = None
    fields: FormFields = FormFields()
    success_indicator: SuccessIndicator = SuccessIndicator()
    profile: Annotated[Profile, Meta(description="Where the login is saved for later browse calls.")] = DEFAULT_PROFILE
    locate_mode: Annotated[Locate | None, Meta(description="Older form of fields.mode.")] = None
    selectors: Annotated[Hints | None, Meta(description="Older form of fields.*Selector.")] = None
    semantic_hints: Annotated[Hints | None, Meta(description="Older form of fields.*Query.")] = None


class LoginResult(Struct, frozen=True, kw_only=True, rename="camel"):
    """login_keep_session: what it came to; `title` is the web's.

    `login_state` is unknown where nothing but the end of the form speaks for success. `cookies_saved` counts those
    that the session has. What follows it is added to the contract.
    """

    success: bool
    session_id: str
    final_url: str
    title: str
    login_state: LoginState
    cookies_saved: int
    profile: str | UnsetType = UNSET


class Opened(Struct, frozen=True, kw_only=True, rename="camel"):
    """open_login_page: the tab."""

    tab_id: int
    url: str
    title: str = ""


class LoginForm(Struct, frozen=True, kw_only=True, rename="camel"):
    """find_fields: the elements by their ids; without one for `submit` the form is sent by Enter."""

    tab_id: int
    url: str
    username: str
    password: str
    submit: str = ""


class Filled(Struct, frozen=True, kw_only=True, rename="camel"):
    """fill_credentials: nothing of what was filled in."""

    tab_id: int


class Sent(Struct, frozen=True, kw_only=True, rename="camel"):
    """submit: where that led."""

    tab_id: int
    url: str


class Verified(Struct, frozen=True, kw_only=True, rename="camel"):
    """verify_login: what is told of it."""

    tab_id: int
    url: str
    title: str
    login_state: LoginState
    cookies: int
