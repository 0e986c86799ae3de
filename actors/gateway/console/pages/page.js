// A page as Weft reads it: its Markdown, how sure each field is and why, and the way that led there; or what went wrong, and what helps.
import { html, useEffect, useState } from '../htm.js';
import { ApiError, events, get, tool } from '../api.js';
import { Markdown, WebLink } from '../markdown.js';
import { Act, Badge, Card, CopyAs, Failure, Figure, Figures, Loading, Table, Title, duration, number } from '../parts.js';
import { go } from '../router.js';
import { Screen, newId } from './browsers.js';
import { BrowseBox } from './home.js';

const TIERS = { '': 'the cheapest that works', intelligence: 'intelligence', lightweight: 'lightweight', playwright: 'playwright' };
const MAX_ROWS = 50;

// The body of the call that an address of this page stands for.
function requestOf({ url, tier, time, fresh, overlays, network, more }) {
  const options = { includeDecisionTrace: true, include: ['links'] };
  if (tier && Object.hasOwn(TIERS, tier)) options.forceTier = tier;
  if (Number(time) > 0) options.maxLatencyMs = Number(time);
  if (fresh) options.freshnessRequirement = 'realtime';
  if (overlays) options.dismissOverlays = true;
  if (network) options.includeNetwork = true;
  if (more) options.cursor = more;
  return { url, options };
}

// What of an action of an error can be done by asking again: the query that asks so.
function queryOf(action, query) {
  const wanted = action.parameters?.options ?? action.parameters ?? {}, next = { ...query };
  if (wanted.forceTier) next.tier = wanted.forceTier;
  if (wanted.maxLatencyMs) next.time = wanted.maxLatencyMs;
  if (wanted.dismissOverlays) next.overlays = 1;
  if (wanted.freshnessRequirement === 'realtime') next.fresh = 1;
  if (action.action === 'use_any_tier') next.tier = '';
  if (action.action === 'allow_more_time' && next.time === query.time) next.time = Math.min(2 * (Number(query.time) || 30_000), 120_000);
  return next;
}

const AGAIN = new Set(['retry', 'wait_and_retry']);

function useBrowse(query, turn) {
  const [state, setState] = useState({});
  const request = JSON.stringify(requestOf(query));
  useEffect(() => {
    if (!query.url) return undefined;
    const stop = new AbortController();
    setState({ steps: [] });
    const hear = (name, data) => {
      if (name === 'progress') setState((now) => ({ ...now, steps: [...now.steps, data.message] }));
      if (name === 'result') setState({ result: data });
      if (name === 'error') setState({ error: new ApiError(200, data) });
    };
    events('POST', '/api/browse', hear, { body: JSON.parse(request), signal: stop.signal })
      .then(() => setState((now) => (now.steps ? { error: new ApiError(0, { error: 'The gateway was stopped before there was an answer.' }) } : now)))
      .catch((error) => stop.signal.aborted || setState({ error }));
    return () => stop.abort();
  }, [request, turn]);
  return state;
}

function Choices({ query }) {
  const choose = (event) => {
    const chosen = Object.fromEntries(new FormData(event.currentTarget));
    go('page', { ...query, fresh: '', overlays: '', network: '', more: '', ...chosen });
  };
  return html`<form class="filters" aria-label="How the page is read" onChange=${choose} onSubmit=${(event) => event.preventDefault()}>
    <label>Tier <select name="tier">${Object.entries(TIERS).map(([value, words]) => html`<option value=${value} selected=${value === (query.tier ?? '')}>${words}</option>`)}</select></label>
    <label class="check"><input type="checkbox" name="fresh" value="1" checked=${Boolean(query.fresh)} /> ask the site anew</label>
    <label class="check"><input type="checkbox" name="overlays" value="1" checked=${Boolean(query.overlays)} /> refuse consent</label>
    <label class="check"><input type="checkbox" name="network" value="1" checked=${Boolean(query.network)} /> list its requests</label>
  </form>`;
}

