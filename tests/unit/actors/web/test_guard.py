"""The guard against attack inputs, by class, under a resolver that is as generous as libc."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Sequence
from ipaddress import ip_address

import anyio
import httpcore2
import pytest
from msgspec import structs

from actors.addresses import allowed
from actors.web import guard
from protocol.faults import Code, Fault, FaultError, fault
from tests.ssrf.corpus import corpus

PUBLIC = "93.184.215.14"
BY_ANSWERS = ("rebinding", "redirect")
"""Classes that no address of theirs gives away."""

ATTACKS = {kind: addresses for kind, addresses in corpus().attacks.items() if kind not in BY_ANSWERS}
CONTROLS = (
    *("http://example.com/", "https://example.com/path?q=1#x", "http://example.com:8080/", "https://example.com:8443/"),
    *("http://bücher.example/", "http://xn--bcher-kva.example/", "http://my_site.example.com/", "http://8.8.8.8/"),
    *(
        "http://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/",
        "http://EXAMPLE.com./",
        "http://1and1.com/",
        "http://example.com:443/",
    ),
)
NAMES = {
    "localhost": ["::1", "127.0.0.1"],
    "app.localhost": ["127.0.0.1"],
    "metadata": ["169.254.169.254"],
    "localtest.me": ["127.0.0.1"],
    "127.0.0.1.nip.io": ["127.0.0.1"],
    "mixed.example": [PUBLIC, "10.0.0.1"],
    "mapped.example": ["::ffff:127.0.0.1"],
    "nat64.example": ["64:ff9b::a9fe:a9fe"],
    "linklocal.example": ["fe80::1%eth0"],
    "empty.example": [],
    "mixed-after.example": [PUBLIC, "10.0.0.1"],
    "private.example": ["192.168.7.7"],
    "zero.example": ["0.0.0.0"],  # noqa: S104 - what an attacker's name says
    "ip6-localhost": ["::1"],
}


class Recorder(httpcore2.AsyncNetworkBackend):
    """Connects nowhere, and remembers where to."""

    def __init__(self, refusing: tuple[str, ...] = ()) -> None:
        self.connected: list[tuple[str, int]] = []
        self.refusing = refusing

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the signature is httpcore's
        local_address: str | None = None,
        socket_options: Iterable[guard.SocketOption] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        self.connected.append((host, port))
        if host in self.refusing:
            raise httpcore2.ConnectError
        return httpcore2.AsyncMockStream([])


async def libc(host: str, port: int) -> Sequence[str]:
    """Resolve as libc does: numbers in every notation are addresses."""
    try:
        return [socket.inet_ntoa(socket.inet_aton(host))]
    except OSError:
        return NAMES.get(host, [PUBLIC])


async def visit(url: str, recorder: Recorder, *allow: str) -> None:
    """Do what the client does with an address."""
    parsed = guard.check_url(url)
    backend = guard.GuardedBackend(guard.networks(allow), libc, recorder)
    port = parsed.port or {"http": 80, "https": 443}[parsed.scheme]
    with anyio.fail_after(90):
        await backend.connect_tcp(parsed.raw_host.decode(), port, 1.0)


@pytest.mark.parametrize(
    "url", [pytest.param(one.url, id=f"{kind}: {one.url!a}") for kind, every in ATTACKS.items() for one in every]
)
async def test_an_attack_connects_nowhere(url: str) -> None:
    recorder = Recorder()

    with pytest.raises(FaultError) as caught:
        await visit(url, recorder)

    assert recorder.connected == []
    assert caught.value.fault.code in (
        Code.SECURITY_URL_BLOCKED,
        Code.SECURITY_ADDRESS_BLOCKED,
        Code.NETWORK_DNS_FAILED,
    )


@pytest.mark.parametrize("url", CONTROLS)
async def test_an_honest_address_is_reached_at_the_literal_that_was_checked(url: str) -> None:
    recorder = Recorder()

    await visit(url, recorder)

    ((host, _),) = recorder.connected
    assert allowed(ip_address(host))


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1/", "http://localhost/", "http://localtest.me/", "http://[::ffff:7f00:1]/"]
)
async def test_the_operator_can_allow_a_network(url: str) -> None:
    recorder = Recorder()

    await visit(url, recorder, "127.0.0.0/8", "::ffff:0:0/96")

    assert len(recorder.connected) == 1


async def test_localhost_is_reached_by_the_family_that_is_allowed() -> None:
    recorder = Recorder()

    await visit("http://localhost:3000/", recorder, "127.0.0.0/8")

    assert recorder.connected == [("127.0.0.1", 3000)]


@pytest.mark.parametrize("url", ["http://10.0.0.1/", "http://mixed.example/", "http://[::1]/", "http://127.0.0.1:22/"])
async def test_what_was_not_allowed_stays_blocked(url: str) -> None:
    recorder = Recorder()

    with pytest.raises(FaultError):
        await visit(url, recorder, "127.0.0.0/8")

    assert recorder.connected == []


async def test_the_next_address_is_tried_where_the_first_refuses() -> None:
    async def two(host: str, port: int) -> Sequence[str]:
        return ["2606:4700::1", PUBLIC]

    recorder = Recorder(refusing=("2606:4700::1",))
    await guard.GuardedBackend((), two, recorder).connect_tcp("example.com", 443, 1.0)

    assert recorder.connected == [("2606:4700::1", 443), (PUBLIC, 443)]


async def test_the_last_refusal_is_told() -> None:
    backend = guard.GuardedBackend((), libc, Recorder(refusing=(PUBLIC,)))

    with pytest.raises(httpcore2.ConnectError):
        await backend.connect_tcp("example.com", 443, 1.0)


async def test_a_resolver_that_never_answers_is_a_timeout() -> None:
    async def never(host: str, port: int) -> Sequence[str]:
        await anyio.sleep_forever()
        return []

    with anyio.fail_after(90), pytest.raises(httpcore2.ConnectTimeout):
        await guard.GuardedBackend((), never, Recorder()).connect_tcp("example.com", 443, 0.01)


async def test_a_resolver_that_fails_is_a_fault() -> None:
    async def failing(host: str, port: int) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    with pytest.raises(FaultError) as caught:
        await guard.GuardedBackend((), failing, Recorder()).connect_tcp("example.com", 443, 1.0)

    assert caught.value.fault.code is Code.NETWORK_DNS_FAILED


async def test_who_asks_for_a_name_of_a_private_network_learns_nothing_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fault, its words and its time are those of a name that nobody knows."""
    refusals: list[tuple[Fault, float]] = []
    slept: list[float] = []

    async def sleep_until(moment: float) -> None:
        slept.append(moment)

    monkeypatch.setattr(anyio, "sleep_until", sleep_until)

    async def resolve(host: str, port: int) -> Sequence[str]:
        if host == "unknown.example":
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return {"mixed.example": ("93.184.216.34", "10.0.0.1"), "inside.example": ("10.0.0.1",)}[host]

    for host in ("unknown.example", "mixed.example", "inside.example"):
        began = anyio.current_time()
        with pytest.raises(FaultError) as caught:
            await guard.GuardedBackend((), resolve, Recorder()).connect_tcp(host, 80)
        told = caught.value.fault
        refusals.append((structs.replace(told, message=told.message.replace(host, "HOST")), slept[-1] - began))

    assert {refusal for refusal, _ in refusals} == {
        fault(
            Code.NETWORK_DNS_FAILED,
            "The host name HOST has no address on the public internet. "
            "An operator can allow private ones: WEFT_ALLOW_PRIVATE=127.0.0.0/8, say.",
        )
    }
    assert all(waited >= 0.15 for _, waited in refusals)


