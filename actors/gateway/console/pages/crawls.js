// Walks through sites: begun here, and each shown as a picture of its site and as a table of its pages.
import { html } from '../htm.js';
import { call, get } from '../api.js';
import { SiteGraph } from '../graph.js';
import { Badge, Card, CopyAs, Failure, Figure, Figures, Loading, Pager, Table, Time, Title, number, useLoaded } from '../parts.js';
import { go, link } from '../router.js';
import { ToolForm } from './collections.js';
import { Artifacts, Standing, useEvents } from './run.js';
import { Progress } from './runs.js';

const LIMIT = 25;
const MAX_ROWS = 200;
const CRAWL = 'crawl_site';
const WAYS = { pages: 'the pages themselves', collection: 'as sources of a new collection', addresses: 'addresses alone' };

const COLUMNS = [
  { name: 'Crawl', cell: (run) => html`<a href=${link(['crawls', run.runId])}><code>${run.runId.slice(0, 16)}…</code></a>` },
  { name: 'Status', cell: (run) => html`<${Badge} of=${run.status} /> ${run.errorCode && html`<code>${run.errorCode}</code>`}` },
  { name: 'Steps', cell: (run) => html`<${Progress} of=${run.progress} />` },
  { name: 'Begun', cell: (run) => html`<${Time} at=${run.createdAt} />` },
];

export function Crawls({ route }) {
  const offset = Number(route.query.offset) || 0, path = `/api/runs?templateId=${CRAWL}&limit=${LIMIT}&offset=${offset}`;
  const { data, error, again } = useLoaded((signal) => get(path, { signal }), [path]);
  const begin = async (form) => {
    const inputs = { url: form.get('url').trim(), pages: Number(form.get('pages')), depth: Number(form.get('depth')), to: form.get('to') };
    const run = await call('POST', '/api/runs', { body: { templateId: CRAWL, inputs, options: { mode: 'async', artifacts: ['jsonl', 'zip'] } } });
    go(['crawls', run.runId]);
  };
  return html`<${Title} about="Whole sites, read from one address by their links and site maps, as their robots.txt allows.">Crawls<//>
    <${Card} title="Begin one"><${ToolForm} label="Begin a crawl" words="Begin it" act=${begin}>
      <label for="start">Where it begins</label><input id="start" name="url" required placeholder="https://example.com" autocomplete="off" spellcheck="false" inputmode="url" />
      <div class="row"><label>Pages at most <input name="pages" type="number" min="1" max="5000" value="100" required /></label>
        <label>Links from the start at most <input name="depth" type="number" min="0" max="20" value="10" required /></label>
        <label>Keep <select name="to">${Object.entries(WAYS).map(([value, words]) => html`<option value=${value}>${words}</option>`)}</select></label></div>
    <//><//>
    ${error && html`<${Failure} error=${error} again=${again} />`}
    ${!data && !error && html`<${Loading} />`}
    ${data && html`<${Card} title=${`${number(data.total)} ${data.total === 1 ? 'crawl' : 'crawls'}`}>
      <${Table} caption="Crawls, newest first" columns=${COLUMNS} rows=${data.runs} keyOf=${(run) => run.runId} empty="No site was read with this key yet. weft crawl URL does it, too." />
      <${Pager} parts="crawls" query=${route.query} offset=${offset} limit=${LIMIT} total=${data.total} />
    <//>`}
    <${CopyAs} call=${['GET', path]} tool=${['list_task_runs', { templateId: CRAWL, limit: LIMIT, offset }]} shell=${['runs', 'list', '--template', CRAWL]} />`;
}

const PAGES = [
  { name: 'Page', cell: (one) => html`<a href=${link('page', { url: one.url })}><b>${one.title || one.url}</b></a>${one.title && html`<br /><span class="soft">${one.url}</span>`}` },
  { name: 'Links away', number: true, cell: (one) => number(one.depth) },
  { name: 'Found on', cell: (one) => (one.foundOn ? html`<span class="soft">${one.foundOn}</span>` : html`<span class="soft">${one.depth ? 'a site map' : 'the start'}</span>`) },
  { name: 'Came of it', cell: (one) => (one.error ? html`<${Badge} of="failed" /> <code>${one.error.code}</code>`
    : one.sourceId ? html`<a href=${link(['collections', one.sourceId])}>kept</a>` : html`<${Badge} tone="good">${one.tier || 'read'}<//>`) },
  { name: 'How sure', number: true, cell: (one) => one.confidence?.toFixed(2) ?? '–' },
];

