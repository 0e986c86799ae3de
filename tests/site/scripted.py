"""Pages whose scripts do something, and what they ask for."""

from __future__ import annotations

import json
from collections.abc import Callable
from http import HTTPStatus

from tests.site.answers import HTML, Answer, Ask, Reply, text

ARTICLE = " ".join(f"Thread {number} of the warp lies beside the next." for number in range(12))
LATE = "The cloth has come at last."

_HEADER = "h."


def as_asked(ask: Ask) -> Answer:
    """Answer as the query says: `body`, `type`, `status`, `ms` to wait, `h.<name>` headers; a preflight with 204."""
    headers = tuple(
        (name.removeprefix(_HEADER), value) for name, value in ask.query.items() if name.startswith(_HEADER)
    )
    status = HTTPStatus.NO_CONTENT if ask.method == "OPTIONS" else ask.number("status", 200)
    body = b"" if ask.method == "OPTIONS" else ask.query.get("body", "").encode()
    named = (("Content-Type", ask.query.get("type", HTML)), ("Cache-Control", "no-store"))
    return Reply(status, body, (*named, *headers), after_ms=ask.number("ms", 0))


def told(ask: Ask) -> Answer:
    """Return who asks, and how: as JSON that every origin may read."""
    seen = {"method": ask.method, **{name: ask.headers.get(name, "") for name in ("cookie", "origin", "referer")}}
    open_to_all = (("Access-Control-Allow-Origin", "*"), ("Cache-Control", "no-store"))
    return text(json.dumps(seen), "application/json", headers=open_to_all)


def late(ask: Ask) -> Answer:
    """Serve a page whose content comes `ms` after it was loaded, in one of eight ways."""
    ms = ask.number("ms", 0)
    way = _WAYS[ask.rest.split("/")[0]]
    return text(f"<!doctype html><title>Late</title><main id=m><h1>Late</h1><p>Loading</p></main>{way(ms)}")


def late_data(ask: Ask) -> Answer:
    """Serve what late pages ask for."""
    return Reply(
        200,
        json.dumps({"text": LATE, "next": f"/late-data/last?ms={ask.number('ms', 0)}"}).encode(),
        (("Content-Type", "application/json"),),
        after_ms=ask.number("ms", 0),
    )


def late_module(_: Ask) -> Answer:
    """Serve a module that late pages load."""
    return text(f"export const words = {json.dumps(LATE)};", "text/javascript")


def _script(body: str) -> str:
    show = "const show = (words) => { document.querySelector('p').textContent = words; };"
    return f"<script type=module>{show} const LATE = {json.dumps(LATE)}; {body}</script>"


def _after(ms: int, body: str) -> str:
    """Begin with the load event, as the time counts from there."""
    return f"addEventListener('load', () => setTimeout(() => {{ {body} }}, {ms}));"


_WAYS: dict[str, Callable[[int], str]] = {
    "timer": lambda ms: _script(_after(ms, "show(LATE)")),
    "fetch": lambda ms: _script(f"fetch('/late-data/x?ms={ms}').then(r => r.json()).then(d => show(d.text))"),
    "nested": lambda ms: _script(
        f"const get = u => fetch(u).then(r => r.json()); get('/late-data/x?ms={ms // 2}').then(d => get(d.next)).then("
        "d => show(d.text))"
    ),
    "frame": lambda ms: _script(
        f"const from = performance.now(); const tick = () => performance.now() - from >= {ms} ? show(LATE) "
        ": requestAnimationFrame(tick); requestAnimationFrame(tick)"
    ),
    "idle": lambda ms: _script(_after(ms, "requestIdleCallback(() => show(LATE))")),
    "import": lambda ms: _script(_after(ms, "import('/late-module/x.js').then(m => show(m.words))")),
    "observer": lambda ms: _script(
        "const one = new MutationObserver(() => { one.disconnect(); show(LATE); });"
        "one.observe(document.querySelector('h1'), {attributes: true});"
        + _after(ms, "document.querySelector('h1').setAttribute('data-ready', '')")
    ),
    "component": lambda ms: _script(
        "class Cloth extends HTMLElement { connectedCallback() { const root = this.attachShadow({mode: 'open'});"
        f"fetch('/late-data/x?ms={ms}').then(r => r.json())"
        ".then(d => { root.innerHTML = '<p><slot></slot></p>'; this.textContent = d.text; }); } }"
        "customElements.define('x-cloth', Cloth);"
        "document.querySelector('main').append(document.createElement('x-cloth'))"
    ),
}

WAYS = tuple(_WAYS)

SCRIPTED: tuple[tuple[str, Callable[[Ask], Answer]], ...] = (
    ("/asked", as_asked),
    ("/told", told),
    ("/late", late),
    ("/late-data", late_data),
    ("/late-module", late_module),
    ("/deep", lambda ask: text("<title>Deep</title><script></script>" + "<div>" * ask.number("levels", 200_000))),
)
