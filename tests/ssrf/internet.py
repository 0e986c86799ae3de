"""An internet for tests, in a namespace where every address is this machine: its names, and its one site."""

from __future__ import annotations

import itertools
import socket
import ssl
import tempfile
import threading
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import IPv6Address, ip_address
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar
from urllib.parse import parse_qs, urlsplit

import trustme

from tests.support import namespace

PUBLIC = "93.184.215.14"
PUBLIC_6 = "2606:2800:21f:cb07:6820:80da:af6b:8b2c"
PUBLIC_ADDRESSES = frozenset({ip_address(PUBLIC), ip_address(PUBLIC_6)})
NAME_SERVER = ip_address("127.0.0.53")
NAME_PORT = 53
PORTS, TLS_PORTS = (80, 8080), (443, 8443)
CERTIFIED = ("site.example", "*.example", "*.site.example", PUBLIC)

_HOSTS = "127.0.0.1 localhost\n::1 localhost ip6-localhost\n"
_SWITCH = "hosts: files dns\n"

_REBINDING: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "rebind-1.example": ("127.0.0.1",),
        "rebind-2.example": ("169.254.169.254",),
        "rebind-3.example": (PUBLIC, "127.0.0.1"),
        "rebind-4.example": ("::1",),
    }
)
"""Names that have a public address at first, and these ever after."""

REBINDING_NAMES = tuple(_REBINDING)

_NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "localtest.me": ("127.0.0.1",),
        "127.0.0.1.nip.io": ("127.0.0.1",),
        "mixed.example": (PUBLIC, "10.0.0.1"),
        "mixed-after.example": (PUBLIC, PUBLIC_6, "10.0.0.1"),
        "mapped.example": ("::ffff:127.0.0.1",),
        "nat64.example": ("64:ff9b::a9fe:a9fe",),
        "linklocal.example": ("fe80::1",),
        "private.example": ("192.168.7.7",),
        "zero.example": ("0.0.0.0",),  # noqa: S104 - what an attacker's name says
        "empty.example": (),
        "six.example": (PUBLIC_6,),
        "many.example": (PUBLIC, PUBLIC_6),
        "metadata": ("169.254.169.254",),
        "localhost.localdomain": ("127.0.0.1",),
    }
)
_INSIDE = ("localhost", "internal", "local", "lan", "home.arpa", "intranet")
"""All names that end so are in a private network; all that are not named here are public."""

_A, _AAAA = 1, 28
_HEADER_BYTES = 12
_ANSWER = b"\x84\x00\x00\x01"
_MAX_QUESTION_BYTES = 512


class Names:
    """What the names of the corpus mean."""

    def __init__(self) -> None:
        self._asked: set[str] = set()

    def addresses(self, name: str, kind: int) -> list[str]:
        """Answer a question for addresses of one family."""
        found = self._all(name, kind)
        return [one for one in found if (":" in one) == (kind == _AAAA)]

    def forget(self) -> None:
        """Have names that change begin anew."""
        self._asked.clear()

    def _all(self, name: str, kind: int) -> tuple[str, ...]:
        if name in _REBINDING:
            key = f"{name}/{kind}"
            if key not in self._asked:
                self._asked.add(key)
                return (PUBLIC,)
            return _REBINDING[name]
        if any(name == end or name.endswith(f".{end}") for end in _INSIDE):
            return ("169.254.169.254",) if "metadata" in name else ("127.0.0.1",)
        return _NAMES.get(name, (PUBLIC,))


def serve_names(names: Names, listener: socket.socket) -> None:
    """Answer questions of DNS until the socket is closed."""
    while True:
        try:
            question, asker = listener.recvfrom(_MAX_QUESTION_BYTES)
        except OSError:
            return
        listener.sendto(reply(names, question), asker)


def reply(names: Names, question: bytes) -> bytes:
    """Answer one question (RFC 1035 §4.1), whose records may not be kept."""
    labels: list[str] = []
    at = _HEADER_BYTES
    while size := question[at]:
        labels.append(question[at + 1 : at + 1 + size].decode("latin-1"))
        at += size + 1
    kind = int.from_bytes(question[at + 1 : at + 3])
    found = names.addresses(".".join(labels).lower(), kind) if kind in (_A, _AAAA) else []
    records = b"".join(
        b"\xc0\x0c" + kind.to_bytes(2) + b"\0\x01" + bytes(4) + len(packed).to_bytes(2) + packed
        for packed in (ip_address(one).packed for one in found)
    )
    return question[:2] + _ANSWER + len(found).to_bytes(2) + bytes(4) + question[_HEADER_BYTES : at + 5] + records


