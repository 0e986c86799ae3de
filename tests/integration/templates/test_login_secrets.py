"""A login as the runner does it, with an ear on the bus: what is secret passes in no form that anybody could read."""

from __future__ import annotations

import base64
import json
from typing import Any
from urllib.parse import quote, quote_plus

import anyio
import msgspec
import pytest

from actors.fetchers.playwright.actor import Playwright
from actors.runner.actor import Runner
from actors.sessions.actor import LoginsActor
from bus.seal import Seal
from protocol import subjects
from protocol.access import Scope
from protocol.faults import Code
from protocol.runs.events import LedgerLine, RunEnded, run_topics, state_topic
from protocol.runs.requests import CreateRun, inputs_of
from protocol.runs.states import RunStatus
from tests.integration.templates.reading_system import KEY, ME, Running, running
from tests.requirements import requirement
from tests.site.members import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.slow]

USER = "needle-weaver"
WRONG = "haystack & needle/9"


async def logged_in(it: Running, number: int, password: str, **more: Any) -> tuple[RunEnded, list[LedgerLine]]:
    """Have a login run, and give its end and all that the ledger says of it."""
    run_id = f"run_{number:022d}"
    values = {
        "startUrl": it.site.url("/members/plain/login"),
        "credentials": {"username": USER, "password": password},
        **more,
    }
    sealed = Seal.of(KEY).seal(msgspec.json.encode(values), inputs_of(run_id))
    asked = CreateRun(
        run_id=run_id, inputs=sealed, template_id="login_keep_session", caller=ME, scopes=tuple(Scope), local=True
    )
    await it.bus.call(subjects.RUN_CREATE, asked)
    async with it.ledger.follow() as lines:
        async for line in lines:
            if line.topic == state_topic(run_id) and isinstance(line.value, RunEnded):
                return line.value, [one.value async for one in it.ledger.read(run_topics(run_id))]
    raise AssertionError


def forms(secret: str) -> set[bytes]:
    """Return the forms in which something secret could be seen."""
    plain = secret.encode()
    written = {secret, quote(secret), quote(secret, safe=""), quote_plus(secret), json.dumps(secret)[1:-1]}
    return {*(one.encode() for one in written), *(base64.b64encode(plain[cut:])[:12] for cut in range(3))}


@requirement("002.12.login")
async def test_what_is_secret_is_sealed_wherever_it_goes() -> None:
    heard = list[bytes]()
    async with running((Runner, LoginsActor, Playwright)) as it, anyio.create_task_group() as tasks:

        async def listen() -> None:
            async for message in it.bus.tap():
                heard.append(b"%s %s %s" % (message.subject.encode(), message.payload, str(message.headers).encode()))

        tasks.start_soon(listen)
        done, lines = await logged_in(it, 1, PASSWORD)
        failed, more_lines = await logged_in(it, 2, WRONG)
        missing, _ = await logged_in(it, 3, PASSWORD, fields={"usernameQuery": "zebra quux"})

        assert [one.status for one in (done, failed, missing)] == [
            RunStatus.SUCCEEDED,
            RunStatus.FAILED,
            RunStatus.FAILED,
        ]
        assert (failed.failed_step, failed.step_code) == ("verify_login", "EXECUTION_ERROR")
        assert failed.fault is not None
        assert failed.fault.code is Code.STEP_EXECUTION_FAILED
        assert (missing.failed_step, missing.step_code) == ("find_fields", "TPL_LOGIN_FIELD_NOT_FOUND")
        everything = [*heard, msgspec.json.encode([*lines, *more_lines])]
        assert [one for one in heard if b'"tool":"type_text"' in one and b'"sealed":' in one]
        for secret in (PASSWORD, WRONG):
            assert not [one for one in everything if any(form in one for form in forms(secret))]
        assert not [one for one in heard if b'"username":"%s"' % USER.encode() in one]
        tasks.cancel_scope.cancel()
