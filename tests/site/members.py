"""Doors to what only members get to see: forms of several kinds, each with a token that only its own page knows."""

from __future__ import annotations

import html
import json
import secrets
from collections import Counter
from http import HTTPStatus
from urllib.parse import parse_qs

from tests.site.answers import Answer, Ask, Headers, Reply, text

PASSWORD = "warp & weft/7"
"""What every member knows."""

MEMBER = "member_session"
TOKEN = "csrf"
ENDED: Counter[str] = Counter()
"""How often the logins of a member were ended, by name."""

_SLOW_MS = 2_500
_UNCACHED = (("Cache-Control", "no-store"),)
_WORDS = "Your looms are warped, your shuttles are wound and the weaver is content. " * 12

_USER, _SECRET = "<input name=user autocomplete=username>", "<input type=password name=password>"
_PLAIN = f"<label>User name {_USER}</label><label>Password {_SECRET}</label><button id=go>Log in</button>"
_FIELDS = {
    "plain": _PLAIN,
    "slow": _PLAIN,
    "script": _PLAIN,
    "stays": _PLAIN,
    "silent": _PLAIN,
    "labels": "<p><label for=a>Member number</label><input id=a name=user></p><p><label for=b>Key word</label>"
    "<input id=b type=password name=password></p><div><button>Enter the weaving mill</button></div>",
    "enter": f"<p>E-mail {_USER}</p><p>Password {_SECRET}</p>"
    "<script>onkeydown = ({ key }) => { if (key === 'Enter') document.forms[0].submit() }</script>",
    "covered": f"{_PLAIN}<div id=banner style='position:fixed;inset:0;background:white'><p>We use cookies.</p>"
    "<button type=button onclick=banner.remove()>Accept all cookies</button>"
    "<button type=button onclick=banner.remove()>Reject all cookies</button></div>",
    "crowded": f"{_PLAIN}</form><form id=search action=/article><input name=q placeholder=Search>"
    "<button>Search</button></form><form id=join action=/article><h2>Join</h2><label>User name <input name=new></label>"
    "<label>E-mail <input type=email name=mail></label><label>Password <input type=password name=one></label>"
    "<label>Password again <input type=password name=two></label><button>Join</button>",
}
_DRAW = """<div id=root></div><script>
setTimeout(() => {
  root.innerHTML = %s;
  document.forms[0].addEventListener('submit', async (event) => {
    event.preventDefault();
    const body = new URLSearchParams(new FormData(event.target));
    const answer = await fetch(location.href, { method: 'POST', body });
    if (answer.ok && STAYS) root.innerHTML = '<h1>Welcome</h1><a href="../out">Log out</a>';
    else if (answer.ok) location.href = 'home';
    else { event.target.password.value = ''; note.textContent = 'Wrong user name or password'; }
  });
}, %d);
</script>"""
_DRAWN_AFTER_MS = 1_500


def answer_members(ask: Ask) -> Answer:
    """Answer /members/KIND/login and /members/KIND/home, and /members/end?user=NAME, which ends what NAME has open."""
    kind, _, what = ask.rest.partition("/")
    if kind == "end":
        ENDED[ask.query["user"]] += 1
        return text("ended", "text/plain", headers=_UNCACHED)
    if what == "login" and kind in _FIELDS:
        return _enter(ask, kind) if ask.method == "POST" else _form(kind)
    if what == "home":
        return _home(ask, kind)
    return text("<h1>There is no such door</h1>", status=404)


def _form(kind: str, status: int = 200, note: str = "") -> Reply:
    token = secrets.token_hex(8)
    hidden = f"<input type=hidden name={TOKEN} value={token}>"
    form = f"<form method=post action=login>{hidden}{_FIELDS[kind]}</form><p id=note role=alert>{note}</p>"
    if kind in ("script", "stays"):
        form = (_DRAW % (json.dumps(form), _DRAWN_AFTER_MS)).replace("STAYS", str(kind == "stays").lower())
    cookie = ("Set-Cookie", f"{TOKEN}={token}; Path=/members; HttpOnly; SameSite=Strict")
    body = f"<!doctype html><html lang=en><title>Members</title><main><h1>Members only</h1>{form}</main></html>"
    return text(body, status=status, headers=(cookie, *_UNCACHED))


def _enter(ask: Ask, kind: str) -> Reply:
    given = {name: values[0] for name, values in parse_qs(ask.body.decode()).items()}
    after_ms = _SLOW_MS if kind == "slow" else 0
    if not given.get(TOKEN) or given[TOKEN] != _cookies(ask).get(TOKEN):
        return Reply(403, b"<h1>The form is not from here</h1>", _UNCACHED, after_ms=after_ms)
    user = given.get("user", "")
    if not user or given.get("password") != PASSWORD:
        return _form(kind, HTTPStatus.UNAUTHORIZED, "Wrong user name or password")
    cookie = f"{MEMBER}={user}.{ENDED[user]}; Path=/members; HttpOnly; Max-Age=86400"
    headers: Headers = (("Set-Cookie", cookie), *_UNCACHED)
    if kind in ("script", "stays"):
        return Reply(200, b"{}", headers)
    return Reply(303, headers=(("Location", f"/members/{kind}/home"), *headers), after_ms=after_ms)


def _home(ask: Ask, kind: str) -> Reply:
    user, _, turn = _cookies(ask).get(MEMBER, "").partition(".")
    if not user or turn != str(ENDED[user]):
        return _form(kind if kind in _FIELDS else "plain", HTTPStatus.UNAUTHORIZED)
    out = "" if kind == "silent" else "<a href=/members/out>Log out</a>"
    return text(
        f"<!doctype html><html lang=en><title>The mill</title><main><article><h1 id=hello>Hello, {html.escape(user)}"
        f"</h1><p>{_WORDS}</p></article>{out}</main></html>",
        headers=_UNCACHED,
    )


def _cookies(ask: Ask) -> dict[str, str]:
    pairs = (pair.strip().partition("=") for pair in ask.headers.get("cookie", "").split(";"))
    return {name: value for name, _, value in pairs}
