// Which models are asked for which tools: the table, what a person sends elsewhere, why one is chosen, and what that has cost.
import { html, useEffect, useState } from '../htm.js';
import { call, get } from '../api.js';
import { Chart } from '../charts.js';
import { Act, Badge, Card, CopyAs, Failure, Figure, Figures, Filters, Loading, Table, Title, duration, number, useLoaded } from '../parts.js';

const DAY_MS = 86_400_000;
const DAYS = 14;
const COLOURS = ['intelligence', 'lightweight', 'playwright', 'bad'];
const PATTERN = '[A-Za-z0-9_.\\-]+\\*?|\\*';
const REASONS = {
  default: 'by the table', optimized: 'by what was learned, or a person has said', fallback: 'the one before it cannot be asked',
  downgrade_test: 'it is being tried out', no_providers_available: 'no provider can be asked',
};
const share = (rate) => (rate == null ? '–' : `${Math.round(rate * 100)} %`);
const usd = (cost) => (cost == null ? '–' : `$${cost.toFixed(cost && cost < 0.01 ? 6 : 4)}`);
const modelOf = (one) => `${one.provider}/${one.model}`;

// Asks a provider for a few words, by a model or the one that it is asked first.
function Test({ provider, model }) {
  const [state, setState] = useState(null);
  const test = async () => setState(await call('POST', `/router/providers/${encodeURIComponent(provider)}/test`, { body: model ? { model } : {} }));
  return html`<span class="row"><${Act} words="Test" kind="small" act=${test} />
    ${state && html`<span role="status"><${Badge} tone=${state.works ? 'good' : 'bad'}>${state.works ? 'it answers' : 'it fails'}<//> ${state.message}</span>`}</span>`;
}

function RouteTable({ table, writes, done }) {
  const unset = (pattern) => async () => {
    await call('DELETE', `/router/overrides/${encodeURIComponent(pattern)}`);
    done();
  };
  const columns = [
    { name: 'Tools', cell: (one) => html`<code>${one.toolPattern}</code>` },
    { name: 'Model', cell: (one) => html`<b>${one.provider}</b> ${one.model}` },
    { name: 'For', cell: (one) => one.category ?? '–' },
    { name: 'From', cell: (one) => (one.isOverride ? html`<${Badge} tone="info">${one.manual ? 'a person' : 'what was learned'}<//>` : html`<span class="soft">the table</span>`) },
    { name: 'Can be asked', cell: (one) => html`<${Badge} tone=${table.available.includes(one.provider) ? 'good' : 'plain'}>${table.available.includes(one.provider) ? 'yes' : 'no'}<//>` },
    ...(writes ? [{ name: 'Try', cell: (one) => html`<span class="row"><${Test} provider=${one.provider} model=${one.model} />
      ${one.isOverride && html`<${Act} words="Take back" kind="small" sure=${`Let ${one.toolPattern} go by the table again?`} act=${unset(one.toolPattern)} />`}</span>` }] : []),
  ];
  return html`<${Card} title="Table" aside=${html`<span class="soft">in the order in which it is tried</span>`}>
    <${Table} caption="Routes" columns=${columns} rows=${table.routes} keyOf=${(one) => `${one.toolPattern} ${one.isOverride} ${modelOf(one)}`} empty="There is none." /><//>`;
}

function Override({ providers, done }) {
  const [error, setError] = useState(null), [said, setSaid] = useState('');
  const send = async (event) => {
    event.preventDefault();
    const form = event.currentTarget, given = Object.fromEntries(new FormData(form));
    setError(null);
    try {
      const change = await call('PUT', `/router/overrides/${encodeURIComponent(given.pattern)}`, { body: { provider: given.provider, model: given.model.trim() } });
      setSaid(`${change.toolPattern} goes to ${modelOf(change.decision)}.`);
      form.reset();
      done();
    } catch (failure) {
      setError(failure);
    }
  };
  return html`<${Card} title="Send tools to a model"><form class="filters" onSubmit=${send}>
    <label>Tools <input name="pattern" required pattern=${PATTERN} placeholder="web_*" autocomplete="off" spellcheck=${false} /></label>
    <label>Provider <select name="provider">${providers.map((one) => html`<option value=${one.provider}>${one.provider}${one.available ? '' : ' (cannot be asked)'}</option>`)}</select></label>
    <label>Model <input name="model" required maxlength="200" autocomplete="off" spellcheck=${false} /></label>
    <button class="primary">Send</button></form>
    <p role="status" class=${said ? '' : 'sr'}>${said}</p>${error && html`<p class="bad" role="alert">${error.message}</p>`}<//>`;
}

