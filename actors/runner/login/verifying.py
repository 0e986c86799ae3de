"""Sees what has become of a login: it looks at the page until that is clear, and for a while at most."""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

import anyio

from actors.runner.login import rules
from actors.runner.login.asked import Form, LoginInputs, LoginState, SuccessIndicator, Verified
from actors.runner.login.page import LoginPage
from protocol.browsers.results import PageInfo
from protocol.faults import Action, Code, FaultError, fault

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


async def verify(page: LoginPage, form: Form, inputs: LoginInputs) -> Verified:
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


async def _seen(page: LoginPage, form: Form, indicator: SuccessIndicator, info: PageInfo, *, rests: bool) -> _Seen:
    asks = rules.asks_again(info, form)
    if await _shows(page, indicator, info, asks=asks, rests=rests):
        return _Seen.SUCCESS
    if rests and (asks or rules.is_error(info)):
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
            return rests and not asks and not rules.is_error(info) and rules.speaks_for_login(info)


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
    message = f"{_INDICATOR}: it was not seen {within}; there is no form to log in by either"
    return FaultError(fault(Code.ELEMENT_NOT_FOUND, message, field=_INDICATOR))
