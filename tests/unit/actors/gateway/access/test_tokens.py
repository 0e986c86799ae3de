"""Access tokens of a real authorization server of the test, which signs them and says where its keys are."""

from __future__ import annotations

import base64
import hmac
import socket
import ssl
import time
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx2
import jwt
import msgspec
import pytest
import trustme
from anyio.abc import ByteStream, SocketAttribute
from anyio.streams.tls import TLSListener
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1
from cryptography.hazmat.primitives.asymmetric.ec import generate_private_key as make_ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key as make_rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from actors.gateway.access import tokens
from actors.gateway.access.caller import Scope
from actors.gateway.access.tokens import discovery
from actors.gateway.server import serving
from protocol.browse import StructuredError
from protocol.faults import Code
from tests.unit.actors.gateway_data import BEARER, FakeBus, browsed
from tests.unit.actors.gateway_listening import Listening, listening
from tests.unit.actors.page_data import URL

AUDIENCE = "https://weft.example"
WELL_KNOWN = "/.well-known/oauth-protected-resource"
ASKED = {"url": URL}
RSA_BITS = 2_048
ANSWER = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%b"

MAKERS: dict[str, Any] = {
    "RS256": lambda: (make_rsa(65_537, RSA_BITS), RSAAlgorithm),
    "ES256": lambda: (make_ec(SECP256R1()), ECAlgorithm),
    "EdDSA": lambda: (Ed25519PrivateKey.generate(), OKPAlgorithm),
}


@dataclass
class Issuer:
    """An authorization server: its keys by their ids, and what was asked of it."""

    port: int
    algorithm: str = "ES256"
    private: dict[str, Any] = field(default_factory=dict[str, Any])
    public: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    asked: list[str] = field(default_factory=list[str])
    metadata: dict[str, object] = field(default_factory=dict[str, object])
    silent: bool = False

    @property
    def url(self) -> str:
        """Its identifier."""
        return f"http://127.0.0.1:{self.port}"

    def make_key(self, name: str) -> None:
        """Have one more key."""
        private, form = MAKERS[self.algorithm]()
        self.private[name] = private
        self.public[name] = {**form.to_jwk(private.public_key(), as_dict=True), "kid": name, "use": "sig"}

    def claims(self, **changed: object) -> dict[str, object]:
        """Return the claims of a good token; None leaves one out."""
        now = int(time.time())
        good = {
            "iss": self.url,
            "sub": "alice",
            "aud": AUDIENCE,
            "iat": now,
            "exp": now + 600,
            "scope": "browse operate openid",
        }
        return {name: value for name, value in {**good, **changed}.items() if value is not None}

    def token(self, key: str = "one", /, **changed: object) -> str:
        """Sign a token."""
        return jwt.encode(
            self.claims(**changed), self.private[key], self.algorithm, headers={"kid": key, "typ": "at+jwt"}
        )

    async def answer(self, request: Request) -> Response:
        self.asked.append(request.url.path)
        if self.silent:
            await anyio.sleep_forever()
        if request.url.path == "/jwks":
            return JSONResponse({"keys": [*self.public.values(), {"kty": "oct", "k": "c2VjcmV0", "kid": "secret"}]})
        told = {"issuer": self.url, "jwks_uri": f"{self.url}/jwks", **self.metadata}
        is_there = request.url.path == "/.well-known/oauth-authorization-server"
        return JSONResponse(told) if is_there else Response(status_code=404)


@asynccontextmanager
async def issuing(algorithm: str = "ES256") -> AsyncGenerator[Issuer]:
    listener = socket.create_server(("127.0.0.1", 0))
    issuer = Issuer(listener.getsockname()[1], algorithm)
    issuer.make_key("one")
    app = Starlette(routes=[Route("/{path:path}", issuer.answer)])
    async with serving(app, listener, 0, lambda: None):
        yield issuer


@asynccontextmanager
async def gateway(issuer: Issuer, bus: FakeBus, **chosen: Any) -> AsyncGenerator[Listening]:
    named: dict[str, Any] = {
        "oauth_issuer": issuer.url,
        "public_url": AUDIENCE,
        "allow_private": ("127.0.0.0/8",),
        "rate_failed_per_minute": 0,
    }
    async with listening(bus, **{**named, **chosen}) as weft:
        yield weft