const CANDIDATES = [
  { name: 'Model', cell: (one) => html`<b>${one.name.provider}</b> ${one.name.model}` },
  { name: 'Calls', number: true, cell: (one) => number(one.calls) },
  { name: 'Success', number: true, cell: (one) => share(one.successRate) },
  { name: 'A usual call', number: true, cell: (one) => usd(one.costUsd) },
  { name: 'Why not', cell: (one) => one.whyNot || html`<b>it is the one</b>` },
];

function Why({ tool, names }) {
  const { data, error, again } = useLoaded((signal) => (tool ? get(`/router/route/${encodeURIComponent(tool)}`, { signal }) : Promise.resolve(null)), [tool]);
  return html`<${Card} title="Why one is chosen">
    <${Filters} parts="routes"><label>Tool <input name="tool" value=${tool} list="tools" placeholder="web_answer" autocomplete="off" spellcheck=${false} /></label>
      <datalist id="tools">${names.map((name) => html`<option value=${name}></option>`)}</datalist><button class="small">Ask why</button><//>
    ${error && html`<${Failure} error=${error} again=${again} />`}
    ${data && html`<p role="status"><b>${modelOf(data)}</b>: ${REASONS[data.reason] ?? data.reason} <code>${data.reason}</code></p>
      <${Table} caption=${`Candidates for ${tool}`} columns=${CANDIDATES} rows=${data.candidates ?? []} keyOf=${(one) => modelOf(one.name)} empty="No other could be asked." />`}<//>`;
}

// What the calls of each day have cost by model, from figures that each count from the beginning of a day on.
function perDay(days) {
  const sums = days.map(({ metrics }) => {
    const models = new Map();
    for (const one of metrics) models.set(modelOf(one), (models.get(modelOf(one)) ?? 0) + one.totalCost);
    return models;
  });
  const names = [...(sums[0]?.keys() ?? [])].sort((one, other) => sums[0].get(other) - sums[0].get(one));
  const values = (name) => sums.map((sum, index) => Math.max((sum.get(name) ?? 0) - (sums[index + 1]?.get(name) ?? 0), 0));
  return names.slice(0, COLOURS.length).map((name, index) => ({ name, colour: COLOURS[index], values: values(name) }));
}

const METRICS = [
  { name: 'Tool', cell: (one) => html`<code>${one.toolName}</code>` },
  { name: 'Model', cell: (one) => html`<b>${one.provider}</b> ${one.model}` },
  { name: 'Calls', number: true, cell: (one) => number(one.totalCalls) },
  { name: 'Success', number: true, cell: (one) => html`<span class=${one.successRate < 0.5 ? 'bad' : ''}>${share(one.successRate)}</span>` },
  { name: 'Takes', number: true, cell: (one) => duration(one.avgLatencyMs) },
  { name: 'Cost', number: true, cell: (one) => html`${usd(one.totalCost)}${one.unpricedCalls > 0 && html` <small class="soft">+ ${number(one.unpricedCalls)} without a price</small>`}` },
];

