"""Where a call leads: addresses in its arguments, and that of the link or form that it acts on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from ipaddress import ip_address
from typing import Any, Final, cast
from urllib.parse import SplitResult, unquote, urlsplit

from msgspec import Struct

from actors.addresses import Network, allowed, names_private_network
from actors.page_addresses import ascii_host
from protocol.policy import FieldFacts

_WEB: Final = frozenset({"http", "https"})
_SCRIPTED: Final = frozenset({"javascript", "data", "blob", "filesystem", "view-source"})
"""What has no address of its own: nobody can say where it leads."""

_URL_KEYS: Final = frozenset({"url", "urls", "href", "startUrl"})
_DEFAULT_SCHEME: Final = "https://"
_STRIPPED: Final = str.maketrans("", "", "\t\r\n")
"""What a browser takes out of an address before it reads it (WHATWG URL)."""


class CallTarget(Struct, frozen=True, kw_only=True):
    """An address that a call leads to: its host, and why it is refused or doubted; `of_form`: what is typed goes there.

    `host` is "" where it has none.
    """

    host: str
    refused: str = ""
    doubted: str = ""
    of_form: bool = False


def targets_of(
    arguments: Mapping[str, Any], element: FieldFacts | None, networks: Iterable[Network] = ()
) -> tuple[CallTarget, ...]:
    """Return where a call leads; `networks` are private ones that the operator has allowed."""
    own = tuple(networks)
    return (
        *(_target(url, own) for url in addresses(arguments)),
        *((_of_element(element, own),) if element is not None and element.target else ()),
    )


def addresses(arguments: object) -> Iterator[str]:
    """Return the addresses that stand in arguments under a key for them, but not in what others define."""
    if isinstance(arguments, Mapping):
        for key, value in cast("Mapping[str, object]", arguments).items():
            if key in _URL_KEYS and isinstance(value, str):
                yield value
            elif key not in {"payload", "config"}:
                yield from addresses(value)
    elif isinstance(arguments, list | tuple):
        for one in cast("Sequence[object]", arguments):
            yield from (one,) if isinstance(one, str) and _has_scheme(one) else addresses(one)


def host_of(url: str) -> str:
    """Return the host of an address in small ASCII letters, as a browser would read it; "" where it has none."""
    parts = _split(url)
    if parts is None or not parts.hostname:
        return ""
    try:
        return ascii_host(unquote(parts.hostname)).rstrip(".").lower()
    except ValueError:
        return parts.hostname.rstrip(".").lower()


def _target(url: str, networks: tuple[Network, ...]) -> CallTarget:
    parts, host = _split(url), host_of(url)
    if parts is None or (parts.scheme in _WEB and not host):
        return CallTarget(host="", refused="The address cannot be read.")
    if parts.scheme not in _WEB:
        return CallTarget(host="", refused=f"Addresses of “{parts.scheme}” are never opened.")
    if parts.username is not None or parts.password is not None:
        return CallTarget(host=host, refused="The address holds a user name or password.")
    if is_private(host, networks):
        return CallTarget(host=host, refused=f"The host {host} lies in a private network.")
    return CallTarget(host=host)


def _of_element(element: FieldFacts, networks: tuple[Network, ...]) -> CallTarget:
    """Judge the target of a link, or of the form that a field or button belongs to."""
    form = bool(element.form_fields) or element.tag.lower() in {"input", "select", "textarea"}
    parts, page = _split(element.target), _split(element.url or element.page_url)
    if parts is not None and parts.scheme in _SCRIPTED:
        return CallTarget(host="", doubted="It runs a script of the page instead of leading somewhere.", of_form=form)
    judged = _target(element.target, networks)
    if judged.host and judged.host == host_of(element.page_url):
        judged = CallTarget(host=judged.host)
    if form and parts is not None and page is not None and (page.scheme, parts.scheme) == ("https", "http"):
        return CallTarget(
            host=judged.host, refused="The form would send what it holds without encryption.", of_form=True
        )
    return CallTarget(host=judged.host, refused=judged.refused, doubted=judged.doubted, of_form=form)


def is_private(host: str, networks: Iterable[Network]) -> bool:
    """Return whether a host is none of the public internet, by its name or address alone."""
    own = tuple(networks)
    try:
        return not allowed(ip_address(host.strip("[]")), own)
    except ValueError:
        return not own and (names_private_network(host) or "." not in host)


def _split(url: str) -> SplitResult | None:
    """Take an address apart; without a scheme it is one of the web."""
    text = url.translate(_STRIPPED).strip().replace("\\", "/")
    try:
        parts = urlsplit(text if _has_scheme(text) else _DEFAULT_SCHEME + text.lstrip("/"))
        _ = parts.port, parts.hostname
    except ValueError:
        return None
    return parts


def _has_scheme(text: str) -> bool:
    """Return whether a text begins with a scheme; the port of a host is none."""
    scheme, colon, rest = text.partition(":")
    if not colon or not scheme[:1].isalpha() or not all(one.isalnum() or one in "+-." for one in scheme):
        return False
    return rest.startswith("//") or scheme.lower() in _SCRIPTED | {"file", "about", "mailto", "tel", "chrome"}