async def browse(weft: Listening, token: str, path: str = "/api/browse") -> httpx2.Response:
    with anyio.fail_after(90):
        async with weft.client(Authorization=f"Bearer {token}") as http:
            return await (http.get(path) if path != "/api/browse" else http.post(path, json=ASKED))


def code_of(answer: httpx2.Response) -> Code:
    return msgspec.json.decode(answer.content, type=StructuredError).code


@pytest.mark.parametrize("algorithm", MAKERS)
@pytest.mark.slow
async def test_a_good_token_lets_in(algorithm: str) -> None:
    bus = FakeBus(browsed())
    async with issuing(algorithm) as issuer, gateway(issuer, bus) as weft:
        answers = [await browse(weft, issuer.token()) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [200] * 3
    assert issuer.asked == ["/.well-known/oauth-authorization-server", "/jwks"]


@pytest.mark.parametrize("audience", [AUDIENCE, f"{AUDIENCE}/", f"{AUDIENCE}/mcp", ["https://other.example", AUDIENCE]])
async def test_a_token_is_for_one_of_our_resources(audience: object) -> None:
    async with issuing() as issuer, gateway(issuer, FakeBus(browsed())) as weft:
        assert (await browse(weft, issuer.token(aud=audience))).status_code == 200


NOW = int(time.time())
BAD_CLAIMS: dict[str, dict[str, object]] = {
    "for somebody else": {"aud": "https://other.example"},
    "for nobody": {"aud": None},
    "for a longer name": {"aud": f"{AUDIENCE}.evil"},
    "for a part of us": {"aud": f"{AUDIENCE}/api"},
    "expired": {"exp": NOW - 60},
    "without an end": {"exp": None},
    "with an end in words": {"exp": "tomorrow"},
    "without end": {"exp": float("inf")},
    "not yet good": {"nbf": NOW + 86_400},
    "of another issuer": {"iss": "https://other.example"},
    "of no issuer": {"iss": None},
    "of nobody": {"sub": None},
    "of nobody in particular": {"sub": ""},
    "of a number": {"sub": 7},
}


@pytest.mark.parametrize("claims", BAD_CLAIMS.values(), ids=BAD_CLAIMS)
async def test_a_token_that_claims_else_is_refused(claims: dict[str, object]) -> None:
    bus = FakeBus(browsed())
    async with issuing() as issuer, gateway(issuer, bus) as weft:
        answer = await browse(weft, issuer.token("one", **claims))

    assert (answer.status_code, code_of(answer), bus.calls) == (401, Code.AUTH_INVALID_CREDENTIALS, [])
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]


def forged(issuer: Issuer) -> Iterable[tuple[str, str]]:
    """Return tokens that are not the issuer's."""
    good = issuer.token()
    head, body, signature = good.split(".")
    stranger = make_ec(SECP256R1())
    public = issuer.private["one"].public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    kid = {"kid": "one"}
    yield "another key", jwt.encode(issuer.claims(), stranger, "ES256", headers=kid)
    yield "none", f"{_part({'alg': 'none', 'kid': 'one'})}.{body}."
    yield "none with a signature", f"{_part({'alg': 'none', 'kid': 'one'})}.{body}.{signature}"
    yield "the public key as a secret", _by_secret(issuer, public, "one")
    yield "a secret among the keys", _by_secret(issuer, b"secret", "secret")
    yield "another algorithm", f"{_part({'alg': 'RS256', 'kid': 'one'})}.{body}.{signature}"
    yield "the algorithm of another key", _signed_as(issuer, "RS256")
    yield "no key named", jwt.encode(issuer.claims(), issuer.private["one"], "ES256")
    yield "an unknown key", jwt.encode(issuer.claims(), issuer.private["one"], "ES256", headers={"kid": "two"})
    yield (
        "a key of its own",
        jwt.encode(
            issuer.claims(), stranger, "ES256", headers={"jwk": ECAlgorithm.to_jwk(stranger.public_key(), as_dict=True)}
        ),
    )
    yield "other claims", f"{head}.{_part(issuer.claims(sub='mallory'))}.{signature}"
    yield "no signature", f"{head}.{body}."
    yield (
        "an identity token",
        jwt.encode(issuer.claims(), issuer.private["one"], "ES256", headers={"kid": "one", "typ": "logout+jwt"}),
    )
    yield "no token", "a.b.c"
    yield "depth", f"{_base64(b'[' * 4_800)}.{body}.{signature}"
    yield "too long", issuer.token(padding="x" * 10_000)


