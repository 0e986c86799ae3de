// Home: whether all is there, what it does now, what fails, and a box to read a page at once.
import { html, useState } from '../htm.js';
import { get, readiness } from '../api.js';
import { Chart } from '../charts.js';
import { Badge, Card, Failure, Figure, Figures, Table, Title, number, useLoaded } from '../parts.js';
import { go } from '../router.js';
import { TIERS, useSystem } from '../system.js';

export function BrowseBox({ url = '', label = 'Read a page' }) {
  const [text, setText] = useState(url);
  const read = (event) => {
    event.preventDefault();
    const typed = text.trim();
    go('page', { url: /^[a-z][a-z\d+.-]*:/i.test(typed) && !/^[\w.-]+:\d/.test(typed) ? typed : `https://${typed}` });
  };
  return html`<form class="browse" role="search" onSubmit=${read}>
    <label class="sr" for="url">Address of the page</label>
    <input id="url" type="text" inputmode="url" autocomplete="off" spellcheck="false" placeholder="https://example.com" required
      value=${text} onInput=${(event) => setText(event.currentTarget.value)} />
    <button class="primary">${label}</button>
  </form>`;
}

function Health({ system, ready }) {
  const missing = system?.missing ?? [];
  const good = system ? system.status === 'ready' : ready?.ready;
  if (good === undefined) return null;
  return html`<p class="health" role="status"><${Badge} of=${good ? 'ready' : 'not_ready'} />
    ${good ? 'Everything that a page needs is there.' : missing.length ? `No live ${missing.join(', no live ')}: start it, or look at its log.` : ready?.error}</p>`;
}

const pages = (usage) => Object.values(usage?.pages ?? {}).reduce((sum, count) => sum + count, 0);

function Today({ usage, whose }) {
  if (!usage) return null;
  return html`<${Card} title=${`Today, ${whose}`}><${Figures}>
    <${Figure} name="Pages" value=${number(pages(usage))} about=${Object.entries(usage.pages).map(([tier, count]) => `${tier} ${number(count)}`).join(' · ')} />
    <${Figure} name="Requests" value=${number(usage.requests)} about=${`${number(usage.errors)} failed`} />
    <${Figure} name="Cost units" value=${number(usage.costUnits)} />
    <${Figure} name="Calls of models" value=${number(usage.modelCalls)} about=${`${number(usage.inputTokens + usage.outputTokens)} tokens`} />
  <//><//>`;
}

function Charts({ samples }) {
  const times = samples.map((one) => one.at), tiers = (read) => TIERS.map((tier) => ({ name: tier, colour: tier, values: samples.map((one) => read(one)[tier] ?? null) }));
  const slow = [...tiers((one) => one.p50).map((line) => ({ ...line, name: `${line.name} p50` })),
    ...tiers((one) => one.p99).map((line) => ({ ...line, name: `${line.name} p99`, dashed: true }))];
  return html`<div class="charts">
    <${Chart} title="Pages" unit="a minute" times=${times} lines=${tiers((one) => one.pages)} />
    <${Chart} title="Errors of fetching" unit="a minute" times=${times} lines=${[{ name: 'errors', colour: 'bad', values: samples.map((one) => one.errors) }]} />
    <${Chart} title="How long a page takes" unit="ms" times=${times} lines=${slow.filter((line) => line.values.some((value) => value !== null))} />
  </div>`;
}

const FAILING = [
  { name: 'Where', cell: (row) => html`<b>${row.actor}</b> <span class="soft">${row.subject}</span>` },
  { name: 'Error', cell: (row) => html`<code>${row.code}</code> ${row.meaning}` },
  { name: 'Failed', number: true, cell: (row) => `${number(row.errors)} of ${number(row.calls)}` },
  { name: 'What helps', cell: (row) => row.action ?? 'Look at the log of the actor.' },
];

export function Home({ me }) {
  const operates = me.scopes.includes('operate');
  const { system, samples, error } = useSystem(operates);
  const { data: ready } = useLoaded((signal) => (operates ? Promise.resolve(null) : readiness(signal)), [operates]);
  const { data: own } = useLoaded((signal) => (!operates && me.scopes.includes('browse') ? get('/v1/usage', { signal }) : Promise.resolve(null)), [operates]);
  return html`<${Title}>Home<//>
    ${me.scopes.includes('browse') && html`<${BrowseBox} />`}
    <${Health} system=${system} ready=${ready} />
    ${error && html`<${Failure} error=${error} />`}
    ${operates && system && html`<${Charts} samples=${samples} />
      <${Card} title="What fails" aside=${html`<span class="soft">since each replica started</span>`}>
        <${Table} caption="Subjects at which calls have failed" columns=${FAILING} rows=${system.failing.slice(0, 12)}
          keyOf=${(row) => row.replica + row.subject} empty="Nothing has failed." />
      <//>`}
    <${Today} usage=${operates ? system?.today : own?.data} whose=${operates ? 'all keys' : 'this key'} />`;
}
