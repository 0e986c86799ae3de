"""Logs in by a form, and leaves the browser session to whoever asked, for tools, runs and browse calls that follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

import anyio
import msgspec
from msgspec import Struct

from actors.runner.login import rules
from actors.runner.login.asked import (
    Filled,
    Form,
    Locate,
    LoginInputs,
    LoginResult,
    LoginState,
    Opened,
    Sent,
    SuccessIndicator,
    Verified,
)
from actors.runner.login.page import LoginPage, expect
from actors.runner.reading import writing
from actors.runner.template import Hands, Outcome, Retry, SessionUse, Stage, Table, Template
from protocol.browsers.done import PageInfo, SessionCreated, TabCreated
from protocol.browsers.operations import CreateSession, CreateTab
from protocol.faults import Action, Code, FaultError, fault
from protocol.runs.states import Mode, StepStatus, TrustLevel
from protocol.runs.told import TemplateLimits

MAX_TIMEOUT_MS: Final = 60_000
FORM_MS: Final = 10_000
"""How long a form may take to be drawn."""

VERIFY_S: Final = 10.0
"""How long the sign of success may take to show."""

_LOOK_MS: Final = 700
_SURE: Final = 2
"""Looks at a page at rest, one after another, until it is believed that it stays so."""

OPEN, FIND, FILL, SUBMIT, VERIFY = range(5)

_LATE: Final = frozenset({Code.NETWORK_TIMEOUT, Code.INTERNAL_DEADLINE, Code.BROWSER_PAGE_HUNG, Code.ELEMENT_NOT_FOUND})
"""What is tried once more in the last two steps; refused credentials are not, as that may lock an account."""


_ANEW: Final = Action(
    action="run_again",
    description="Run the template anew with credentials that are right; to resume this run does not send the form.",
    tool_to_use="run_task_template",
)


class LoginKeepSession(Template[LoginInputs]):
    """Logging in by a form in five steps, each of which any replica goes on with."""

    template_id: ClassVar[str] = "login_keep_session"
    name: ClassVar[str] = "登录并保持会话"
    description: ClassVar[str] = (
        "Log in by a form in a browser session that stays open: go on in it by sessionId, or browse with the profile. "
        "Credentials are never stored."
    )
    trust: ClassVar[tuple[TrustLevel, ...]] = (TrustLevel.LOCAL,)
    execution: ClassVar[Mode] = Mode.SYNC
    limits: ClassVar[TemplateLimits] = TemplateLimits(max_timeout_ms=MAX_TIMEOUT_MS)
    max_timeout_ms: ClassVar[int] = MAX_TIMEOUT_MS
    step_names: ClassVar[tuple[str, ...]] = (
        "open_login_page",
        "find_fields",
        "fill_credentials",
        "submit",
        "verify_login",
    )
    secret: ClassVar[tuple[str, ...]] = ("credentials",)
    inputs = LoginInputs
    outputs: type[Struct] = LoginResult

    def check(self, inputs: LoginInputs) -> None:
        """Refuse inputs without credentials, without a selector that is needed, or without a value to look for."""
        if inputs.credentials is None:
            raise _invalid("inputs.credentials", "a username and a password are needed, each time anew")
        wanted = rules.wanted(inputs)
        by_selector = rules.located(inputs) is Locate.SELECTOR
        for field in (rules.Field.USERNAME, rules.Field.PASSWORD):
            if by_selector and wanted[field].query is None:
                raise _invalid(f"inputs.{wanted[field].named}", "the mode selector needs it")
        if inputs.success_indicator.type != "stable" and inputs.success_indicator.value is None:
            message = f"the type {inputs.success_indicator.type} needs it"
            raise _invalid("inputs.successIndicator.value", message)

    def mode(self, inputs: LoginInputs) -> Mode:
        """Have the caller wait."""
        del inputs
        return Mode.SYNC

    def session(self, inputs: LoginInputs) -> SessionUse:
        """Leave the session open."""
        del inputs
        return SessionUse.KEPT

    def stages(self, inputs: LoginInputs, *, in_session: bool) -> tuple[Stage, ...]:
        """Do one step after another."""
        del inputs, in_session
        return tuple(Stage((name,)) for name in self.step_names)

    def retry(self, inputs: LoginInputs, index: int) -> Retry:
        """Try sending and verifying once more where time ran out."""
        del inputs
        return Retry(_LATE, 2) if index in {SUBMIT, VERIFY} else Retry()

    async def do(self, hands: Hands, inputs: LoginInputs, index: int, before: Mapping[int, Any]) -> Struct:
        """Do one of the five steps."""
        if index == OPEN:
            return await _open(hands, inputs)
        opened = msgspec.convert(before[OPEN], Opened)
        page = LoginPage(hands, opened.tab_id)
        if index == FIND:
            return await page.form(rules.wanted(inputs), FORM_MS)
        form = msgspec.convert(before[FIND], Form)
        doing = {FILL: _fill, SUBMIT: _submit, VERIFY: _verify}
        return await doing[index](page, form, inputs)

    def result(self, inputs: LoginInputs, outcomes: Sequence[Outcome], session_id: str | None) -> LoginResult | None:
        """Tell how far it came: of a login that failed, where the session stands that is open all the same."""
        done = {one.index: one.output for one in outcomes if one.status is StepStatus.SUCCEEDED}
        if OPEN not in done:
            return None
        told = LoginResult(
            success=False,
            session_id=session_id or "",
            final_url=rules.without(done[max(SUBMIT if SUBMIT in done else OPEN, OPEN)]["url"], inputs.credentials),
            title="",
            login_state=LoginState.UNKNOWN,
            cookies_saved=0,
            profile=inputs.profile,
        )
        if VERIFY not in done:
            return told
        seen = msgspec.convert(done[VERIFY], Verified)
        return msgspec.structs.replace(
            told,
            success=True,
            final_url=seen.url,
            title=seen.title,
            login_state=seen.login_state,
            cookies_saved=seen.cookies,
        )

    def brief(self, result: Any) -> Any:
        """Give all of it: it is short."""
        return result

    def table(self, result: Any) -> Table:
        """Give one row."""
        told = msgspec.convert(result, LoginResult)
        header = ("success", "sessionId", "finalUrl", "title", "loginState", "cookiesSaved")
        row = (told.success, told.session_id, told.final_url, told.title, told.login_state.value, told.cookies_saved)
        return Table(header, (row,))

    def markdown(self, result: Any) -> str:
        """Write it as a table of one row."""
        told = self.table(result)
        return "\n\n".join(("# Login", writing.table(told.header, told.rows))) + "\n"


LOGIN = LoginKeepSession()


async def _open(hands: Hands, inputs: LoginInputs) -> Opened:
    begun = await hands.browser(CreateSession(url=inputs.start_url, profile=inputs.profile, fresh=True))
    if isinstance(begun, SessionCreated) and begun.tab_id is not None and begun.page is not None:
        return Opened(
            tab_id=begun.tab_id, url=rules.without(begun.page.url, inputs.credentials), title=begun.page.title
        )
    # The session was there before: the caller's, or that of a try which was broken off.
    tab = expect(await hands.browser(CreateTab(url=inputs.start_url)), TabCreated)
    return Opened(tab_id=tab.tab_id or 0, url=tab.url)


async def _fill(page: LoginPage, form: Form, inputs: LoginInputs) -> Filled:
    if inputs.credentials is None:
        raise _invalid("inputs.credentials", "they are no longer known here; run the template again with them")
    await page.write(form.username, inputs.credentials.username)
    await page.write(form.password, inputs.credentials.password)
    if not rules.is_filled(await page.info(visible_only=False), form):
        raise FaultError(fault(Code.EXECUTION_ERROR, "The page does not keep what is typed into the form."))
    return Filled(tab_id=page.tab_id)


async def _submit(page: LoginPage, form: Form, inputs: LoginInputs) -> Sent:
    """Send the form, unless that was done before and its outcome not written: the page has moved on then."""
    info = await page.info(visible_only=False)
    filled = rules.is_filled(info, form)
    if filled is None and not rules.is_same_page(info.page.url, form.url):
        return Sent(tab_id=page.tab_id, url=rules.without(info.page.url, inputs.credentials))
    if not filled:
        message = "The form is no longer there as it was filled in: the page was drawn or loaded again meanwhile."
        raise FaultError(fault(Code.EXECUTION_ERROR, message, actions=(_ANEW,)))
    sent = await page.send(form)
    url = sent.page.url if sent.page is not None else form.url
    return Sent(tab_id=page.tab_id, url=rules.without(url, inputs.credentials))


async def _verify(page: LoginPage, form: Form, inputs: LoginInputs) -> Verified:
    """Look until the sign of success is seen, or a page at rest that asks to log in again."""
    until, refusals = anyio.current_time() + VERIFY_S, 0
    while anyio.current_time() < until:
        rests, info = await page.rests(), await page.info()
        state = await _state(page, form, inputs.success_indicator, info, rests=rests)
        if state is not None:
            return await _verified(page, info, state, inputs)
        refused = rests and (rules.asks_again(info, form) or rules.is_error(info))
        refusals = refusals + 1 if refused else 0
        if refusals >= _SURE:
            raise FaultError(fault(Code.AUTH_INVALID_CREDENTIALS, _refusal(info, form), actions=(_ANEW,)))
    raise _unseen(inputs.success_indicator)


async def _state(
    page: LoginPage, form: Form, indicator: SuccessIndicator, info: PageInfo, *, rests: bool
) -> LoginState | None:
    """Tell how it stands; None where nothing is to be seen yet."""
    match indicator.type:
        case "selector":
            return LoginState.AUTHENTICATED if await page.comes(indicator.value or "", _LOOK_MS) else None
        case "urlContains":
            there = (indicator.value or "") in info.page.url and not rules.asks_again(info, form)
            return LoginState.AUTHENTICATED if there else None
        case "stable":
            if not rests or rules.asks_again(info, form) or rules.is_error(info):
                return None
            return LoginState.AUTHENTICATED if rules.speaks_for_login(info) else LoginState.UNKNOWN


async def _verified(page: LoginPage, info: PageInfo, state: LoginState, inputs: LoginInputs) -> Verified:
    return Verified(
        tab_id=page.tab_id,
        url=rules.without(info.page.url, inputs.credentials),
        title=info.page.title,
        login_state=state,
        cookies=await page.cookies(),
    )


def _refusal(info: PageInfo, form: Form) -> str:
    if rules.asks_again(info, form):
        return "The page still asks to log in after the form was sent: the site does not take the credentials."
    return "The page shows an error after the form was sent."


def _unseen(indicator: SuccessIndicator) -> FaultError:
    within = f"within {VERIFY_S:g} s after the form was sent"
    if indicator.type == "stable":
        return FaultError(fault(Code.NETWORK_TIMEOUT, f"The page did not come to rest {within}."))
    message = f"inputs.successIndicator: it was not seen {within}; there is no form to log in by either"
    return FaultError(fault(Code.ELEMENT_NOT_FOUND, message, field="inputs.successIndicator"))


def _invalid(field: str, message: str) -> FaultError:
    return FaultError(fault(Code.VALIDATION_INVALID_REQUEST, f"{field}: {message}", field=field))