def _by_secret(issuer: Issuer, secret: bytes, name: str) -> str:
    signed = f"{_part({'alg': 'HS256', 'typ': 'JWT', 'kid': name})}.{_part(issuer.claims())}"
    return f"{signed}.{_base64(hmac.digest(secret, signed.encode(), 'sha256'))}"


def _signed_as(issuer: Issuer, algorithm: str) -> str:
    """Sign as the key does, and say that it was done in another way."""
    signed = f"{_part({'alg': algorithm, 'kid': 'one'})}.{_part(issuer.claims())}"
    signature = ECAlgorithm(ECAlgorithm.SHA256).sign(signed.encode(), issuer.private["one"])
    return f"{signed}.{_base64(signature)}"


def _base64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _part(value: dict[str, object]) -> str:
    return _base64(msgspec.json.encode(value))


@pytest.mark.slow
async def test_nobody_but_the_issuer_vouches_for_a_token() -> None:
    bus = FakeBus(browsed())
    async with issuing() as issuer, gateway(issuer, bus) as weft:
        found = {name: (await browse(weft, token)).status_code for name, token in forged(issuer)}
        good = (await browse(weft, issuer.token())).status_code

    assert found == dict.fromkeys(found, 401)
    assert (len(found), good, len(bus.calls)) == (16, 200, 1)


async def test_a_key_that_is_too_short_vouches_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    short = RSA_BITS // 2
    monkeypatch.setitem(MAKERS, "RS256", lambda: (make_rsa(65_537, short), RSAAlgorithm))
    async with issuing("RS256") as issuer, gateway(issuer, FakeBus(browsed())) as weft:
        with pytest.warns(jwt.warnings.InsecureKeyLengthWarning):
            token = issuer.token()
        answer = await browse(weft, token)

    assert answer.status_code == 401


async def test_a_token_is_good_for_its_scopes_and_says_what_it_lacks() -> None:
    async with issuing() as issuer, gateway(issuer, FakeBus(browsed())) as weft:
        allowed = await browse(weft, issuer.token(scope="openid operate"), "/metrics")
        lacking = await browse(weft, issuer.token(scope="openid browse"), "/metrics")

    challenge = f'Bearer realm="weft", resource_metadata="{AUDIENCE}{WELL_KNOWN}/mcp"'
    assert (allowed.status_code, lacking.status_code) == (200, 403)
    assert lacking.headers["www-authenticate"] == f'{challenge}, error="insufficient_scope", scope="operate"'


@pytest.mark.parametrize(
    ("claims", "scopes"),
    [
        ({"scope": "browse sessions"}, {Scope.BROWSE, Scope.SESSIONS}),
        ({"scope": ["browse"]}, {Scope.BROWSE}),
        ({"scp": "browse"}, {Scope.BROWSE}),
        ({"scp": ["browse", "runs", 7, "Browse"]}, {Scope.BROWSE, Scope.RUNS}),
        ({"scope": "", "scp": "browse"}, set[Scope]()),
        ({"scope": {"browse": True}}, set[Scope]()),
        ({"scope": "browse,sessions *"}, set[Scope]()),
        ({}, set[Scope]()),
    ],
)
def test_scopes_are_read_as_servers_write_them(claims: dict[str, Any], scopes: set[Scope]) -> None:
    assert tokens.scopes_of(claims) == scopes


