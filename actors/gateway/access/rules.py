"""For whom this gateway answers: the Host and Origin headers that it takes, exactly as they are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlsplit

from starlette.types import Scope

from actors.gateway.http.answers import RefusedError
from actors.settings import Settings
from protocol.faults import Code, fault

_HTTP_PORT = 80


class Asked(NamedTuple):
    """What of a request's headers the gate goes by, each as often as it came."""

    hosts: tuple[str, ...]
    origins: tuple[str, ...]
    authorizations: tuple[str, ...]


def asked(scope: Scope) -> Asked:
    """Read the headers of a request."""
    hosts: list[str] = []
    origins: list[str] = []
    authorizations: list[str] = []
    for name, value in scope["headers"]:
        if name == b"host":
            hosts.append(value.decode("latin-1").lower())
        elif name == b"origin":
            origins.append(value.decode("latin-1").lower())
        elif name == b"authorization":
            authorizations.append(value.decode("latin-1"))
    return Asked(tuple(hosts), tuple(origins), tuple(authorizations))


@dataclass(frozen=True)
class Rules:
    """Whom the gate lets pass: exact Host and Origin headers in lower case, and the paths that need no key."""

    hosts: frozenset[str]
    origins: frozenset[str]
    open_paths: frozenset[str]

    def check(self, request: Asked) -> None:
        """Refuse a Host that is not ours, which is how DNS rebinding shows, and an Origin that is not allowed.

        Raises:
            RefusedError: SECURITY_ORIGIN_REFUSED.
        """
        if len(request.hosts) != 1 or request.hosts[0] not in self.hosts:
            raise _refused("This gateway does not answer for that Host", 421)
        if not self.origins.issuperset(request.origins):
            raise _refused("This gateway does not answer to that Origin", 403)


def rules(settings: Settings, open_paths: Iterable[str]) -> Rules:
    """Work out the rules of a gateway that listens where the settings say."""
    own = {_bracketed(settings.host), "localhost", "127.0.0.1", "[::1]"}
    hosts = {f"{name}:{settings.port}" for name in own}
    if settings.port == _HTTP_PORT:
        hosts |= own
    origins = {f"http://{host}" for host in hosts}
    if settings.public_url:
        public = urlsplit(settings.public_url)
        hosts.add(public.netloc)
        origins.add(f"{public.scheme}://{public.netloc}")
    return Rules(
        hosts=_lower([*hosts, *settings.allowed_hosts]),
        origins=_lower([*origins, *settings.allowed_origins]),
        open_paths=frozenset(open_paths),
    )


def _refused(message: str, status: int) -> RefusedError:
    return RefusedError(fault(Code.SECURITY_ORIGIN_REFUSED, message), status)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _lower(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name.lower() for name in names)
