"""Telling other programs: signed, once for each key, again until they have taken it, and never where nobody allows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from anyio.abc import TaskStatus
from standardwebhooks import Webhook

from actors.runner import integrations as sending
from actors.tool_files import read_integrations
from protocol import subjects
from protocol.faults import Code, FaultError
from protocol.integrations import MAX_TRIES, Delivery, DeliveryState, ListDeliveries, NamedDelivery
from protocol.policy import ToolErrorCode, ToolResult, ToolStatus
from tests.requirements import requirement
from tests.unit.actors.runner.outside import LOOPBACK, ME, Asked, Server, World, json_of, serving, world

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OTHER_CALL = "call_fedcba9876543210"


def integration(url: str, more: str = LOOPBACK) -> str:
    return f"""[[integrations]]
name = "chat"
url = "{url}/hook"
operations = ["message.post"]
headers = {{ "X-Team" = "search" }}
secret_variable = "INTEGRATION_SECRET_CHAT"
{more}
"""


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try again at once."""
    monkeypatch.setattr(sending, "_DELAYS_MS", (1, 1, 1, 1))


def moody(failures: int, status: int = 503) -> Callable[[Asked], Any]:
    """Refuse some times, and take it then."""
    left = [failures]

    def answer(asked: Asked) -> Any:
        del asked
        left[0] -= 1
        return (status, {}, b"not now") if left[0] >= 0 else json_of({"posted": True})

    return answer


def around(folder: Path, server: Server, more: str = LOOPBACK, **other: Any) -> Any:
    secrets = {"INTEGRATION_SECRET_CHAT": SECRET}
    return world(folder, integrations=integration(server.url, more), environment=secrets, **other)


async def invoke(here: World, call: str = "call_0123456789abcdef", **other: Any) -> ToolResult:
    told: dict[str, Any] = {"integration": "chat", "operation": "message.post", "payload": {"text": "Hello"}}
    return await here.call("integration.invoke", call=call, **{**told, **other})


async def deliveries(here: World, caller: str = ME, state: DeliveryState | None = None) -> tuple[Delivery, ...]:
    return (await here.bus.call(subjects.DELIVERY_LIST, ListDeliveries(caller=caller, state=state))).deliveries


@requirement("003.tools.app")
async def test_it_is_signed_and_told_once(tmp_path: Path) -> None:
    async with serving(moody(0)) as server, around(tmp_path, server) as here:
        ran = await invoke(here)
        again = await invoke(here)

        assert ran == again
        assert len(server.asked) == 1
        asked = server.asked[0]
        Webhook(SECRET).verify(asked.body, dict(asked.headers))
        body = msgspec.json.decode(asked.body)
        assert (body["type"], body["data"]) == ("message.post", {"text": "Hello"})
        assert (asked.headers["idempotency-key"], asked.headers["x-team"]) == ("call_0123456789abcdef", "search")
        assert (ran.status, ran.payload["state"], ran.payload["httpStatus"]) == (ToolStatus.OK, "delivered", 200)
        assert ran.documents[0].trust.value == "untrusted"
        assert SECRET not in repr(ran)


async def test_a_key_of_the_callers_counts_for_all_his_calls(tmp_path: Path) -> None:
    async with serving(moody(0)) as server, around(tmp_path, server) as here:
        first = await invoke(here, idempotencyKey="order-1")
        same = await invoke(here, OTHER_CALL, idempotencyKey="order-1")
        other = await invoke(here, "call_00000000000000000", idempotencyKey="order-1", payload={"text": "Bye"})
        await here.call(
            "integration.invoke",
            "key_you",
            integration="chat",
            operation="message.post",
            payload={},
            idempotencyKey="order-1",
        )

        assert first.payload == same.payload
        assert other.code is ToolErrorCode.INVALID_ARGUMENTS
        assert [one.headers["idempotency-key"] for one in server.asked] == ["order-1"] * 2


async def test_it_is_told_again_until_it_is_taken(tmp_path: Path) -> None:
    async with serving(moody(2)) as server, around(tmp_path, server) as here:
        ran = await invoke(here)

        assert ran.payload["state"] == "delivered"
        assert len({one.headers["webhook-id"] for one in server.asked}) == 1
        assert len({one.body for one in server.asked}) == 1
        assert len(server.asked) == 3


