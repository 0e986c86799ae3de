"""Logs in by a form, and leaves the browser session to whoever asked, for tools, runs and browse calls that follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

import msgspec
from msgspec import Struct

from actors.runner import login_rules, page_markdown
from actors.runner.login_page import ANEW, LoginPage, expect, verify
from actors.runner.login_types import (
    Filled,
    Locate,
    LoginForm,
    LoginInputs,
    LoginResult,
    LoginState,
    Opened,
    Sent,
    Verified,
)
from actors.runner.template import Outcome, ResultTable, Retry, SessionUse, Stage, StepContext, TaskTemplate
from protocol.browsers.operations import CreateSession, CreateTab
from protocol.browsers.results import SessionCreated, TabCreated
from protocol.faults import Code, FaultError, fault
from protocol.runs.responses import TemplateLimits
from protocol.runs.states import Mode, StepStatus, TrustLevel

MAX_TIMEOUT_MS: Final = 60_000
FORM_MS: Final = 10_000
"""How long a form may take to be drawn."""

OPEN, FIND, FILL, SUBMIT, VERIFY = range(5)

_LATE: Final = frozenset({Code.NETWORK_TIMEOUT, Code.INTERNAL_DEADLINE, Code.BROWSER_PAGE_HUNG, Code.ELEMENT_NOT_FOUND})
"""What is tried once more in the last two steps; refused credentials are not, as that may lock an account."""


class LoginKeepSession(TaskTemplate[LoginInputs]):
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
        wanted = login_rules.wanted(inputs)
        by_selector = login_rules.located(inputs) is Locate.SELECTOR
        for field in (login_rules.LoginField.USERNAME, login_rules.LoginField.PASSWORD):
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

    async def do(self, context: StepContext, inputs: LoginInputs, index: int, before: Mapping[int, Any]) -> Struct:
        """Do one of the five steps."""
        if index == OPEN:
            return await _open(context, inputs)
        opened = msgspec.convert(before[OPEN], Opened)
        page = LoginPage(context, opened.tab_id)
        if index == FIND:
            return await page.form(login_rules.wanted(inputs), FORM_MS)
        form = msgspec.convert(before[FIND], LoginForm)
        doing = {FILL: _fill, SUBMIT: _submit, VERIFY: verify}
        return await doing[index](page, form, inputs)

    def result(self, inputs: LoginInputs, outcomes: Sequence[Outcome], session_id: str | None) -> LoginResult | None:
        """Return how far it came: of a login that failed, where the session stands that is open all the same."""
        done = {one.index: one.output for one in outcomes if one.status is StepStatus.SUCCEEDED}
        if OPEN not in done:
            return None
        told = LoginResult(
            success=False,
            session_id=session_id or "",
            final_url=login_rules.without(
                done[max(SUBMIT if SUBMIT in done else OPEN, OPEN)]["url"], inputs.credentials
            ),
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
        """Return all of it: it is short."""
        return result

    def table(self, result: Any) -> ResultTable:
        """Return one row."""
        told = msgspec.convert(result, LoginResult)
        header = ("success", "sessionId", "finalUrl", "title", "loginState", "cookiesSaved")
        row = (told.success, told.session_id, told.final_url, told.title, told.login_state.value, told.cookies_saved)
        return ResultTable(header, (row,))

    def markdown(self, result: Any) -> str:
        """Write it as a table of one row."""
        told = self.table(result)
        return "\n\n".join(("# Login", page_markdown.table(told.header, told.rows))) + "\n"


LOGIN = LoginKeepSession()


async def _open(context: StepContext, inputs: LoginInputs) -> Opened:
    begun = await context.browser(CreateSession(url=inputs.start_url, profile=inputs.profile, fresh=True))
    if isinstance(begun, SessionCreated) and begun.tab_id is not None and begun.page is not None:
        return Opened(
            tab_id=begun.tab_id, url=login_rules.without(begun.page.url, inputs.credentials), title=begun.page.title
        )
    # The session was there before: the caller's, or that of a try which was broken off.
    tab = expect(await context.browser(CreateTab(url=inputs.start_url)), TabCreated)
    return Opened(tab_id=tab.tab_id or 0, url=tab.url)


async def _fill(page: LoginPage, form: LoginForm, inputs: LoginInputs) -> Filled:
    if inputs.credentials is None:
        raise _invalid("inputs.credentials", "they are no longer known here; run the template again with them")
    await page.write(form.username, inputs.credentials.username)
    await page.write(form.password, inputs.credentials.password)
    if not login_rules.is_filled(await page.info(visible_only=False), form):
        raise FaultError(fault(Code.EXECUTION_ERROR, "The page does not keep what is typed into the form."))
    return Filled(tab_id=page.tab_id)


async def _submit(page: LoginPage, form: LoginForm, inputs: LoginInputs) -> Sent:
    """Send the form, unless that was done before and its outcome not written: the page has moved on then."""
    info = await page.info(visible_only=False)
    filled = login_rules.is_filled(info, form)
    if filled is None and not login_rules.is_same_page(info.page.url, form.url):
        return Sent(tab_id=page.tab_id, url=login_rules.without(info.page.url, inputs.credentials))
    if not filled:
        message = "The form is no longer there as it was filled in: the page was drawn or loaded again meanwhile."
        raise FaultError(fault(Code.EXECUTION_ERROR, message, actions=(ANEW,)))
    sent = await page.send(form)
    url = sent.page.url if sent.page is not None else form.url
    return Sent(tab_id=page.tab_id, url=login_rules.without(url, inputs.credentials))


def _invalid(field: str, message: str) -> FaultError:
    return FaultError(fault(Code.VALIDATION_INVALID_REQUEST, f"{field}: {message}", field=field))
