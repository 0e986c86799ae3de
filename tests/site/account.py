"""An account of the site: a page that only who is logged in gets to see, and the door to it."""

from __future__ import annotations

import time

from tests.site.answers import Answer, Ask, Reply, text

SESSION = "session_id"
"""The cookie that is the login; `renewed` counts how often the site has renewed it."""

_WORDS = "Your looms are warped, your shuttles are wound and the weaver is content. " * 12
_FORM = (
    "<html lang=en><title>Log in</title><main><h1>Log in</h1><form action=/account/login>"
    "<input name=user><input type=password name=password><button>Log in</button></form></main></html>"
)
_INSIDE = (
    "<html lang=en><title>Your account</title><main><article><h1>Hello, {user}</h1><p>{words}</p>"
    "<script>localStorage.setItem('visits', String(Number(localStorage.getItem('visits') ?? 0) + 1));"
    "sessionStorage.setItem('tab', 'open');"
    "const note = document.createElement('p');"
    "note.textContent = `Visits kept here: ${{localStorage.getItem('visits')}}.`;"
    "document.querySelector('article').append(note);</script></article></main></html>"
)
_LEAVE = (
    "<html lang=en><title>Leaving</title><script>sessionStorage.setItem('before', localStorage.getItem('visits'));"
    "localStorage.clear();location.href = '/account/left'</script></html>"
)
_LEFT = (
    "<html lang=en><title>Left</title><main><p id=note></p><script>document.getElementById('note').textContent = "
    "`Before ${sessionStorage.getItem('before')}, now ${localStorage.length}.`</script></main></html>"
)
_DATABASE = """<html lang=en><title>Database</title><main><p id=note>Nothing yet.</p></main><script>
const asked = indexedDB.open("notes", 1);
asked.onupgradeneeded = () => asked.result.createObjectStore("turns");
asked.onsuccess = () => {
  const turns = asked.result.transaction("turns", "readwrite").objectStore("turns");
  const found = turns.get("last");
  found.onsuccess = () => {
    const turn = (found.result ?? 0) + 1;
    turns.put(turn, "last").onsuccess = () => { document.getElementById("note").textContent = `Turn ${turn}.`; };
  };
};
</script></html>"""


def answer_account(ask: Ask) -> Answer:
    """Answer /account, which renews the login, /account/login?user=NAME, /account/logout, and /account/leave."""
    if ask.rest == "login":
        return _to_account(f"{ask.query.get('user', 'weaver')}.1", int(ask.query.get("for", "86400")))
    if ask.rest == "database":
        return text(_DATABASE)
    if ask.rest in ("leave", "left"):
        return text(_LEAVE if ask.rest == "leave" else _LEFT, headers=(("Referrer-Policy", "no-referrer"),))
    if ask.rest == "logout":
        return _to_account("", 0)
    user, _, turn = _cookies(ask).get(SESSION, "").partition(".")
    if not user:
        return text(_FORM, status=ask.number("wall", 401), headers=(("Cache-Control", "no-store"),))
    renewed = _set(f"{user}.{int(turn or 1) + 1}", 172_800)
    return text(
        _INSIDE.format(user=user, words=_WORDS), headers=(("Set-Cookie", renewed), ("Cache-Control", "no-store"))
    )


def _to_account(value: str, for_s: int) -> Reply:
    return Reply(302, headers=(("Location", "/account"), ("Set-Cookie", _set(value, for_s))))


def _set(value: str, for_s: int) -> str:
    expires = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + for_s))
    return f"{SESSION}={value}; Path=/; HttpOnly; Expires={expires}"


def _cookies(ask: Ask) -> dict[str, str]:
    pairs = (pair.strip().partition("=") for pair in ask.headers.get("cookie", "").split(";"))
    return {name: value for name, _, value in pairs}