async def test_keys_are_looked_at_again_when_one_is_unknown_but_not_all_the_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with issuing() as issuer, gateway(issuer, FakeBus(browsed())) as weft:
        await browse(weft, issuer.token())
        issuer.make_key("two")
        early = (await browse(weft, issuer.token("two"))).status_code
        looks = issuer.asked.count("/jwks")
        monkeypatch.setattr(tokens, "COOL_DOWN_S", 0.0)
        rotated = (await browse(weft, issuer.token("two"))).status_code

    assert (early, looks, rotated) == (401, 1, 200)


@pytest.mark.slow
async def test_a_key_that_the_issuer_took_back_vouches_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "COOL_DOWN_S", 0.0)
    monkeypatch.setattr(tokens, "BELIEVED_S", 0.0)
    async with issuing() as issuer, gateway(issuer, FakeBus(browsed())) as weft:
        before = (await browse(weft, issuer.token())).status_code
        issuer.make_key("two")
        del issuer.public["one"]
        await browse(weft, issuer.token("two"))
        after = (await browse(weft, issuer.token())).status_code

    assert (before, after) == (200, 401)


async def test_while_the_issuer_is_away_no_token_is_let_in_and_keys_are() -> None:
    bus = FakeBus(browsed())
    async with issuing() as issuer:
        token = issuer.token()
    async with gateway(issuer, bus) as weft:
        away = await browse(weft, token)
        async with weft.client(**BEARER) as http:
            owner = await http.post("/api/browse", json=ASKED)

    assert (away.status_code, code_of(away), owner.status_code) == (503, Code.INTERNAL_UNAVAILABLE, 200)


@pytest.mark.slow
async def test_an_issuer_that_does_not_answer_is_waited_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "FETCH_S", 0.2)
    async with issuing() as issuer, gateway(issuer, FakeBus(browsed())) as weft:
        issuer.silent = True
        answers = [await browse(weft, issuer.token()) for _ in range(20)]

    assert {answer.status_code for answer in answers} == {503}
    assert len(issuer.asked) == 1


@pytest.mark.parametrize(
    "metadata",
    [
        {"issuer": "https://other.example"},
        {"jwks_uri": "https://other.example/jwks"},
        {"jwks_uri": "file:///etc/passwd"},
        {"jwks_uri": None},
    ],
)
async def test_metadata_of_another_or_that_lead_elsewhere_are_not_believed(metadata: dict[str, object]) -> None:
    async with issuing() as issuer, gateway(issuer, FakeBus(browsed())) as weft:
        issuer.metadata = metadata
        assert (await browse(weft, issuer.token())).status_code == 503

    assert "/jwks" not in issuer.asked


@pytest.mark.slow
async def test_keys_on_another_host_are_not_the_issuers_unless_the_operator_says_so() -> None:
    async with issuing() as issuer, issuing() as other:
        issuer.metadata = {"jwks_uri": f"{other.url}/jwks"}
        other.public = issuer.public
        async with gateway(issuer, FakeBus(browsed())) as weft:
            elsewhere = (await browse(weft, issuer.token())).status_code
        async with gateway(issuer, FakeBus(browsed()), oauth_jwks_url=f"{other.url}/jwks") as weft:
            named = (await browse(weft, issuer.token())).status_code

    assert (elsewhere, named) == (503, 200)


async def test_an_issuer_without_tls_is_not_asked_unless_its_network_is_allowed() -> None:
    async with issuing() as issuer, gateway(issuer, FakeBus(browsed()), allow_private=()) as weft:
        assert (await browse(weft, issuer.token())).status_code == 503

    assert issuer.asked == []


