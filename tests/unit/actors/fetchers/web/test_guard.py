"""The guard against attack inputs, by class, under a resolver that is as generous as libc."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Sequence
from ipaddress import ip_address

import anyio
import httpcore2
import pytest

from actors.fetchers.web import guard
from protocol.faults import Code, FaultError

PUBLIC = "93.184.215.14"
ATTACKS: dict[str, tuple[str, ...]] = {
    "loopback": (
        *(
            "http://127.0.0.1/",
            "http://127.0.0.1:8080/",
            "http://localhost/",
            "http://LOCALHOST/",
            "http://localhost./",
        ),
        *("http://app.localhost/", "http://127.127.127.127/", "http://127.255.255.254/", "http://localhost:1024/"),
    ),
    "any": ("http://0.0.0.0/", "http://0/", "http://[::]/", "http://0.0.0.1/"),
    "short, decimal, octal, hexadecimal": (
        *("http://127.1/", "http://127.0.1/", "http://2130706433/", "http://2852039166/", "http://6425673729/"),
        *("http://0177.0.0.1/", "http://017700000001/", "http://0o177.0.0.1/", "http://0x7f000001/", "http://0x7f.1/"),
        *(
            "http://0xA9FEA9FE/",
            "http://0x41414141A9FEA9FE/",
            "http://0251.254.169.254/",
            "http://0251.0376.0251.0376/",
        ),
        *("http://0xa9.0xfe.0xa9.0xfe/", "http://0x7f.0.0.1/", "http://127.0x0.0.1/", "http://00000177.0.0.1/"),
        *("http://169.254.43518/", "http://10.1/", "http://192.168.257/", "http://127.0.0.1./", "http://0x7f.0x1./"),
    ),
    "v6 loopback and mapped": (
        *("http://[::1]/", "http://[0:0:0:0:0:0:0:1]/", "http://[0000::1]:8080/", "http://[::ffff:127.0.0.1]/"),
        *("http://[0:0:0:0:0:ffff:127.0.0.1]/", "http://[::ffff:a9fe:a9fe]/", "http://[::ffff:7f00:1]/"),
        *("http://[::1%25lo]/", "http://[fe80::1%25eth0]/", "http://[::ffff:10.0.0.1]/"),
    ),
    "v4 compatible and translated": (
        *("http://[::7f00:1]/", "http://[::127.0.0.1]/", "http://[::ffff:0:127.0.0.1]/", "http://[::ffff:0:7f00:1]/"),
    ),
    "NAT64, 6to4, Teredo": (
        *("http://[64:ff9b::a9fe:a9fe]/", "http://[64:ff9b:1::a00:1]/", "http://[2002:7f00:1::]/"),
        *("http://[2002:a9fe:a9fe::1]/", "http://[2001:0:7f00:1::1]/", "http://[64:ff9b::127.0.0.1]/"),
    ),
    "private v4": (
        *("http://10.0.0.1/", "http://10.255.255.255/", "http://172.16.0.1/", "http://172.31.255.255/"),
        *("http://192.168.0.1/", "http://100.64.0.1/", "http://100.127.255.255/", "http://198.18.0.1/"),
        *("http://198.19.255.255/", "http://192.0.0.1/", "http://192.0.2.1/", "http://198.51.100.1/"),
        *("http://203.0.113.1/", "http://224.0.0.1/", "http://240.0.0.1/", "http://255.255.255.255/"),
        *("http://192.88.99.1/", "http://169.254.0.1/"),
    ),
    "private v6": (
        *("http://[fc00::1]/", "http://[fd12:3456::1]/", "http://[fe80::1]/", "http://[fec0::1]/", "http://[ff02::1]/"),
        *("http://[5f00::1]/", "http://[3fff::1]/", "http://[100::1]/", "http://[2001:db8::1]/", "http://[2001:2::1]/"),
    ),
    "metadata": (
        *("http://169.254.169.254/latest/meta-data/", "http://169.254.170.2/v2/", "http://100.100.100.200/"),
        *(
            "http://192.0.0.192/",
            "http://[fd00:ec2::254]/",
            "http://metadata.google.internal/",
            "http://168.63.129.16/",
        ),
        *("http://metadata/", "http://instance-data.ec2.internal/"),
    ),
    "names that lead inside": (
        *("http://localtest.me/", "http://127.0.0.1.nip.io/", "http://mixed.example/", "http://mapped.example/"),
        *("http://nat64.example/", "http://linklocal.example/", "http://printer.local/", "http://router.home.arpa/"),
        *("http://wiki.lan/", "http://empty.example/"),
    ),
    "unicode": (
        *("http://①②⑦.⓪.⓪.①/", "http://127。0。0。1/", "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/", "http://127．0．0．1/"),
        *("http://１２７.0.0.1/", "http://loc\u00adalhost/", "http://127.0.0.1\u3002/"),
    ),
    "parser": (
        *("http://a@127.0.0.1/", "http://example.com@127.0.0.1/", "http://127.1.1.1:80\\@127.2.2.2:80/"),
        *(
            "http://127.0.0.1%00.example.com/",
            "http://127.0.0.1\t/",
            "http://127.0.0.1\r\nHost: x/",
            "http:\\\\127.0.0.1",
        ),
        *(
            "http:127.0.0.1",
            "http:///127.0.0.1",
            "http://[::1",
            "http://::1/",
            "http://127.0.0.1:80:80/",
            "http://exa mple.com/",
        ),
        *(
            "http://example.com:22@127.0.0.1/",
            "http://user:pass@example.com/",
            "http://:@127.0.0.1/",
            "http://-a.example/",
        ),
        *("http://a..example/", "http://example.com#@127.0.0.1:22/\\", "http://.example.com/", "http://exa%6dple.com/"),
        *(
            "http://127.0.0.1%2f@example.com/",
            "http://*.example.com/",
            "http://a;b.example/",
            "//127.0.0.1/",
            "127.0.0.1",
            "",
        ),
    ),
    "scheme": (
        *(
            "file:///etc/passwd",
            "gopher://127.0.0.1:70/",
            "dict://127.0.0.1/",
            "ftp://example.com/",
            "sftp://example.com/",
        ),
        *(
            "tftp://example.com/",
            "ldap://127.0.0.1/",
            "jar:http://127.0.0.1!/",
            "netdoc:///etc/passwd",
            "data:text/html,x",
        ),
        *(
            "javascript:alert(1)",
            "view-source:http://127.0.0.1",
            "chrome://version",
            "about:blank",
            "ws://example.com/",
        ),
        *("blob:http://127.0.0.1/1", "unix:/var/run/docker.sock", "http+unix://%2Fvar%2Frun/", "wss://example.com/"),
    ),
    "port": (
        *("http://example.com:22/", "http://example.com:25/", "http://example.com:6379/", "http://example.com:2375/"),
        *(
            "http://example.com:11211/",
            "http://example.com:9200/",
            "http://example.com:5432/",
            "http://example.com:1023/",
        ),
        *("http://example.com:4222/", "http://example.com:99999/", "http://example.com:0/", "http://example.com:-1/"),
    ),
}
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
    with anyio.fail_after(5):
        await backend.connect_tcp(parsed.raw_host.decode(), port, 1.0)


def test_there_are_enough_attacks() -> None:
    assert sum(map(len, ATTACKS.values())) >= 120


@pytest.mark.parametrize(
    "url", [pytest.param(url, id=f"{kind}: {url!a}") for kind, urls in ATTACKS.items() for url in urls]
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
    assert guard.allowed(ip_address(host))


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

    with anyio.fail_after(5), pytest.raises(httpcore2.ConnectTimeout):
        await guard.GuardedBackend((), never, Recorder()).connect_tcp("example.com", 443, 0.01)


async def test_a_resolver_that_fails_is_a_fault() -> None:
    async def failing(host: str, port: int) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    with pytest.raises(FaultError) as caught:
        await guard.GuardedBackend((), failing, Recorder()).connect_tcp("example.com", 443, 1.0)

    assert caught.value.fault.code is Code.NETWORK_DNS_FAILED


async def test_the_message_names_the_way_out_and_no_address() -> None:
    with pytest.raises(FaultError) as caught:
        await visit("http://mixed.example/", Recorder())

    assert caught.value.fault.message == (
        "mixed.example lies in a private network. Its operator can allow the network with WEFT_ALLOW_PRIVATE."
    )


async def test_a_socket_file_is_no_site() -> None:
    with pytest.raises(FaultError):
        await guard.GuardedBackend().connect_unix_socket("/var/run/docker.sock")
