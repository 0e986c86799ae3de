"""The tab of a login: its form is found, filled in and sent, and it is watched until the outcome is clear."""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

import anyio
from msgspec import Struct

from actors.runner import login_rules
from actors.runner.login_rules import FieldQuery, LoginField
from actors.runner.login_types import LoginForm, LoginInputs, LoginState, SuccessIndicator, Verified
from actors.runner.template import D, StepContext, operate
from protocol.actions import Action
from protocol.browsers.operations import (
    CSS,
    Click,
    FindElement,
    GetPageInfo,
    HandleDialog,
    ListTabs,
    Operation,
    PressKey,
    TypeText,
    Wait,
    WaitForStable,
    typed_in,
)
from protocol.browsers.pageinfo import Candidate
from protocol.browsers.results import Acted, Found, PageInfo, Stable, Tabs
from protocol.faults import Code, FaultError, fault

MAX_ELEMENTS: Final = 300
_STABLE_MS: Final = 1_500
_MASKED_INPUT: Final = 'input[type="password"]:visible'
VERIFY_S: Final = 10.0
"""How long the success indicator may take to show."""

_LOOK_MS: Final = 700
_SURE: Final = 3
_BETWEEN_S: Final = 0.4
"""So many looks at a stable page, with so much time between, show that it stays as it is."""

RUN_AGAIN: Final = Action(
    action="run_again",
    description="Run the template anew, or resume this run, with credentials that are right.",
    tool_to_use="run_task_template",
)

_INDICATOR: Final = "inputs.successIndicator"


class LoginPage(Struct, frozen=True):
    """The tab in which a run logs in."""

    context: StepContext
    tab_id: int

    async def info(self, *, visible_only: bool = True) -> PageInfo:
        """Read the page."""
        look = GetPageInfo(tab_id=self.tab_id, max_elements=MAX_ELEMENTS, visible_only=visible_only)
        return await self._do(look, PageInfo)

    async def find(self, query: str) -> tuple[Candidate, ...]:
        """Find elements."""
        return (await self._do(FindElement(tab_id=self.tab_id, query=query), Found)).candidates

    async def appears(self, selector: str, within_ms: int) -> bool:
        """Wait until an element matches a selector; False where none does in that time."""
        try:
            await self._do(Wait(tab_id=self.tab_id, selector=selector, milliseconds=within_ms), Acted)
        except FaultError as error:
            if error.fault.code is not Code.ELEMENT_NOT_FOUND:
                raise
            return False
        return True

    async def is_stable(self) -> bool:
        """Wait until the page is stable, for a moment at most; False where it is not."""
        return (await self._do(WaitForStable(tab_id=self.tab_id, timeout=_STABLE_MS), Stable)).stable

    async def type_secret(self, element_id: str, secret: str) -> None:
        """Type what is secret: it travels sealed."""
        session = self.context.session_id or ""
        sealed = self.context.seal(secret, typed_in(session))
        await self._do(TypeText(tab_id=self.tab_id, element_id=element_id, text="", sealed=sealed), Acted)

    async def submit(self, form: LoginForm) -> Acted:
        """Submit the form; an alert of the page is accepted."""
        click = Click(tab_id=self.tab_id, element_id=form.submit or form.password)
        result = await self._do(click, Acted)
        if not form.submit:
            result = await self._do(PressKey(tab_id=self.tab_id, key="Enter"), Acted)
        if result.dialog is not None and result.dialog.type == "alert":
            result = await self._do(HandleDialog(tab_id=self.tab_id, action="accept"), Acted)
        return result

    async def cookies(self) -> int:
        """Count the cookies that the session has."""
        return (await self._do(ListTabs(), Tabs)).cookies

    async def find_form(self, queries: dict[LoginField, FieldQuery], within_ms: int) -> LoginForm:
        """Find the fields of the form, and wait once for those that are not drawn yet.

        Raises:
            FaultError: TPL_LOGIN_FIELD_NOT_FOUND with the input that names what is missing.
        """
        try:
            return await self._form(queries)
        except FaultError as error:
            if error.fault.code is not Code.TPL_LOGIN_FIELD_NOT_FOUND:
                raise
        query = queries[LoginField.PASSWORD].query or ""
        await self.appears(query.removeprefix(CSS) if query.startswith(CSS) else _MASKED_INPUT, within_ms)
        await self.is_stable()
        return await self._form(queries)

    async def _form(self, queries: dict[LoginField, FieldQuery]) -> LoginForm:
        info = await self.info()
        if refusal := login_rules.refusal(info):  # what asks for consent mostly lies over the form
            await self._do(Click(tab_id=self.tab_id, element_id=refusal), Acted)
            info = await self.info()
        password = await self._field(queries[LoginField.PASSWORD], info, "")
        username = await self._field(queries[LoginField.USERNAME], info, password)
        submit = await self._field(queries[LoginField.SUBMIT], info, password)
        return LoginForm(tab_id=self.tab_id, url=info.page.url, username=username, password=password, submit=submit)

    async def _field(self, query: FieldQuery, info: PageInfo, password: str) -> str:
        if query.query is None:
            return await self._default_field(query, info, password)
        candidates = await self._candidates(query, query.query)
        if query.by_selector:
            element = next((one.id for one in candidates if one.type in login_rules.KINDS[query.field]), "")
        else:
            element = login_rules.best(query.field, candidates, info, password)
        return element or _missing(query)

    async def _candidates(self, query: FieldQuery, text: str) -> tuple[Candidate, ...]:
        try:
            return await self.find(text)
        except FaultError as error:
            if error.fault.code is not Code.VALIDATION_INVALID_REQUEST or not query.by_selector:
                raise
            message = f"inputs.{query.named}: the browser does not understand that selector"
            raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field=f"inputs.{query.named}")) from None

    async def _default_field(self, query: FieldQuery, info: PageInfo, password: str) -> str:
        """Find a field without a query of the caller, as forms mostly have it."""
        suggested = login_rules.suggested(info)
        secret = suggested.get(LoginField.PASSWORD)
        if query.field in suggested and (not password or (secret is not None and secret.id == password)):
            return suggested[query.field].id
        if query.field is LoginField.USERNAME and (before := login_rules.beside(info, password)):
            return before
        candidates = await self.find(login_rules.DEFAULT_QUERIES[query.field])
        element = login_rules.best(query.field, candidates, info, password)
        if element or query.field is LoginField.SUBMIT:
            return element
        return _missing(query)

    async def _do(self, operation: Operation, kind: type[D]) -> D:
        return await operate(self.context, operation, kind)