@asynccontextmanager
async def over_tls(issuer: Issuer, authority: trustme.CA) -> AsyncGenerator[str]:
    """Have what an issuer tells told over TLS, by another server in its name."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)  # pyright: ignore[reportUnknownMemberType] # OpenSSL's type

    async def tell(stream: ByteStream) -> None:
        async with stream:
            await stream.receive()
            told: dict[str, object] = {"issuer": url, "jwks_uri": f"{url}/jwks", "keys": [*issuer.public.values()]}
            body = msgspec.json.encode(told)
            await stream.send(ANSWER % (len(body), body))

    plain = await anyio.create_tcp_listener(local_host="127.0.0.1")
    url = f"https://127.0.0.1:{plain.extra(SocketAttribute.local_port)}"  # noqa: S610 - no Django here
    listener = TLSListener(plain, context, standard_compatible=False)
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, tell)
        yield url
        tasks.cancel_scope.cancel()


@pytest.mark.parametrize(("trusts", "status"), [(True, 200), (False, 503)])
async def test_an_issuer_is_asked_over_tls_and_believed_by_its_certificate(
    tmp_path: Path,
    trusts: bool,  # noqa: FBT001 - a parameter of the test
    status: int,
) -> None:
    authority, ca_file = trustme.CA(), tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(ca_file))
    async with issuing() as issuer, over_tls(issuer, authority) as url:
        named = {"oauth_issuer": url, "allow_private": (), "fetch_ca_file": str(ca_file) if trusts else ""}
        async with gateway(issuer, FakeBus(browsed()), **named) as weft:
            assert (await browse(weft, issuer.token(iss=url))).status_code == status


async def test_the_operator_may_say_where_the_keys_are_and_whom_tokens_are_for() -> None:
    async with issuing() as issuer:
        named = {"oauth_jwks_url": f"{issuer.url}/jwks", "oauth_audience": ("api://weft",)}
        async with gateway(issuer, FakeBus(browsed()), **named) as weft:
            own = (await browse(weft, issuer.token(aud="api://weft"))).status_code
            usual = (await browse(weft, issuer.token())).status_code

    assert (own, usual, issuer.asked) == (200, 401, ["/jwks"])


async def test_who_has_no_token_is_told_where_one_is_to_be_had() -> None:
    async with (
        issuing() as issuer,
        gateway(issuer, FakeBus()) as weft,
        httpx2.AsyncClient(trust_env=False, verify=False, timeout=90) as http,
    ):
        asked = await http.post(f"{weft.base}/mcp")
        told = {path: (await http.get(f"{weft.base}{WELL_KNOWN}{path}")).json() for path in ("", "/mcp")}

    scopes = " ".join(scope.value for scope in Scope)
    assert asked.status_code == 401
    assert asked.headers["www-authenticate"] == (
        f'Bearer realm="weft", resource_metadata="{AUDIENCE}{WELL_KNOWN}/mcp", scope="{scopes}"'
    )
    assert told == {
        path: {
            "resource": AUDIENCE + path,
            "authorization_servers": [issuer.url],
            "scopes_supported": [scope.value for scope in Scope],
            "bearer_methods_supported": ["header"],
            "resource_name": "Weft",
        }
        for path in ("", "/mcp")
    }


async def test_without_an_issuer_there_are_no_metadata_and_no_tokens() -> None:
    async with issuing() as issuer, listening(FakeBus()) as weft:
        token = await browse(weft, issuer.token())
        async with weft.client() as http:
            metadata = await http.get(WELL_KNOWN)

    assert (token.status_code, metadata.status_code) == (401, 404)
    assert token.headers["www-authenticate"] == 'Bearer realm="weft", error="invalid_token"'


async def test_a_caller_is_told_apart_without_a_name() -> None:
    bus = FakeBus(browsed())
    async with issuing() as issuer, gateway(issuer, bus) as weft:
        for subject in ("alice", "alice", "bob"):
            await browse(weft, issuer.token(sub=subject, jti=str(time.monotonic_ns())))
        names: set[str] = set()
    for name in bus.held["usage"].entries:
        names.add(name.split("/")[0])

    assert len(names) == 2
    assert all(name.startswith("oauth-") and "alice" not in name for name in names)


@pytest.mark.parametrize(
    ("issuer", "places"),
    [
        (
            "https://a.example",
            (
                "https://a.example/.well-known/oauth-authorization-server",
                "https://a.example/.well-known/openid-configuration",
            ),
        ),
        (
            "https://a.example/realms/weft/",
            (
                "https://a.example/.well-known/oauth-authorization-server/realms/weft",
                "https://a.example/.well-known/openid-configuration/realms/weft",
                "https://a.example/realms/weft/.well-known/openid-configuration",
            ),
        ),
    ],
)
def test_metadata_are_looked_for_where_the_standards_put_them(issuer: str, places: tuple[str, ...]) -> None:
    assert discovery(issuer) == places
