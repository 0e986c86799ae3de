// Browser sessions: what is open, a live look at one, and a hand on it; what is done by hand goes the way of every tool.
import { html, useEffect, useRef, useState } from '../htm.js';
import { blob, call, get, tool } from '../api.js';
import { WebLink } from '../markdown.js';
import { Act, Badge, Card, CopyAs, Failure, Loading, Refused, Table, Time, Title, number, useLoaded } from '../parts.js';
import { go, link } from '../router.js';

const LOOK_MS = 700;
const HELD_MS = 45_000;
const KEYS = new Set(['Enter', 'Backspace', 'Delete', 'Escape', 'ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'Home', 'End', 'PageUp', 'PageDown']);

const COLUMNS = [
  { name: 'Session', cell: (one) => html`<a href=${link(['browsers', one.id])}><code>${one.id.slice(0, 16)}…</code></a>` },
  { name: 'In hand', cell: (one) => (one.heldUntil > Date.now() ? html`<${Badge} tone="warn">a person has it<//>` : html`<span class="soft">no</span>`) },
  { name: 'Tabs', number: true, cell: (one) => number(one.tabs) },
  { name: 'Login', cell: (one) => one.profile || html`<span class="soft">none</span>` },
  { name: 'Open since', cell: (one) => html`<${Time} at=${one.createdAt} />` },
  { name: 'Last used', cell: (one) => html`<${Time} at=${one.usedAt} />` },
];

// An id that nobody guesses: without one a key's own session would be meant.
export const newId = () => `sess_${btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(18)))).replaceAll('+', '-').replaceAll('/', '_')}`;

export function Browsers() {
  const { data, error, again } = useLoaded((signal) => get('/api/browsers', { signal }), []);
  const open = async () => go(['browsers', (await tool('POST', '/api/tools/create_session', { sessionId: newId() })).payload.sessionId]);
  return html`<${Title} about="Windows that your agents have open: look at one, and take it in hand where they do not get on.">Browsers<//>
    <div class="row"><${Act} words="Open one" kind="primary" act=${open} /><button type="button" onClick=${again}>Look again</button></div>
    ${error && html`<${Failure} error=${error} again=${again} />`}
    ${!data && !error && html`<${Loading} />`}
    ${data && html`<${Card} title=${`${number(data.browsers.length)} open`}>
      <${Table} caption="Browser sessions, the last used first" columns=${COLUMNS} rows=${data.browsers} keyOf=${(one) => one.id} empty="No browser is open." /><//>`}
    <${CopyAs} call=${['GET', '/api/browsers']} />`;
}

// The window as it is, again and again while somebody looks: one picture after the other, none while the page is hidden.
function useWindow(path, tab, wanted) {
  const [state, setState] = useState({});
  useEffect(() => {
    if (!wanted) return undefined;
    const stop = new AbortController();
    let timer = 0;
    const look = async () => {
      if (!document.hidden) {
        try {
          const view = await get(`${path}/window${tab ? `?tab=${tab}` : ''}`, { signal: stop.signal });
          setState({ view });
        } catch (error) {
          if (stop.signal.aborted) return;
          setState((former) => ({ ...former, error }));
          if (error.status === 404 || error.status === 403) return;
        }
      }
      timer = setTimeout(look, LOOK_MS);
    };
    look();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [path, tab, wanted]);
  return state;
}

// While a session is in hand, it is held on to as long as this page is open.
function useHand(path) {
  const [until, setUntil] = useState(0);
  const hold = async (wanted) => setUntil((await call('PUT', `${path}/hand`, { body: { hold: wanted } })).heldUntil);
  useEffect(() => {
    if (!until) return undefined;
    const timer = setTimeout(() => hold(true).catch(() => setUntil(0)), HELD_MS);
    return () => clearTimeout(timer);
  }, [until]);
  return { held: until > 0, hold };
}

// Draws a picture as large as it is; one that cannot be read is left out.
async function draw(canvas, picture) {
  const image = await createImageBitmap(picture).catch(() => null);
  if (!image) return;
  [canvas.width, canvas.height] = [image.width, image.height];
  canvas.getContext('2d').drawImage(image, 0, 0);
  image.close();
}

// A picture that is kept, or why it is not to be had.
export function Picture({ path, words }) {
  const place = useRef(null), [error, setError] = useState(null);
  useEffect(() => {
    const stop = new AbortController();
    blob(path, stop.signal).then((picture) => place.current && draw(place.current, picture), (failed) => stop.signal.aborted || setError(failed));
    return () => stop.abort();
  }, [path]);
  return error ? html`<${Failure} error=${error} />` : html`<canvas ref=${place} class="screen" width="640" height="400" role="img" aria-label=${words}></canvas>`;
}

export function Screen({ view, held, act }) {
  const place = useRef(null);
  useEffect(() => {
    if (!view.picture) return;
    const bytes = Uint8Array.from(atob(view.picture), (one) => one.charCodeAt(0));
    draw(place.current, new Blob([bytes], { type: 'image/jpeg' }));
  }, [view.picture]);
  const click = (event) => {
    const box = place.current.getBoundingClientRect(), share = (at, from, size) => Math.min(Math.max((at - from) / size, 0), 0.999);
    act('click_at', { x: Math.round(share(event.clientX, box.left, box.width) * view.width), y: Math.round(share(event.clientY, box.top, box.height) * view.height) });
  };
  const press = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.key === 'Tab') return;
    if (KEYS.has(event.key)) act('press_key', { key: event.key });
    else if (event.key.length === 1) act('type_keys', { text: event.key });
    else return;
    event.preventDefault();
  };
  const words = `The window: ${view.title || view.url}`;
  return html`<canvas ref=${place} class=${held ? 'screen held' : 'screen'} width=${view.width} height=${view.height} role=${held ? 'application' : 'img'}
    aria-label=${held ? `${words}. Clicks and keys go to the page.` : words} tabindex=${held ? 0 : null} onClick=${held ? click : null} onKeyDown=${held ? press : null}></canvas>`;
}

function Dialog({ dialog, held, act }) {
  return html`<${Card} title="A dialog waits for an answer"><p>${dialog.message}</p>
    ${held && html`<div class="row"><button type="button" onClick=${() => act('handle_dialog', { action: 'accept' })}>Accept</button>
      <button type="button" onClick=${() => act('handle_dialog', { action: 'dismiss' })}>Dismiss</button></div>`}<//>`;
}

function ByHand({ act }) {
  const said = (name, fields) => (event) => {
    event.preventDefault();
    const form = event.currentTarget;
    act(name, fields(new FormData(form)));
    form.reset();
  };
  return html`<div class="hand">
    <div class="row" role="group" aria-label="Move about">
      ${[['go_back', 'Back'], ['go_forward', 'Forward'], ['refresh', 'Load again']].map(([name, words]) => html`<button type="button" onClick=${() => act(name, {})}>${words}</button>`)}
      <button type="button" onClick=${() => act('scroll_by', { deltaY: -400 })}>Up</button><button type="button" onClick=${() => act('scroll_by', { deltaY: 400 })}>Down</button>
      <button type="button" onClick=${() => act('press_key', { key: 'Tab' })}>Tab key</button><button type="button" onClick=${() => act('press_key', { key: 'Enter' })}>Enter key</button></div>
    <form class="row" aria-label="Go to an address" onSubmit=${said('navigate', (form) => ({ url: form.get('url').trim() }))}>
      <label>Address <input name="url" required inputmode="url" autocomplete="off" spellcheck="false" /></label><button>Go</button></form>
    <form class="row" aria-label="Type into the page" onSubmit=${said('type_keys', (form) => ({ text: form.get('text') }))}>
      <label>Type into what has the focus <input name="text" required autocomplete="off" /></label><button>Type</button></form>
  </div>`;
}

function Tabs({ id, path, shown, turn }) {
  const { data } = useLoaded((signal) => tool('POST', '/api/tools/list_tabs', { sessionId: id }, signal), [id, shown, turn]);
  const tabs = data?.payload?.tabs ?? [];
  if (tabs.length < 2) return null;
  return html`<nav aria-label="Tabs"><ul class="tabs">${tabs.map((one) => html`<li><a class="button" href=${link(['browsers', id], { tab: one.id })} aria-current=${one.id === shown ? 'true' : null}>${one.title || one.url}</a></li>`)}</ul></nav>`;
}

export function Browser({ route }) {
  const id = route.parts[1], path = `/api/browsers/${encodeURIComponent(id)}`, tab = Number(route.query.tab) || 0;
  const [done, setDone] = useState({ turn: 0 }), [closing, setClosing] = useState(false);
  const { view, error } = useWindow(path, tab, !closing), { held, hold } = useHand(path);
  const queue = useRef([]).current;
  // One thing is done after the other; what is typed meanwhile is typed at once. Where something fails, what comes after it is left.
  const act = async (name, args) => {
    const last = queue.length > 1 && queue.at(-1);
    if (last && name === 'type_keys' && last.tool === name) last.arguments.text += args.text;
    else queue.push({ tool: name, arguments: { ...args, ...(tab && { tabId: tab }) } });
    if (queue.length > 1 || last) return;
    try {
      for (; queue.length; queue.shift()) {
        setDone((now) => ({ turn: now.turn, busy: queue[0].tool }));
        await tool('POST', `${path}/act`, queue[0]);
        setDone((now) => ({ turn: now.turn + 1 }));
      }
    } catch (failure) {
      queue.length = 0;
      setDone((now) => ({ turn: now.turn + 1, error: failure }));
    }
  };
  const close = async () => {
    setClosing(true);
    try {
      if (held) await hold(false);
      await tool('POST', '/api/tools/close_session', { sessionId: id });
      go('browsers');
    } catch (failure) {
      setClosing(false);
      throw failure;
    }
  };
  return html`<${Title} about=${html`<a href=${link('browsers')}>All browsers</a> · <code>${id}</code>`}>Browser<//>
    <div class="row">${held ? html`<${Badge} tone="warn">You have it in hand<//><${Act} words="Hand it back" kind="primary" act=${() => hold(false)} />`
      : html`<${Act} words="Take it in hand" kind="primary" act=${() => hold(true)} />`}
      <${Act} words="Close it" sure="Close this browser with all its tabs?" act=${close} />
      <span class="soft">${held ? 'Nothing else acts in it meanwhile. Each click and key is a call of a tool, which the policy decides about.' : 'You see what is done in it. Nothing is touched until you take it in hand.'}</span></div>
    ${error && html`<${Failure} error=${error} />`}
    ${!view && !error && html`<${Loading} />`}
    ${view && html`<${Card} title=${view.title || 'The window'} aside=${html`<${WebLink} href=${view.url}>${view.url}<//>`}>
      <${Tabs} id=${id} path=${path} shown=${view.tabId} turn=${done.turn} />
      ${view.dialog ? html`<${Dialog} dialog=${view.dialog} held=${held} act=${act} />` : html`<${Screen} view=${view} held=${held} act=${act} />`}
      <p role="status">${done.busy ? html`<span class="soft">At work: <code>${done.busy}</code></span>` : ''}${done.error && html`<${Refused} error=${done.error} />`}</p>
      ${held && html`<${ByHand} act=${act} />`}<//>`}
    <${CopyAs} call=${['GET', `${path}/window`]} />`;
}