async def test_what_nobody_takes_is_a_dead_letter_that_can_be_sent_again(tmp_path: Path) -> None:
    async with serving(moody(MAX_TRIES)) as server, around(tmp_path, server) as here:
        ran = await invoke(here)

        assert (ran.status, ran.code) == (ToolStatus.ERROR, ToolErrorCode.RUNTIME_UNAVAILABLE)
        assert len(server.asked) == MAX_TRIES
        (dead,) = await deliveries(here, state=DeliveryState.DEAD)
        assert (dead.tries, dead.http_status, dead.payload) == (MAX_TRIES, 503, {})
        assert await deliveries(here, "key_you") == ()
        for call in (subjects.DELIVERY_GET, subjects.DELIVERY_RESEND, subjects.DELIVERY_DROP):
            with pytest.raises(FaultError, match="no such delivery"):
                await here.bus.call(call, NamedDelivery(caller="key_you", id=dead.id))
        whole = await here.bus.call(subjects.DELIVERY_GET, NamedDelivery(caller=None, id=dead.id))
        assert (whole.caller, bool(whole.payload)) == (ME, True)

        await here.bus.call(subjects.DELIVERY_RESEND, NamedDelivery(caller=ME, id=dead.id))
        while not await deliveries(here, state=DeliveryState.DELIVERED):
            await anyio.lowlevel.checkpoint()

        assert len(server.asked) == MAX_TRIES + 1
        assert len({one.headers["idempotency-key"] for one in server.asked}) == 1
        for call in (subjects.DELIVERY_RESEND, subjects.DELIVERY_DROP):
            with pytest.raises(FaultError, match="only what is dead"):
                await here.bus.call(call, NamedDelivery(caller=ME, id=dead.id))


async def test_a_dead_letter_that_is_dropped_is_gone_and_its_key_is_free(tmp_path: Path) -> None:
    async with serving(moody(MAX_TRIES)) as server, around(tmp_path, server) as here:
        await invoke(here)
        (dead,) = (await here.bus.call(subjects.DELIVERY_LIST, ListDeliveries(caller=None))).deliveries

        dropped = await here.bus.call(subjects.DELIVERY_DROP, NamedDelivery(caller=None, id=dead.id))

        assert (dropped.id, dropped.state, await deliveries(here)) == (dead.id, DeliveryState.DEAD, ())
        assert (await invoke(here)).status is ToolStatus.OK
        (again,) = await deliveries(here)
        assert (again.id, again.state) == (dead.id, DeliveryState.DELIVERED)


async def test_whoever_goes_on_after_a_death_sends_the_same(tmp_path: Path) -> None:
    begun, held = anyio.Event(), anyio.Event()

    def hold(asked: Asked) -> Any:
        del asked
        begun.set()
        return json_of({"posted": True})

    async with serving(hold, held) as server, around(tmp_path, server, alive=False) as here:
        async with anyio.create_task_group() as dying:
            await dying.start(_live, here)
            dying.start_soon(invoke, here)
            await begun.wait()
            dying.cancel_scope.cancel()
        held.set()
        here.hand_out_again()
        async with here.live("r2"):
            ran = await invoke(here)

        assert ran.payload["state"] == "delivered"
        assert len(server.asked) == 2
        assert len({(one.headers["idempotency-key"], one.headers["webhook-id"], one.body) for one in server.asked}) == 1


async def _live(here: World, *, task_status: TaskStatus[None]) -> None:
    async with here.live("r1"):
        task_status.started()
        await anyio.sleep_forever()


@pytest.mark.parametrize("status", [302, 400, 401, 410])
async def test_a_refusal_is_final(tmp_path: Path, status: int) -> None:
    def refuse(asked: Asked) -> Any:
        del asked
        return status, {"Location": "/elsewhere"}, b""

    async with serving(refuse) as server, around(tmp_path, server) as here:
        ran = await invoke(here)

        assert ran.status is ToolStatus.ERROR
        assert len(server.asked) == 1


async def test_a_private_address_is_refused_unless_the_operator_allows_it(tmp_path: Path) -> None:
    async with serving(moody(0)) as server, around(tmp_path, server, "") as here:
        ran = await invoke(here)

        assert ran.fault is not None
        assert (ran.fault.code, server.asked) == (Code.SECURITY_ADDRESS_BLOCKED, [])


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"integration": "mail"}, "integration"),
        ({"operation": "message.delete"}, "operation"),
        ({"payload": {"text": "x" * 70_000}}, "payload"),
        ({"idempotencyKey": "a\r\nX-Evil: 1"}, "idempotencyKey"),
    ],
)
async def test_what_is_not_allowed_is_told_to_nobody(tmp_path: Path, wrong: dict[str, Any], field: str) -> None:
    async with serving(moody(0)) as server, around(tmp_path, server) as here:
        ran = await invoke(here, **wrong)

        assert (ran.code, ran.fault and ran.fault.field, server.asked) == (ToolErrorCode.INVALID_ARGUMENTS, field, [])


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (integration("https://x.example") * 2, 9),
        (integration("https://x.example").replace("INTEGRATION_SECRET_CHAT", "HOME"), 6),
        (integration("https://x.example", 'allow_private = ["all"]'), 7),
        (integration("https://x.example").replace("X-Team", "X Team"), 5),
    ],
)
def test_a_wrong_file_names_its_line(tmp_path: Path, text: str, line: int) -> None:
    (own := tmp_path / "integrations.toml").write_text(text)

    with pytest.raises(FaultError, match=f"line {line}:"):
        read_integrations(own)
