"""The pages that the extension is tried on: plain ones, those with secrets, and those that try to trick it."""

from __future__ import annotations

from typing import Final

from tests.support.extension import ID

ROOMS: Final = """<main><h1>Rooms</h1><table>
<tr><td>Blue room</td><td><button onclick="said.textContent='Blue'">Book</button></td></tr>
<tr><td>Red room</td><td><button onclick="said.textContent='Red'">Book</button></td></tr>
</table><p role=status id=said></p></main>"""

SLOW: Final = """<main><h1>Slow</h1><button onclick="said.textContent += 1">Later</button><p id=said></p></main>"""

SECRETS: Final = ("tulip-88-word", "4111111111111111", "917733", "csrf-5512", "5500000000000004")
"""What stands in the fields of `PAINTED`, whose form hides its own properties behind its fields."""

PAINTED: Final = f"""<main><h1>Paint</h1>
<svg width=60 height=60><circle cx=30 cy=30 r=25 fill=blue onclick="said.textContent='b'"/></svg>
<label>Password <input type=password value={SECRETS[0]}></label>
<label>Card <input autocomplete=cc-number value={SECRETS[1]}></label>
<label>One-time code <input autocomplete=one-time-code value={SECRETS[2]}></label>
<input type=hidden name=t value={SECRETS[3]}><p role=status id=said></p><p id=deep></p>
<form onsubmit="stolen()"><input name=attributes><input name=getAttribute><input name=querySelectorAll></form></main>
<script>
deep.attachShadow({{ mode: 'open' }}).innerHTML = '<input autocomplete=cc-number value={SECRETS[4]}>';
</script>"""

_MOVED: Final = """<main><h1>Moves</h1>
<p id=box><button id=one>Keep</button> <button id=two>Delete all</button></p><p role=status id=said></p></main><script>
const wrong = window.wrong = [];
for (const button of [one, two]) button.addEventListener('click', () => {
  if (button.textContent === 'Keep') said.textContent = 'Kept';
  else wrong.push(button.textContent);
});
let turns = 0;
function swap() {
  if (turns++ < TURNS) [one.textContent, two.textContent] = [two.textContent, one.textContent];
}
const seen = (records) => { if (!UNDER && records.some((each) => each.target.dataset.llmId)) setTimeout(swap, 0); };
new MutationObserver(seen).observe(box, { subtree: true, attributes: true, attributeFilter: ['data-llm-id'] });
addEventListener('mousedown', () => { if (UNDER) swap(); }, true);
</script>"""


def moved(turns: int, *, under_the_mouse: bool = False) -> str:
    """Return a page whose buttons change places: so often when they are looked at, or while one is pressed."""
    return _MOVED.replace("TURNS", str(turns)).replace("UNDER", str(under_the_mouse).lower())


COVERED: Final = """<main><h1>Covers</h1><p id=box><button id=one>Keep</button></p><p role=status id=said></p></main>
<script>
const wrong = window.wrong = [];
one.addEventListener('click', () => { said.textContent = 'Kept'; });
let turns = 0;
new MutationObserver(() => {
  if (turns++) return;
  const trap = document.createElement('div');
  trap.style.cssText = 'position:fixed;inset:0;opacity:0;z-index:2147483647';
  trap.addEventListener('click', () => wrong.push('trap'));
  document.body.append(trap);
  setTimeout(() => trap.remove(), 1500);
}).observe(box, { subtree: true, attributes: true, attributeFilter: ['data-llm-id'] });
</script>"""
"""Lays something that nobody sees over its button as soon as that is looked at."""

PROTOTYPES: Final = """<main><h1>Prototypes</h1><label>Word <input id=word></label><button id=one>Keep</button>
<p role=status id=said></p></main>
<div style="position:fixed;top:0;right:0" role=dialog aria-label=Weft><button onclick="wrong.push('fake')">Stop (Esc)
</button></div><script>
const wrong = window.wrong = [], used = window.used = [];
one.addEventListener('click', () => { said.textContent = 'Kept ' + word.value; });
const theirs = [
  [EventTarget, ['dispatchEvent']], [HTMLElement, ['click', 'focus']], [Array, ['map', 'filter', 'sort']],
  [Document, ['querySelectorAll', 'elementFromPoint', 'execCommand']],
  [Element, ['getBoundingClientRect', 'querySelector', 'matches', 'getAttribute', 'setAttribute', 'attachShadow']],
];
for (const [type, names] of theirs)
  for (const name of names) type.prototype[name] = function () { used[used.length] = name; return null; };
window.weft = window.weftExecutor = { call() { used[used.length] = 'call'; } };
</script>"""
"""Has a panel of its own, and methods of its own in the place of the browser's."""

STRANGER: Final = """async (link) => {
  const [gateway, code] = link.split('/pair#');
  const ask = (message) => new Promise((done) => chrome.runtime.sendMessage(ID, message, (answer) => {
    void chrome.runtime.lastError;
    done(answer?.error ?? answer?.name ?? 'no answer');
  }));
  const connect = () => new Promise((done) => {
    const port = chrome.runtime.connect(ID, { name: 'panel' });
    port.onDisconnect.addListener(() => { void chrome.runtime.lastError; done('no answer'); });
    port.onMessage.addListener(() => done('heard'));
  });
  const headers = { authorization: `Bearer ${code}` };
  const fetched = await fetch(`${gateway}/api/pair`, { method: 'POST', headers })
    .then((answer) => `status ${answer.status}`, () => 'refused');
  return [await ask({ type: 'pair', code }), await connect(), fetched];
}""".replace("ID", f"'{ID}'")
"""What a page that has come by a code tries with it."""

AXE: Final = """async (source) => {
  if (!globalThis.axe) globalThis.eval(source);
  const { violations } = await axe.run(document);
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map((one) => one.target).join(' ')}`);
}"""
"""What axe-core finds wrong with a page."""

REFUSING: Final = """(message) => {
  globalThis.fetched ??= globalThis.fetch;
  globalThis.fetch = async () => new Response(JSON.stringify({ message }), { status: 403 });
}"""
"""Has the worker of the extension answered by a gateway that refuses everything, in these words."""

PAIR_AGAIN: Final = """() => {
  document.getElementById('link').value = 'http://127.0.0.1:9/pair#' + 'x'.repeat(40);
  document.getElementById('pair-form').requestSubmit();
}"""
"""Sends the form for a link in a panel."""

MARKUP: Final = """() => {
  const own = new Set('html head meta title link body header h1 h2 h3 section form label input main div'.split(' '));
  for (const name of ['footer', 'textarea']) own.add(name);
  const all = [...document.querySelectorAll('*')], names = all.flatMap((one) => one.getAttributeNames());
  const odd = names.filter((name) => /^(?:on|srcdoc|style)/.test(name));
  return [...new Set([...all.map((one) => one.localName).filter((name) => !own.has(name)), ...odd])];
}"""
"""Of which elements a panel is made beside those of its file, and the attributes that no panel has."""

HURRY: Final = """(times) => {
  globalThis.realTimeout = setTimeout;
  globalThis.polls = [];
  globalThis.setTimeout = (run, ms = 0) => {
    if (String(run).includes('load')) globalThis.polls.push(ms);
    return globalThis.realTimeout(run, ms / times);
  };
}"""
"""Has the clock of a worker run so many times as fast, and keeps how long it waits between two looks for messages."""