export function Confidence({ of }) {
  const rows = [['overall', of.overall], ['title', of.title], ['content', of.content],
    ...(of.tables ?? []).map((one, place) => [`table ${place + 1}`, one]), ...Object.entries(of.fields ?? {})];
  const columns = [
    { name: 'Field', cell: ([name]) => name },
    { name: 'How sure', cell: ([name, one]) => html`<meter min="0" max="1" low="0.5" high="0.75" optimum="1" value=${one.score} aria-label=${`Confidence of ${name}`}></meter>
      ${' '}${one.score.toFixed(2)} <span class="soft">${one.level.replaceAll('_', ' ')}</span>` },
    { name: 'From', cell: ([, one]) => one.source.replaceAll('_', ' ') },
  ];
  return html`<${Card} title="How sure it is"><${Table} caption="Confidence of each field" columns=${columns} rows=${rows} keyOf=${([name]) => name} /><//>`;
}

export function Ladder({ trace }) {
  const longest = Math.max(...trace.tiers.map((one) => one.durationMs), 1);
  return html`<${Card} title="How it was read">
    <ol class="ladder">${trace.tiers.map((one) => html`<li class=${one.success ? 'good' : one.durationMs ? 'bad' : 'plain'}>
      <div class="rung"><b>${one.tier}</b> <${Badge} tone=${one.success ? 'good' : one.durationMs ? 'bad' : 'plain'}>${one.success ? 'gave the page' : one.durationMs ? 'did not do' : 'passed over'}<//>
        <span class="soft">${one.durationMs ? duration(one.durationMs) : ''}</span></div>
      <svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect width=${(100 * one.durationMs) / longest} height="4" rx="1" /></svg>
      ${one.failureReason && html`<p>${one.failureReason}</p>`}
      ${one.pattern && html`<p>By the learned pattern <code>${one.pattern.patternId}</code>: ${one.pattern.reason}</p>`}
      ${one.validationDetails && html`<p class="soft">${number(one.validationDetails.contentLength)} characters${one.validationDetails.hasIncompleteMarkers ? ', with signs that some is missing' : ''}</p>`}
    </li>`)}</ol>
    <details><summary>Where the content and the title were looked for</summary>
      <${Table} caption="Selectors" columns=${LOOKED} rows=${[...trace.selectors, ...trace.title]} empty="Nowhere else." />
    </details>
  <//>`;
}

const LOOKED = [
  { name: 'Where', cell: (one) => html`<code>${one.selector ?? one.source}</code>` },
  { name: 'What came of it', cell: (one) => html`<${Badge} tone=${one.selected ? 'good' : 'plain'}>${one.selected ? 'taken' : one.matched ? 'matched' : 'nothing'}<//> ${one.skipReason ?? one.value ?? ''}` },
  { name: 'Score', number: true, cell: (one) => one.confidenceScore.toFixed(2) },
];