function Used() {
  const [days, setDays] = useState(null), [error, setError] = useState(null);
  const midnight = Math.floor(Date.now() / DAY_MS) * DAY_MS, begins = Array.from({ length: DAYS }, (_none, index) => midnight - (DAYS - 1 - index) * DAY_MS);
  useEffect(() => {
    const stop = new AbortController();
    Promise.all(begins.map((since) => get(`/router/metrics?since=${since}`, { signal: stop.signal }))).then(setDays, (failure) => stop.signal.aborted || setError(failure));
    return () => stop.abort();
  }, []);
  if (error) return html`<${Failure} error=${error} />`;
  if (!days) return html`<${Loading} />`;
  const all = days[0].metrics, sum = (name) => all.reduce((total, one) => total + one[name], 0);
  return html`<${Card} title=${`What was used in ${DAYS} days`}><${Figures}>
      <${Figure} name="Calls" value=${number(sum('totalCalls'))} about=${`${number(sum('failureCount'))} failed`} />
      <${Figure} name="Cost" value=${usd(sum('totalCost'))} about=${`${number(sum('unpricedCalls'))} calls without a price`} />
    <//><${Table} caption="What calls came to" columns=${METRICS} rows=${all} keyOf=${(one) => `${one.toolName} ${modelOf(one)}`} empty="No model was asked." /><//>
    <${Chart} title="Cost" unit="USD a day" times=${begins.map((at) => at / 1_000)} lines=${perDay(days)} days=${true} />`;
}

function Providers({ providers, writes }) {
  const columns = [
    { name: 'Provider', cell: (one) => html`<b>${one.provider}</b> ${one.baseUrl && html`<span class="soft">${one.baseUrl}</span>`}` },
    { name: 'Can be asked', cell: (one) => html`<${Badge} tone=${one.available ? 'good' : 'plain'}>${one.available ? 'yes' : 'no'}<//> ${one.coolingMs > 0 && html`<span class="soft">rests for ${duration(one.coolingMs)}</span>`}` },
    { name: 'Credentials', cell: (one) => (one.source ? one.source.replaceAll('_', ' ') : html`<span class="soft">lacks ${one.missing.join(', ') || 'them'}</span>`) },
    ...(writes ? [{ name: 'Try', cell: (one) => html`<${Test} provider=${one.provider} />` }] : []),
  ];
  return html`<${Card} title="Providers"><${Table} caption="Providers of models" columns=${columns} rows=${providers} keyOf=${(one) => one.provider} empty="There is none." />
    <p class="soft">Credentials are given on the machine itself: <code>weft providers set</code>. A test costs what a few words cost.</p><//>`;
}

const LEARNED = [
  { name: 'When', cell: (one) => new Date(one.timestamp).toLocaleString() },
  { name: 'Tool', cell: (one) => html`<code>${one.toolName}</code>` },
  { name: 'From', cell: (one) => `${one.oldProvider}/${one.oldModel} ${share(one.oldSuccessRate)}` },
  { name: 'To', cell: (one) => `${one.newProvider}/${one.newModel} ${share(one.newSuccessRate)}` },
  { name: 'Why', cell: (one) => one.reason },
];

export function Routes({ route, me }) {
  const writes = me.scopes.includes('routes');
  const { data, error, again } = useLoaded(async (signal) => {
    const [table, providers, audit] = await Promise.all(['/router', '/router/providers', '/router/audit?limit=50'].map((path) => get(path, { signal })));
    return { table, providers: providers.providers, audit: audit.optimizations };
  }, []);
  const names = [...new Set((data?.table.routes ?? []).map((one) => one.toolPattern.replace('*', '')).filter(Boolean))];
  return html`<${Title} about="Which model is asked for which tools, and what that has come to.">Routes<//>
    ${error && html`<${Failure} error=${error} again=${again} />`}
    ${!data && !error && html`<${Loading} />`}
    ${data && html`<${Why} tool=${route.query.tool ?? ''} names=${names} />
      ${writes && html`<${Override} providers=${data.providers} done=${again} />`}
      <${RouteTable} table=${data.table} writes=${writes} done=${again} />
      <${Providers} providers=${data.providers} writes=${writes} />
      <${Used} />
      <${Card} title="What was learned"><${Table} caption="Changes of routes, newest first" columns=${LEARNED} rows=${data.audit} keyOf=${(one) => one.timestamp + one.toolName} empty="Nothing yet." /><//>`}
    <${CopyAs} call=${['GET', '/router']} shell=${route.query.tool ? ['routes', 'why', route.query.tool] : ['routes']} />`;
}
