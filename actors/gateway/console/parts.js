// What all pages are made of: headings that take the focus, figures, times, badges, tables, errors, copies of commands.
import { html, useCallback, useEffect, useRef, useState } from './htm.js';
import { go, link } from './router.js';

const MAX_TIME_MS = 8.64e15;
const UNITS = [[86_400_000, 'd'], [3_600_000, 'h'], [60_000, 'min'], [1_000, 's']];

export function duration(ms) {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const place = UNITS.findIndex(([size]) => ms >= size);
  const [size, unit] = UNITS[place], [smaller, name] = UNITS[place + 1];
  const rest = Math.floor((ms % size) / smaller);
  return `${Math.floor(ms / size)} ${unit}${rest ? ` ${rest} ${name}` : ''}`;
}

export const number = (value) => (value ?? 0).toLocaleString('en');

export function bytes(value) {
  if (value < 1_024) return `${value} B`;
  const [size, unit] = value < 1_048_576 ? [1_024, 'KiB'] : value < 1_073_741_824 ? [1_048_576, 'MiB'] : [1_073_741_824, 'GiB'];
  return `${Number((value / size).toFixed(1))} ${unit}`;
}

export function Time({ at }) {
  if (!at || Math.abs(at) > MAX_TIME_MS) return html`<span class="soft">never</span>`;
  const date = new Date(at), past = Date.now() - at;
  const words = past < 0 ? `in ${duration(-past)}` : past < 1_500 ? 'just now' : `${duration(past)} ago`;
  return html`<time datetime=${date.toISOString()} title=${date.toLocaleString()}>${words}</time>`;
}

// The heading of a page, where who has navigated is set down.
export function Title({ children, about }) {
  const heading = useRef(null), words = [].concat(children).filter((child) => typeof child === 'string').join('');
  useEffect(() => heading.current.focus(), []);
  useEffect(() => { document.title = `${words} · Weft`; }, [words]);
  return html`<div class="title"><h1 ref=${heading} tabindex="-1">${children}</h1>${about && html`<p class="soft">${about}</p>`}</div>`;
}

// A part of a page; one of many alike is an `article`, of which screen readers make no landmark.
export function Card({ title, children, kind = '', aside, as = 'section' }) {
  return html`<${as} class=${`card ${kind}`} aria-label=${title}>
    ${title && html`<div class="card-head"><h2>${title}</h2>${aside}</div>`}${children}
  <//>`;
}

const TONES = {
  ready: 'good', succeeded: 'good', captured: 'good', completed: 'good', valid: 'good', allowed: 'good', high: 'good', very_high: 'good', same: 'good',
  partial_success: 'warn', pending: 'warn', medium: 'warn', queued: 'warn', canceled: 'warn', expired: 'warn', skipped: 'plain',
  running: 'info', failed: 'bad', denied: 'bad', low: 'bad', very_low: 'bad', minimal: 'bad', not_ready: 'bad', different: 'bad',
};

export function Badge({ of, tone, children }) {
  return html`<span class=${`badge ${tone ?? TONES[of] ?? 'plain'}`}>${children ?? String(of).replaceAll('_', ' ')}</span>`;
}

export function Figure({ name, value, about, tone = '' }) {
  return html`<div class=${`figure ${tone}`}><dt>${name}</dt><dd>${value}${about && html`<small>${about}</small>`}</dd></div>`;
}

export const Figures = ({ children }) => html`<dl class="figures">${children}</dl>`;

// A table of `columns`, each {name, cell(row), number}. On a phone its cells stand below each other with their names, and are no
// table by their looks: the roles say it to screen readers.
export function Table({ caption, columns, rows, keyOf, empty }) {
  if (!rows.length) return html`<p class="empty">${empty}</p>`;
  const kind = (column) => (column.number ? 'number' : '');
  return html`<table class="rows" role="table">
    <caption class="sr">${caption}</caption>
    <thead role="rowgroup"><tr role="row">${columns.map((column) => html`<th scope="col" role="columnheader" class=${kind(column)}>${column.name}</th>`)}</tr></thead>
    <tbody role="rowgroup">${rows.map((row, index) => html`<tr role="row" key=${keyOf?.(row) ?? index}>
      ${columns.map((column) => html`<td role="cell" class=${kind(column)} data-name=${column.name}><div>${column.cell(row)}</div></td>`)}
    </tr>`)}</tbody>
  </table>`;
}

// Pages of a list by `offset`, kept in the address.
export function Pager({ parts, query, offset, limit, total }) {
  if (total <= limit && !offset) return null;
  const at = (place, words, there) => (there
    ? html`<a class="button" href=${link(parts, { ...query, offset: place || '' })}>${words}</a>`
    : html`<span class="button off">${words}</span>`);
  return html`<nav class="pager" aria-label="Pages of the list">
    ${at(Math.max(offset - limit, 0), 'Newer', offset > 0)}
    <span>${number(offset + 1)} to ${number(Math.min(offset + limit, total))} of ${number(total)}</span>
    ${at(offset + limit, 'Older', offset + limit < total)}
  </nav>`;
}

