"""Pairing with the browser extension: a code that the owner has given out, once, for a key of the extension's own.

A code is a key with the scope `pair` alone, which is good for minutes. It stands in the fragment of a link, which no
request carries; the page hands it to our extension and to nobody else, and only a request of that extension's origin
is given a key for it.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from http import HTTPStatus

from starlette.responses import Response

from actors.gateway.access.caller import Scope
from actors.gateway.access.keys import exchange_key
from actors.gateway.access.rules import EXTENSION_ORIGIN, origin_refused
from actors.gateway.app_context import AppContext
from actors.gateway.http import answer
from actors.gateway.request import RequestContext
from actors.gateway.rest.docs import MEDIA
from actors.gateway.rest.routing import Endpoint
from protocol.access import NewKey

_STYLE = """\
:root{color-scheme:light dark}
body{margin:0 auto;padding:1.5rem;max-width:38rem;font:1rem/1.55 system-ui,sans-serif}
h1{line-height:1.25;margin:0 0 .5em}
button{padding:.6rem 1.2rem;font:inherit;font-weight:600;cursor:pointer}
code{overflow-wrap:anywhere}
"""
_SCRIPT = """\
const code = location.hash.slice(1), button = document.querySelector('button'), said = document.querySelector('output');
history.replaceState(null, '', location.pathname);
const say = (text) => { said.textContent = text; };
button.disabled = !code;
if (!code) say('The code is missing: weft extension --pair prints a link that has one.');
button.addEventListener('click', () => {
  button.disabled = true;
  const open = globalThis.chrome?.runtime?.sendMessage;
  const missing = 'The extension does not answer in this browser. Install it, or paste the link into its settings.';
  const again = () => { button.disabled = false; say(missing); };
  if (!open) return again();
  open('EXTENSION', { type: 'pair', code }, (answer) => {
    if (chrome.runtime.lastError || !answer) return again();
    say(answer.error ?? `Paired. Its key is called ${answer.name}: weft keys revoke ${answer.name} takes it back.`);
  });
});
""".replace("EXTENSION", EXTENSION_ORIGIN.rpartition("/")[2])
_PAGE = f"""\
<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Pair with Weft</title><style>{_STYLE}</style>
</head><body><main><h1>Pair with the extension</h1>
<p>The Weft extension of this browser gets a key of its own, which is good for the scope <code>browser</code>: it may
ask what to do next on pages that you start a task on, and nothing else of this Weft. Models that may cost are asked for
it where <code>weft extension --pair --models</code> has said so.</p>
<p><button type="button">Pair</button></p><p><output aria-live="polite"></output></p></main>
<script>{_SCRIPT}</script></body></html>
"""


def _hashed(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


_HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": f"default-src 'none'; script-src {_hashed(_SCRIPT)}; style-src {_hashed(_STYLE)}; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


async def _page(_app: AppContext, _request: RequestContext, _arguments: None) -> Response:
    return Response(_PAGE, headers=_HEADERS, media_type=MEDIA)


async def _pair(app: AppContext, request: RequestContext, _arguments: None) -> Response:
    """Exchange a code; what is no extension of ours may have read it in a page, and is given nothing for it."""
    if request.origin != EXTENSION_ORIGIN:
        raise origin_refused("A key is given to Weft's own extension alone", HTTPStatus.FORBIDDEN)
    made = await exchange_key(app.bus, app.keys, request.caller)
    return answer(made, headers={"Cache-Control": "no-store"})


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint("GET", "/pair", "pairing", "Let a person pair the browser extension.", _page, media=(MEDIA,), open=True),
    Endpoint(
        method="POST",
        path="/api/pair",
        name="pair",
        summary="Exchange a code, a key with the scope `pair`, for the key of an extension.",
        about="Weft's own extension alone is given one, by its Origin. It has the scope `browser`, and `models` where "
        "the code has it, too; the code is good for nothing from then on.",
        run=_pair,
        answer=NewKey,
        scope=Scope.PAIR,
        errors=frozenset({HTTPStatus.CONFLICT, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT}),
    ),
)