const counted = (counts) => Object.entries(counts ?? {}).map(([why, count]) => `${why.replaceAll('_', ' ')} ${number(count)}`).join(' · ');

function Found({ result }) {
  const { summary } = result, items = result.items ?? [], shown = items.slice(0, MAX_ROWS);
  return html`<${Card} title="What was found"><${Figures}>
      <${Figure} name="Addresses" value=${number(summary.discovered)} about=${summary.complete ? 'nothing is left' : 'more would be found'} />
      <${Figure} name="Asked for" value=${number(summary.requested)} />
      <${Figure} name="Kept" value=${number(summary.kept)} />
      <${Figure} name="Failed" value=${number(summary.failed)} tone=${summary.failed ? 'bad' : ''} />
    <//>
    ${summary.collectionId && html`<p>Kept in <a href=${link(['collections', summary.collectionId])}>a collection</a>.</p>`}
    ${summary.leftOut && html`<p class="soft">Read and not kept: ${counted(summary.leftOut)}</p>`}
    ${summary.notRequested && html`<p class="soft">Found and left alone: ${counted(summary.notRequested)}</p>`}
    <${SiteGraph} items=${items} /><//>
    ${items.length > 0 && html`<${Card} title="Its pages"><${Table} caption="Pages of the site, in the order in which they were read" columns=${PAGES} rows=${shown} keyOf=${(one) => one.url} />
      ${(shown.length < items.length || result.itemsLeftOut) && html`<p class="soft">The first ${number(shown.length)} of ${number(items.length + (result.itemsLeftOut ?? 0))}: the files have them all.</p>`}<//>`}
    ${result.addresses?.length > 0 && html`<${Card} title=${`Addresses (${number(result.addresses.length)})`}><ul class="links">
      ${result.addresses.slice(0, 1_000).map((url) => html`<li><a href=${link('page', { url })}>${url}</a></li>`)}</ul><//>`}`;
}

export function Crawl({ route }) {
  const id = route.parts[1], path = `/api/runs/${encodeURIComponent(id)}`;
  const { data: run, error, again } = useLoaded((signal) => get(path, { signal }), [path]);
  const { events, broken } = useEvents(encodeURIComponent(id), again);
  const last = events.at(-1), now = run && last && last.at > run.updatedAt
    ? { ...run, status: last.status, progress: { totalSteps: last.totalSteps, doneSteps: last.doneSteps } } : run;
  return html`<${Title} about=${html`<a href=${link('crawls')}>All crawls</a> · <a href=${link(['runs', id])}>Its steps, and what can be done about it</a> · <code>${id}</code>`}>Crawl<//>
    ${error && html`<${Failure} error=${error} again=${again} />`}
    ${!run && !error && html`<${Loading} />`}
    ${now && html`<${Standing} run=${now} />
      <p role="status" class=${broken ? 'bad' : 'sr'}>${broken ? 'The gateway does not answer.' : `${now.status}, ${now.progress.doneSteps} steps are done`}</p>
      ${now.result?.summary ? html`<${Found} result=${now.result} />` : ['queued', 'running'].includes(now.status) && html`<${Loading}>It walks. The picture comes at its end.<//>`}
      ${now.artifacts?.length > 0 && html`<${Artifacts} run=${now} />`}
      <${CopyAs} call=${['GET', path]} tool=${['get_task_run', { runId: id }]} shell=${['runs', 'show', id]} />`}`;
}