export function Copy({ text, children }) {
  const [done, setDone] = useState('');
  const copy = async () => {
    // Browsers have a clipboard for https and the machine itself alone.
    setDone(await navigator.clipboard?.writeText(text).then(() => ' · copied', () => '') || ' · not allowed here');
    setTimeout(() => setDone(''), 2_000);
  };
  return html`<button type="button" class="small" onClick=${copy}>${children}<span role="status" class="copied">${done}</span></button>`;
}

const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

// The same call for a shell and for an agent; where the key belongs stands a variable.
export function curl(method, path, body) {
  const lines = [`curl -s -X ${method} ${quoted(location.origin + path)}`, '-H "Authorization: Bearer $WEFT_API_KEY"'];
  if (body !== undefined) lines.push("-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body))}`);
  return lines.join(' \\\n  ');
}

export const toolCall = (name, args) => JSON.stringify({ method: 'tools/call', params: { name, arguments: args } }, null, 2);
export const command = (...words) => ['weft', ...words].map((word) => (/^[\w./:=-]+$/.test(word) ? word : quoted(word))).join(' ');

export function CopyAs({ call, tool, shell }) {
  return html`<div class="row" role="group" aria-label="Copy this call">
    <span class="soft">Copy as</span>
    <${Copy} text=${curl(...call)}>curl<//>
    ${tool && html`<${Copy} text=${toolCall(...tool)}>MCP call<//>`}
    ${shell && html`<${Copy} text=${command(...shell)}>weft command<//>`}
  </div>`;
}

// An error as the gateway tells it, with what can be tried next; `doing` returns what does one of them, or nothing.
export function Failure({ error, doing, again }) {
  const { code, recommendedActions = [], errorCode, recoverHint } = error.body ?? {};
  const actions = [...recommendedActions].sort((one, other) => one.priority - other.priority);
  return html`<section class="card failure" role="alert">
    <h2>${error.message} ${(code ?? errorCode) && html`<code>${code ?? errorCode}</code>`}</h2>
    ${error.status === 403 && html`<p>This key is not good for it. A key that is can be given out by whoever has the scope <code>operate</code>.</p>`}
    ${recoverHint && html`<p>${recoverHint}</p>`}
    ${actions.length > 0 && html`<ul class="actions">${actions.map((action) => {
      const run = doing?.(action);
      return html`<li>${run ? html`<button type="button" onClick=${run}>${action.description}</button>` : html`<span>${action.description}</span>`}</li>`;
    })}</ul>`}
    ${again && html`<button type="button" onClick=${again}>Try again</button>`}
  </section>`;
}

export const Loading = ({ children = 'Loading…' }) => html`<p class="loading" role="status">${children}</p>`;

// What `load` answers, anew when `watched` changes: {data, error, again}. What was asked before is given up.
export function useLoaded(load, watched) {
  const [state, setState] = useState({});
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    setState((former) => ({ data: former.data, busy: true }));
    load(stop.signal).then(
      (data) => stop.signal.aborted || setState({ data }),
      (error) => stop.signal.aborted || setState({ error }),
    );
    return () => stop.abort();
  }, [...watched, turn]);
  const again = useCallback(() => setTurn((count) => count + 1), []);
  return { ...state, again };
}

// A button that asks before it does what cannot be undone; what fails is said beside it.
export function Act({ words, sure, act, kind = '' }) {
  const [asked, setAsked] = useState(false), [busy, setBusy] = useState(false), [error, setError] = useState(null);
  const first = useRef(null);
  useEffect(() => asked && first.current?.focus(), [asked]);
  const run = async () => {
    setBusy(true);
    setError(null);
    try {
      await act();
    } catch (failure) {
      setError(failure);
    }
    setBusy(false);
    setAsked(false);
  };
  if (asked) {
    return html`<span class="row" role="group" aria-label=${sure}><span>${sure}</span>
      <button type="button" class="danger" ref=${first} disabled=${busy} onClick=${run}>Yes</button>
      <button type="button" onClick=${() => setAsked(false)}>No</button></span>`;
  }
  return html`<span class="row"><button type="button" class=${kind} disabled=${busy} onClick=${sure ? () => setAsked(true) : run}>${words}</button>
    ${error && html`<${Refused} error=${error} />`}</span>`;
}

// Why something was not done, in a line; what waits for a person leads there.
export function Refused({ error }) {
  return html`<span class=${error.approval ? '' : 'bad'} role="alert">${error.message}${error.approval && html` <a href=${link(['approvals', error.approval])}>Look at it</a>`}</span>`;
}

// A form whose choices become the query of the address.
export function Filters({ parts, children }) {
  const choose = (event) => {
    event.preventDefault();
    go(parts, Object.fromEntries(new FormData(event.currentTarget)));
  };
  return html`<form class="filters" role="search" aria-label="Filter" onSubmit=${choose} onChange=${choose}>${children}</form>`;
}