async def test_one_word_alone_is_told_that_a_whole_address_is_wanted() -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    with pytest.raises(FaultError) as caught:
        await guard.GuardedBackend((), resolve, Recorder()).connect_tcp("example", 443)
    assert "A whole address is wanted, such as https://example.com/." in caught.value.fault.message


async def test_a_socket_file_is_no_site() -> None:
    with pytest.raises(FaultError):
        await guard.GuardedBackend().connect_unix_socket("/var/run/docker.sock")


OWN = guard.networks(("127.0.0.0/8", "10.1.0.0/16", "fd00::/8", "93.184.0.0/16"))


@pytest.mark.parametrize(
    ("host", "own"),
    [
        ("127.0.0.1", True),
        ("10.1.2.3", True),
        ("10.2.2.3", False),
        ("fd00::1", True),
        ("[fd00::1]", True),
        ("::1", False),
        ("93.184.216.34", False),  # on the public internet, whatever is allowed
        ("localhost", False),
        ("example.com", False),
        ("", False),
    ],
)
def test_an_address_of_an_allowed_private_network_is_owned(host: str, own: bool) -> None:  # noqa: FBT001 - a row
    assert guard.is_own(host, OWN) == own


@pytest.mark.parametrize(("port", "why"), [(9300, "databases"), (81, "80 and 443 alone")])
def test_a_port_that_is_refused_is_told_with_the_reason(port: int, why: str) -> None:
    with pytest.raises(FaultError) as caught:
        guard.check_url(f"http://example.com:{port}/")

    assert why in caught.value.fault.message
    assert "8080" in caught.value.fault.message
