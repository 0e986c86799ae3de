"""What an application sends to a browser: its document, and the script that draws it."""

from __future__ import annotations

import html
import json
from typing import Any

from tests.patterns.apps.model import Application

SCRIPT = "/assets/app.js"

_FETCH = """
const ask = async (path, init) => {
  const answer = await fetch(path, init);
  if (!answer.ok) throw Object.assign(new Error('status ' + answer.status), { status: answer.status });
  return answer.text();
};
"""
_XHR = """
const ask = (path, init = {}) => new Promise((done, failed) => {
  const call = new XMLHttpRequest();
  call.open(init.method || 'GET', path);
  for (const [name, value] of Object.entries(init.headers || {})) call.setRequestHeader(name, value);
  call.onload = () => call.status < 300 ? done(call.responseText)
    : failed(Object.assign(new Error('status ' + call.status), { status: call.status }));
  call.onerror = () => failed(new Error('network'));
  call.send(init.body || null);
});
"""
_BUNDLE = """(async () => {
const BASE = %(base)s;
const marks = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const h = (value) => value === null || value === undefined ? '' : String(value).replace(/[&<>"]/g, (one) => marks[one]);
const root = document.getElementById('root') || document.body;
const part = location.pathname.split('/').filter(Boolean).map(decodeURIComponent);
const query = new URLSearchParams(location.search);
%(client)s
const patiently = async (path, init) => {
  for (let tries = 0; ; tries += 1) {
    try { return await ask(path, init); } catch (error) {
      if (tries > 5 || (error.status && error.status !== 429 && error.status < 500)) throw error;
      await new Promise((done) => setTimeout(done, 20 << tries));
    }
  }
};
const adapt = async (answer, again) => { %(adapter)s return answer; };
const decode = (answer) => { %(decode)s return answer; };
const get = async (path, init) => {
  const asked = async (more) => decode(JSON.parse(await patiently(
    BASE + path + (more ? (path.includes('?') ? '&' : '?') + more : ''), init)));
  return adapt(await asked(''), asked);
};
const post = (path, body, headers = {}) => get(path, {
  method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(body) });
try {
%(script)s
} catch (error) { root.innerHTML = '<p>Something went wrong. Please try again later.</p>'; }
})();
"""


def bundle(app: Application, adapter: str, base: str) -> str:
    """Return the script of an application."""
    client = _XHR if app.client == "xhr" else _FETCH
    parts = {"client": client, "adapter": adapter, "decode": app.decode, "script": app.script}
    return _BUNDLE % {**parts, "base": json.dumps(base)}


def document(app: Application, state: Any, token: str) -> str:
    """Return the document of every page of an application: all that it shows is drawn by the script."""
    held = f"<script>window.__INITIAL_STATE__ = {_inline(state)};</script>" if state is not None else ""
    meta = f'<meta name="api-token" content="{html.escape(token)}">' if token else ""
    return (
        f'<!doctype html>\n<html lang="{app.language}"><head><meta charset="utf-8"><title>{app.name.title()}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">{meta}</head><body>'
        f"{app.shell.format(name=app.name.title())}{held}"
        f'<script src="{SCRIPT}" defer></script></body></html>\n'
    )


def _inline(state: Any) -> str:
    return json.dumps(state, ensure_ascii=False).replace("</", "<\\/")