function Tables({ tables }) {
  return html`<${Card} title="Tables">${tables.map((table, place) => html`<div class="wide" tabindex="0" role="region" aria-label=${table.caption ?? `Table ${place + 1}`}><table>
    <caption>${table.caption ?? `Table ${place + 1}`}</caption>
    <thead><tr>${table.headers.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
    <tbody>${table.rows.slice(0, MAX_ROWS).map((row) => html`<tr>${row.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody></table></div>
    ${(table.rowCount ?? table.rows.length) > Math.min(table.rows.length, MAX_ROWS) && html`<p class="soft">${number(table.rowCount ?? table.rows.length)} rows in all.</p>`}`)}<//>`;
}

function Links({ links }) {
  const all = [...links.content, ...links.navigation];
  if (!all.length) return null;
  return html`<${Card} title=${`Links (${all.length})`}><details><summary>Show them</summary><ul class="links">
    ${all.slice(0, 300).map((one) => html`<li><a href=${`#/page?${new URLSearchParams({ url: one.url })}`}>${one.text || one.url}</a> <span class="soft">${one.url}</span></li>`)}
  </ul></details><//>`;
}

// What the page holds and nobody was meant to see, by why.
export function LeftOut({ counts }) {
  const kinds = Object.entries(counts ?? {});
  if (!kinds.length) return null;
  return html`<${Card} title="What was left out"><p class="soft">What the page holds and nobody was meant to see:</p>
    <ul>${kinds.map(([kind, count]) => html`<li>${kind.replaceAll('_', ' ')}: ${number(count)}</li>`)}</ul><//>`;
}

const REQUESTS = [
  { name: 'Request', cell: (one) => html`<code>${one.method}</code> ${one.url}` },
  { name: 'Status', cell: (one) => html`<span class=${one.status >= 400 ? 'bad' : ''}>${one.status || 'none'}</span> ${one.contentType}` },
  { name: 'Took', number: true, cell: (one) => duration(one.duration ?? one.durationMs ?? 0) },
];

// What was asked for a page: told by its answer, or kept of a visit.
export function Requests({ all }) {
  return html`<${Card} title=${`Requests (${all.length})`}><${Table} caption="Requests that the page has made" columns=${REQUESTS} rows=${all.slice(0, 300)} empty="None: it came from memory." /><//>`;
}

// A picture of the page, by a browser that is opened for it and closed again: it is not how the page was when it was read.
export function Looks({ url, title = 'How it looks' }) {
  const [view, setView] = useState(null);
  const look = async () => {
    const sessionId = newId();
    try {
      await tool('POST', '/api/tools/create_session', { sessionId, url });
      setView(await get(`/api/browsers/${sessionId}/window`));
    } finally {
      await tool('POST', '/api/tools/close_session', { sessionId }).catch(() => {});
    }
  };
  return html`<${Card} title=${title}>${view ? html`<${Screen} view=${view} />` : html`<${Act} words="Have a browser show it" act=${look} />`}<//>`;
}

function Result({ result, query, me }) {
  const { metadata, content } = result, url = result.finalUrl ?? metadata.finalUrl;
  return html`<${Card} title=${result.title || 'No title'} kind="result">
      <p><${WebLink} href=${url}>${url}<//></p>
      <${Figures}>
        <${Figure} name="How sure" value=${result.fieldConfidence ? result.fieldConfidence.overall.score.toFixed(2) : '–'} about=${result.fieldConfidence?.overall.level.replaceAll('_', ' ')} />
        <${Figure} name="Tier" value=${metadata.tier} about=${metadata.fromCache ? 'from memory' : ''} />
        <${Figure} name="Took" value=${duration(metadata.loadTime)} />
        <${Figure} name="Characters" value=${number(content.totalChars ?? content.markdown.length)} />
      <//>
      ${result.usableFor && html`<p class="row"><span class="soft">Good for</span> ${result.usableFor.length ? result.usableFor.map((use) => html`<${Badge} of=${use} tone="good" />`) : 'nothing that matters'}</p>`}
      ${result.walls?.length > 0 && html`<p class="bad">A part of this page stands behind: ${result.walls.join(', ')}.</p>`}
    <//>
    <div class="two">
      <${Card} title="What it says" kind="words"><${Markdown} text=${content.markdown} />
        ${content.cursor && html`<p><a class="button" href=${`#/page?${new URLSearchParams({ ...query, more: content.cursor })}`}>Read on</a></p>`}<//>
      <div>
        ${me.scopes.includes('browser') && html`<${Looks} key=${url} url=${url} />`}
        ${result.fieldConfidence && html`<${Confidence} of=${result.fieldConfidence} />`}
        ${result.decisionTrace && html`<${Ladder} trace=${result.decisionTrace} />`}
      </div>
    </div>
    <${LeftOut} counts=${result.leftOut} />
    ${result.network && html`<${Requests} all=${result.network} />`}
    ${result.tables?.length > 0 && html`<${Tables} tables=${result.tables} />`}
    ${result.links && html`<${Links} links=${result.links} />`}`;
}

export function Page({ route, me }) {
  const { query } = route, [turn, setTurn] = useState(0);
  const { result, error, steps } = useBrowse(query, turn);
  const request = requestOf(query);
  const doing = (action) => {
    const next = queryOf(action, query);
    if (JSON.stringify(next) !== JSON.stringify(query)) return () => go('page', next);
    return AGAIN.has(action.action) ? () => setTurn(turn + 1) : null;
  };
  return html`<${Title} about="One page, read as an agent would get it.">Read a page<//>
    <${BrowseBox} key=${query.url} url=${query.url} label="Read" />
    ${query.url && html`<${Choices} query=${query} />
      <${CopyAs} call=${['POST', '/api/browse', request]} tool=${['browse', { url: request.url, ...request.options }]}
        shell=${['browse', request.url, ...(query.tier ? ['--tier', query.tier] : []), '--trace']} />`}
    <div aria-live="polite">
      ${steps && html`<${Loading}>${steps.at(-1) ?? 'Reading…'}<//>`}
      ${result && html`<p class="sr">The page was read: ${result.title}</p>`}
    </div>
    ${error && html`<${Failure} error=${error} doing=${doing} />`}
    ${result && html`<${Result} result=${result} query=${query} me=${me} />`}`;
}
