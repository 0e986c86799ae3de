"""The tab in which somebody logs in, as the steps handle it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, TypeVar

import anyio

from actors.runner import login_rules
from actors.runner.login_rules import FieldQuery, LoginField
from actors.runner.login_types import LoginForm, LoginInputs, LoginState, SuccessIndicator, Verified
from actors.runner.template import StepContext
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
from protocol.browsers.results import Acted, Done, Found, PageInfo, Stable, Tabs
from protocol.faults import Action, Code, FaultError, fault

MAX_ELEMENTS: Final = 300
_REST_MS: Final = 1_500
_TYPED_BLIND: Final = 'input[type="password"]:visible'

D = TypeVar("D")


@dataclass(frozen=True)
class LoginPage:
    """One tab of the run's browser session."""

    context: StepContext
    tab_id: int

    async def info(self, *, visible_only: bool = True) -> PageInfo:
        """Look at the page."""
        look = GetPageInfo(tab_id=self.tab_id, max_elements=MAX_ELEMENTS, visible_only=visible_only)
        return await self._do(look, PageInfo)

    async def find(self, query: str) -> tuple[Candidate, ...]:
        """Find elements."""
        return (await self._do(FindElement(tab_id=self.tab_id, query=query), Found)).candidates

    async def comes(self, selector: str, within_ms: int) -> bool:
        """Wait until something is shown that a selector fits; False where it is not in that time."""
        try:
            await self._do(Wait(tab_id=self.tab_id, selector=selector, milliseconds=within_ms), Acted)
        except FaultError as error:
            if error.fault.code is not Code.ELEMENT_NOT_FOUND:
                raise
            return False
        return True

    async def rests(self) -> bool:
        """Wait until nothing moves, for a moment at most; False where it moves all the same."""
        return (await self._do(WaitForStable(tab_id=self.tab_id, timeout=_REST_MS), Stable)).stable

    async def write(self, element_id: str, secret: str) -> None:
        """Type what is secret: it travels sealed, and the page tells it to nobody."""
        session = self.context.session_id or ""
        sealed = self.context.seal(secret, typed_in(session))
        await self._do(TypeText(tab_id=self.tab_id, element_id=element_id, text="", sealed=sealed), Acted)

    async def send(self, form: LoginForm) -> Acted:
        """Send the form; a notice that the page calls up is read and put away."""
        do = Click(tab_id=self.tab_id, element_id=form.submit or form.password)
        done = await self._do(do, Acted)
        if not form.submit:
            done = await self._do(PressKey(tab_id=self.tab_id, key="Enter"), Acted)
        if done.dialog is not None and done.dialog.type == "alert":
            done = await self._do(HandleDialog(tab_id=self.tab_id, action="accept"), Acted)
        return done

    async def cookies(self) -> int:
        """Count the cookies that the session has."""
        return (await self._do(ListTabs(), Tabs)).cookies

    async def form(self, asked: dict[LoginField, FieldQuery], within_ms: int) -> LoginForm:
        """Find the fields of the form, and wait for those that are still to be drawn.

        Raises:
            FaultError: TPL_LOGIN_FIELD_NOT_FOUND with the input that names what is missing.
        """
        try:
            return await self._form(asked)
        except FaultError as error:
            if error.fault.code is not Code.TPL_LOGIN_FIELD_NOT_FOUND:
                raise
        query = asked[LoginField.PASSWORD].query or ""
        await self.comes(query.removeprefix(CSS) if query.startswith(CSS) else _TYPED_BLIND, within_ms)
        await self.rests()
        return await self._form(asked)

    async def _form(self, asked: dict[LoginField, FieldQuery]) -> LoginForm:
        info = await self.info()
        if refusal := login_rules.refusal(info):  # what asks for consent mostly lies over the form
            await self._do(Click(tab_id=self.tab_id, element_id=refusal), Acted)
            info = await self.info()
        password = await self._field(asked[LoginField.PASSWORD], info, "")
        username = await self._field(asked[LoginField.USERNAME], info, password)
        submit = await self._field(asked[LoginField.SUBMIT], info, password)
        return LoginForm(tab_id=self.tab_id, url=info.page.url, username=username, password=password, submit=submit)

    async def _field(self, asked: FieldQuery, info: PageInfo, password: str) -> str:
        if asked.query is None:
            return await self._usual(asked, info, password)
        candidates = await self._asked(asked, asked.query)
        if asked.by_selector:
            found = next((one.id for one in candidates if one.type in login_rules.KINDS[asked.field]), "")
        else:
            found = login_rules.best(asked.field, candidates, info, password)
        return found or _missing(asked)

    async def _asked(self, asked: FieldQuery, query: str) -> tuple[Candidate, ...]:
        try:
            return await self.find(query)
        except FaultError as error:
            if error.fault.code is not Code.VALIDATION_INVALID_REQUEST or not asked.by_selector:
                raise
            message = f"inputs.{asked.named}: the browser does not understand that selector"
            raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field=f"inputs.{asked.named}")) from None

    async def _usual(self, asked: FieldQuery, info: PageInfo, password: str) -> str:
        """Find a field of which nothing was said, as forms mostly have it."""
        usual = login_rules.suggested(info)
        secret = usual.get(LoginField.PASSWORD)
        if asked.field in usual and (not password or (secret is not None and secret.id == password)):
            return usual[asked.field].id
        if asked.field is LoginField.USERNAME and (before := login_rules.beside(info, password)):
            return before
        candidates = await self.find(login_rules.DEFAULT_QUERIES[asked.field])
        found = login_rules.best(asked.field, candidates, info, password)
        if found or asked.field is LoginField.SUBMIT:
            return found
        return _missing(asked)

    async def _do(self, operation: Operation, kind: type[D]) -> D:
        return expect(await self.context.browser(operation), kind)