async def verify(page: LoginPage, form: LoginForm, inputs: LoginInputs) -> Verified:
    """Look until the success indicator shows, or a stable page that asks to log in again.

    Raises:
        FaultError: AUTH_INVALID_CREDENTIALS; ELEMENT_NOT_FOUND or NETWORK_TIMEOUT where nothing became clear.
    """
    until, previous, agreed = anyio.current_time() + VERIFY_S, _Observation.NOTHING, 0
    while anyio.current_time() < until:
        stable, info = await page.is_stable(), await page.info()
        observation = await _observe(page, form, inputs.success_indicator, info, stable=stable)
        agreed = agreed + 1 if observation is previous else 1
        previous = observation
        if observation is _Observation.SUCCESS:
            return await _verified(page, info, LoginState.AUTHENTICATED, inputs)
        if observation is _Observation.REFUSAL and agreed >= _SURE:
            raise FaultError(fault(Code.AUTH_INVALID_CREDENTIALS, _refusal(info, form), actions=(RUN_AGAIN,)))
        if observation is _Observation.FORM_GONE and agreed >= _SURE:
            return await _verified(page, info, LoginState.UNKNOWN, inputs)
        await anyio.sleep(_BETWEEN_S)
    raise _unclear(inputs.success_indicator)


def _missing(query: FieldQuery) -> str:
    field = f"inputs.{query.named}"
    how = "fits" if query.by_selector else "is like"
    message = f"{field}: no {query.field.value} field of a login form is shown on the page that {how} it"
    if query.query is None:
        message = f"{field}: the page shows no {query.field.value} field of a login form; say what it is called"
    raise FaultError(fault(Code.TPL_LOGIN_FIELD_NOT_FOUND, message, field=field))


class _Observation(Enum):
    """What one look at the page has shown."""

    SUCCESS = auto()
    FORM_GONE = auto()
    REFUSAL = auto()
    NOTHING = auto()


async def _observe(
    page: LoginPage, form: LoginForm, indicator: SuccessIndicator, info: PageInfo, *, stable: bool
) -> _Observation:
    asks = login_rules.asks_again(info, form)
    if await _shows(page, indicator, info, asks=asks, stable=stable):
        return _Observation.SUCCESS
    if stable and (asks or login_rules.is_error(info)):
        return _Observation.REFUSAL
    return _Observation.FORM_GONE if stable and indicator.type == "stable" else _Observation.NOTHING


async def _shows(page: LoginPage, indicator: SuccessIndicator, info: PageInfo, *, asks: bool, stable: bool) -> bool:
    """Return whether the success indicator is there."""
    match indicator.type:
        case "selector":
            return await _appears(page, indicator.value or "")
        case "urlContains":
            return (indicator.value or "") in info.page.url and not asks
        case "stable":
            return stable and not asks and not login_rules.is_error(info) and login_rules.speaks_for_login(info)


async def _appears(page: LoginPage, selector: str) -> bool:
    try:
        return await page.appears(selector, _LOOK_MS)
    except FaultError as error:
        if error.fault.code is not Code.VALIDATION_INVALID_REQUEST:
            raise
        message = f"{_INDICATOR}.value: the browser does not understand that selector"
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field=f"{_INDICATOR}.value")) from None


async def _verified(page: LoginPage, info: PageInfo, state: LoginState, inputs: LoginInputs) -> Verified:
    return Verified(
        tab_id=page.tab_id,
        url=login_rules.without_password(info.page.url, inputs.credentials),
        title=info.page.title,
        login_state=state,
        cookies=await page.cookies(),
    )


def _refusal(info: PageInfo, form: LoginForm) -> str:
    if login_rules.asks_again(info, form):
        return "The page still asks to log in after the form was sent: the site does not take the credentials."
    return "The page shows an error after the form was sent."


def _unclear(indicator: SuccessIndicator) -> FaultError:
    within = f"within {VERIFY_S:g} s after the form was sent"
    if indicator.type == "stable":
        return FaultError(fault(Code.NETWORK_TIMEOUT, f"The page did not come to rest {within}."))
    message = f"{_INDICATOR}: it was not seen {within}; there is no form to log in by either"
    return FaultError(fault(Code.ELEMENT_NOT_FOUND, message, field=_INDICATOR))