@dataclass
class Internet:
    """What is there: `pages` by their key, which /page?k=KEY shows; `asked` holds what was asked for, by URL."""

    ca_file: str
    names: Names
    pages: dict[str, str] = field(default_factory=dict[str, str])
    asked: list[str] = field(default_factory=list[str])


@contextmanager
def internet() -> Generator[Internet]:
    """Make all addresses and all names lead to one site; call it in a namespace, once."""
    namespace.every_address_is_here()
    namespace.mount_file(f"nameserver {NAME_SERVER}\noptions ndots:1 timeout:2 attempts:1\n", "/etc/resolv.conf")
    namespace.mount_file(_HOSTS, "/etc/hosts")
    namespace.mount_file(_SWITCH, "/etc/nsswitch.conf")
    names = Names()
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*CERTIFIED).configure_cert(context)  # pyright: ignore[reportUnknownMemberType] - trustme speaks of PyOpenSSL, too
    with ExitStack() as stack, tempfile.TemporaryDirectory() as folder:
        ca_file = Path(folder, "ca.pem")
        authority.cert_pem.write_to_path(str(ca_file))
        world = Internet(str(ca_file), names)
        listener = stack.enter_context(socket.socket(type=socket.SOCK_DGRAM))
        listener.bind((str(NAME_SERVER), NAME_PORT))
        threading.Thread(target=serve_names, args=(names, listener), daemon=True).start()
        for port in (*PORTS, *TLS_PORTS):
            server = _Server(port, world, context if port in TLS_PORTS else None)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            stack.callback(server.shutdown)
        yield world


class _Server(ThreadingHTTPServer):
    """Listens at every address of both families."""

    address_family = socket.AF_INET6  # type: ignore[mutable-override]  # typeshed says int
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, port: int, world: Internet, context: ssl.SSLContext | None) -> None:
        self.world = world
        self.context = context
        super().__init__(("::", port), _Handler)

    def server_bind(self) -> None:
        self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        super(ThreadingHTTPServer, self).server_bind()

    def finish_request(self, request: socket.socket, client_address: tuple[str, int]) -> None:  # type: ignore[override]  # typeshed knows datagrams, too
        if self.context is not None:
            request.settimeout(5)
            request = self.context.wrap_socket(request, server_side=True)
        super().finish_request(request, client_address)

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: clients come and go."""


class _Handler(BaseHTTPRequestHandler):
    """Shows pages, redirects wherever it is told to, and says hello to everybody else; each answer is the last."""

    timeout = 5  # type: ignore[mutable-override]  # typeshed says float
    _numbers: ClassVar[itertools.count[int]] = itertools.count()

    def do_GET(self) -> None:
        """Answer."""
        self._take()
        here = urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(here.query).items()}
        name = self.headers.get("Host", "").partition(":")[0]
        body, kind, status, more = b"<title>Hello</title><main><p>Hello, hello.</main>", "text/html", 200, ""
        match here.path:
            case "/page":
                body = self._world.pages.get(asked.get("k", ""), "").encode()
            case "/asked":
                body, kind, more = asked.get("body", "").encode(), asked.get("type", kind), asked.get("head", "")
            case "/to":
                status, more = int(asked.get("status", "302")), f"Location: {asked.get('url', '')}"
            case "/again" if name.startswith("rebind"):
                status, more = 302, f"Location: http://{name}/again{next(self._numbers)}"
            case path if path.endswith((".js", ".mjs")):
                body, kind = b"export default 1;" if path.endswith(".mjs") else b";", "text/javascript"
            case _:
                pass
        self._say(status, kind, body, f"{more}\r\n" if more else "")

    do_POST = do_PUT = do_HEAD = do_OPTIONS = do_GET  # noqa: N815 - the names are the library's

    @property
    def _world(self) -> Internet:
        assert isinstance(self.server, _Server)
        return self.server.world

    def _take(self) -> None:
        address = ip_address(self.connection.getsockname()[0])
        host = getattr(address, "ipv4_mapped", None) or address if isinstance(address, IPv6Address) else address
        self._world.asked.append(f"{host}:{self.connection.getsockname()[1]}{self.path}")
        self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _say(self, status: int, kind: str, body: bytes, more: str) -> None:
        head = (
            f"HTTP/1.1 {status} So\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
            "Access-Control-Allow-Origin: *\r\nAccess-Control-Allow-Headers: *\r\nService-Worker-Allowed: /\r\n"
            f"Cache-Control: no-store\r\nConnection: close\r\n{more}\r\n"
        )
        self.wfile.write(head.encode() + body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the library's
        """Say nothing."""