def expect(done: Done, kind: type[D]) -> D:
    """Take an answer as the kind that the question has.

    Raises:
        FaultError: INTERNAL_ERROR where it is another.
    """
    if not isinstance(done, kind):
        raise FaultError(fault(Code.INTERNAL_ERROR))
    return done


def _missing(asked: FieldQuery) -> str:
    field = f"inputs.{asked.named}"
    how = "fits" if asked.by_selector else "is like"
    message = f"{field}: no {asked.field.value} field of a login form is shown on the page that {how} it"
    if asked.query is None:
        message = f"{field}: the page shows no {asked.field.value} field of a login form; say what it is called"
    raise FaultError(fault(Code.TPL_LOGIN_FIELD_NOT_FOUND, message, field=field))


VERIFY_S: Final = 10.0
"""How long the sign of success may take to show."""

_LOOK_MS: Final = 700
_SURE: Final = 3
_BETWEEN_S: Final = 0.4
"""So many looks at a page at rest, with so much time between, until it is believed that it stays so."""

ANEW: Final = Action(
    action="run_again",
    description="Run the template anew, or resume this run, with credentials that are right.",
    tool_to_use="run_task_template",
)

_INDICATOR: Final = "inputs.successIndicator"


class _Seen(Enum):
    """What one look has shown."""

    SUCCESS = auto()
    FORM_GONE = auto()
    REFUSAL = auto()
    NOTHING = auto()


async def verify(page: LoginPage, form: LoginForm, inputs: LoginInputs) -> Verified:
    """Look until the sign of success is seen, or a page at rest that asks to log in again.

    Raises:
        FaultError: AUTH_INVALID_CREDENTIALS; ELEMENT_NOT_FOUND or NETWORK_TIMEOUT where nothing became clear.
    """
    until, before, agreed = anyio.current_time() + VERIFY_S, _Seen.NOTHING, 0
    while anyio.current_time() < until:
        rests, info = await page.rests(), await page.info()
        seen = await _seen(page, form, inputs.success_indicator, info, rests=rests)
        agreed = agreed + 1 if seen is before else 1
        before = seen
        if seen is _Seen.SUCCESS:
            return await _verified(page, info, LoginState.AUTHENTICATED, inputs)
        if seen is _Seen.REFUSAL and agreed >= _SURE:
            raise FaultError(fault(Code.AUTH_INVALID_CREDENTIALS, _refusal(info, form), actions=(ANEW,)))
        if seen is _Seen.FORM_GONE and agreed >= _SURE:
            return await _verified(page, info, LoginState.UNKNOWN, inputs)
        await anyio.sleep(_BETWEEN_S)
    raise _unseen(inputs.success_indicator)


async def _seen(page: LoginPage, form: LoginForm, indicator: SuccessIndicator, info: PageInfo, *, rests: bool) -> _Seen:
    asks = login_rules.asks_again(info, form)
    if await _shows(page, indicator, info, asks=asks, rests=rests):
        return _Seen.SUCCESS
    if rests and (asks or login_rules.is_error(info)):
        return _Seen.REFUSAL
    return _Seen.FORM_GONE if rests and indicator.type == "stable" else _Seen.NOTHING


async def _shows(page: LoginPage, indicator: SuccessIndicator, info: PageInfo, *, asks: bool, rests: bool) -> bool:
    """Whether the sign of success is there."""
    match indicator.type:
        case "selector":
            return await _comes(page, indicator.value or "")
        case "urlContains":
            return (indicator.value or "") in info.page.url and not asks
        case "stable":
            return rests and not asks and not login_rules.is_error(info) and login_rules.speaks_for_login(info)


async def _comes(page: LoginPage, selector: str) -> bool:
    try:
        return await page.comes(selector, _LOOK_MS)
    except FaultError as error:
        if error.fault.code is not Code.VALIDATION_INVALID_REQUEST:
            raise
        message = f"{_INDICATOR}.value: the browser does not understand that selector"
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field=f"{_INDICATOR}.value")) from None


async def _verified(page: LoginPage, info: PageInfo, state: LoginState, inputs: LoginInputs) -> Verified:
    return Verified(
        tab_id=page.tab_id,
        url=login_rules.without(info.page.url, inputs.credentials),
        title=info.page.title,
        login_state=state,
        cookies=await page.cookies(),
    )


def _refusal(info: PageInfo, form: LoginForm) -> str:
    if login_rules.asks_again(info, form):
        return "The page still asks to log in after the form was sent: the site does not take the credentials."
    return "The page shows an error after the form was sent."


def _unseen(indicator: SuccessIndicator) -> FaultError:
    within = f"within {VERIFY_S:g} s after the form was sent"
    if indicator.type == "stable":
        return FaultError(fault(Code.NETWORK_TIMEOUT, f"The page did not come to rest {within}."))
    message = f"{_INDICATOR}: it was not seen {within}; there is no form to log in by either"
    return FaultError(fault(Code.ELEMENT_NOT_FOUND, message, field=_INDICATOR))
