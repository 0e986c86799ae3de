"""The template `login_keep_session`: logs in by a form, and leaves the browser session open for its caller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

import msgspec
from msgspec import Struct

from actors.runner import login_rules, page_markdown
from actors.runner.login_page import RUN_AGAIN, LoginPage, verify
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
from actors.runner.template import Outcome, ResultTable, Retry, SessionUse, Stage, StepContext, TaskTemplate, operate
from protocol.access import Scope
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
        queries = login_rules.field_queries(inputs)
        by_selector = login_rules.locate_mode(inputs) is Locate.SELECTOR
        for field in (login_rules.LoginField.USERNAME, login_rules.LoginField.PASSWORD):
            if by_selector and queries[field].query is None:
                raise _invalid(f"inputs.{queries[field].named}", "the mode selector needs it")
        if inputs.success_indicator.type != "stable" and inputs.success_indicator.value is None:
            message = f"the type {inputs.success_indicator.type} needs it"
            raise _invalid("inputs.successIndicator.value", message)

    def mode(self, inputs: LoginInputs) -> Mode:
        """Return SYNC: the caller waits."""
        del inputs
        return Mode.SYNC

    def scopes(self, inputs: LoginInputs, *, in_session: bool) -> tuple[Scope, ...]:
        """Return the scopes of a browser session, and that of the logins: one is saved."""
        return (*super().scopes(inputs, in_session=in_session), Scope.SESSIONS)

    def session(self, inputs: LoginInputs) -> SessionUse:
        """Return KEPT: the session stays open."""
        del inputs
        return SessionUse.KEPT

    def stages(self, inputs: LoginInputs, *, in_session: bool) -> tuple[Stage, ...]:
        """Return the five steps, one after another."""
        del inputs, in_session
        return tuple(Stage((name,)) for name in self.step_names)

    def retry(self, inputs: LoginInputs, index: int) -> Retry:
        """Return that submitting and verifying are tried once more where time ran out."""
        del inputs
        return Retry(_LATE, 2) if index in {SUBMIT, VERIFY} else Retry()

    async def do(self, context: StepContext, inputs: LoginInputs, index: int, before: Mapping[int, Any]) -> Struct:
        """Do one of the five steps."""
        if index == OPEN:
            return await _open(context, inputs)
        opened = msgspec.convert(before[OPEN], Opened)
        page = LoginPage(context, opened.tab_id)
        if index == FIND:
            return await page.find_form(login_rules.field_queries(inputs), FORM_MS)
        form = msgspec.convert(before[FIND], LoginForm)
        step = {FILL: _fill, SUBMIT: _submit, VERIFY: verify}
        return await step[index](page, form, inputs)

    def result(self, inputs: LoginInputs, outcomes: Sequence[Outcome], session_id: str | None) -> LoginResult | None:
        """Return how far the login came; of one that failed, where the session stands that is open all the same."""
        outputs = {one.index: one.output for one in outcomes if one.status is StepStatus.SUCCEEDED}
        if OPEN not in outputs:
            return None
        last = outputs[SUBMIT if SUBMIT in outputs else OPEN]
        result = LoginResult(
            success=False,
            session_id=session_id or "",
            final_url=login_rules.without_password(last["url"], inputs.credentials),
            title="",
            login_state=LoginState.UNKNOWN,
            cookies_saved=0,
            profile=inputs.profile,
        )
        if VERIFY not in outputs:
            return result
        verified = msgspec.convert(outputs[VERIFY], Verified)
        return msgspec.structs.replace(
            result,
            success=True,
            final_url=verified.url,
            title=verified.title,
            login_state=verified.login_state,
            cookies_saved=verified.cookies,
        )

    def brief(self, result: Any) -> Any:
        """Return the whole result: it is short."""
        return result

    def table(self, result: Any) -> ResultTable:
        """Return one row."""
        login = msgspec.convert(result, LoginResult)
        header = ("success", "sessionId", "finalUrl", "title", "loginState", "cookiesSaved")
        row = (
            login.success,
            login.session_id,
            login.final_url,
            login.title,
            login.login_state.value,
            login.cookies_saved,
        )
        return ResultTable(header, (row,))

    def markdown(self, result: Any) -> str:
        """Write it as a table of one row."""
        table = self.table(result)
        return "\n\n".join(("# Login", page_markdown.table(table.header, table.rows))) + "\n"


LOGIN = LoginKeepSession()


async def _open(context: StepContext, inputs: LoginInputs) -> Opened:
    created = await context.browser(CreateSession(url=inputs.start_url, profile=inputs.profile, fresh=True))
    if isinstance(created, SessionCreated) and created.tab_id is not None and created.page is not None:
        return Opened(
            tab_id=created.tab_id,
            url=login_rules.without_password(created.page.url, inputs.credentials),
            title=created.page.title,
        )
    # The session was there before: the caller's, or that of a try which was broken off.
    tab = await operate(context, CreateTab(url=inputs.start_url), TabCreated)
    return Opened(tab_id=tab.tab_id or 0, url=tab.url)


async def _fill(page: LoginPage, form: LoginForm, inputs: LoginInputs) -> Filled:
    if inputs.credentials is None:
        raise _invalid("inputs.credentials", "they are no longer known here; run the template again with them")
    await page.type_secret(form.username, inputs.credentials.username)
    await page.type_secret(form.password, inputs.credentials.password)
    if not login_rules.is_filled(await page.info(visible_only=False), form):
        raise FaultError(fault(Code.EXECUTION_ERROR, "The page does not keep what is typed into the form."))
    return Filled(tab_id=page.tab_id)


async def _submit(page: LoginPage, form: LoginForm, inputs: LoginInputs) -> Sent:
    """Send the form, unless that was done before and its outcome not written: the page has moved on then."""
    info = await page.info(visible_only=False)
    filled = login_rules.is_filled(info, form)
    if filled is None and not login_rules.is_same_page(info.page.url, form.url):
        return Sent(tab_id=page.tab_id, url=login_rules.without_password(info.page.url, inputs.credentials))
    if not filled:
        message = "The form is no longer there as it was filled in: the page was drawn or loaded again meanwhile."
        raise FaultError(fault(Code.EXECUTION_ERROR, message, actions=(RUN_AGAIN,)))
    sent = await page.submit(form)
    url = sent.page.url if sent.page is not None else form.url
    return Sent(tab_id=page.tab_id, url=login_rules.without_password(url, inputs.credentials))


def _invalid(field: str, message: str) -> FaultError:
    return FaultError(fault(Code.VALIDATION_INVALID_REQUEST, f"{field}: {message}", field=field))
