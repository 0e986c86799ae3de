// Every replica of every actor, live: where it runs, what it has in hand, how fast it is; and what the chosen one answers to.
import { html } from '../htm.js';
import { Badge, Card, CopyAs, Failure, Loading, Table, Title, bytes, duration, number } from '../parts.js';
import { link } from '../router.js';
import { useSystem } from '../system.js';

const took = (one, ms) => (one.served ?? one.calls ? duration(ms) : '–');

const REPLICAS = [
  { name: 'Actor', cell: (one) => html`<a href=${link('actors', { replica: one.replica })}><b>${one.actor}</b></a>` },
  { name: 'Where', cell: (one) => html`<span class="soft">${one.host}, pid ${one.pid}, ${one.version}</span>` },
  { name: 'Up', number: true, cell: (one) => duration(one.uptimeMs) },
  { name: 'Restarts', number: true, cell: (one) => html`<span class=${one.restarts ? 'bad' : ''}>${number(one.restarts)}</span>` },
  { name: 'Memory', number: true, cell: (one) => (one.memoryBytes ? bytes(one.memoryBytes) : '–') },
  { name: 'In flight', number: true, cell: (one) => `${number(one.inFlight)}${one.queued ? ` + ${number(one.queued)} wait` : ''}` },
  { name: 'Served', number: true, cell: (one) => number(one.served) },
  { name: 'Errors', number: true, cell: (one) => html`<span class=${one.errors ? 'bad' : ''}>${number(one.errors)}</span>` },
  { name: 'Slow', number: true, cell: (one) => number(one.slow) },
  { name: 'p50', number: true, cell: (one) => took(one, one.p50Ms) },
  { name: 'p99', number: true, cell: (one) => took(one, one.p99Ms) },
];

const SUBJECTS = [
  { name: 'Subject', cell: (one) => html`<code>${one.subject}</code>` },
  { name: 'In flight', number: true, cell: (one) => number(one.inFlight) },
  { name: 'Waiting', number: true, cell: (one) => number(one.queued) },
  { name: 'Calls', number: true, cell: (one) => number(one.calls) },
  { name: 'Errors', number: true, cell: (one) => number(one.errors) },
  { name: 'Mean', number: true, cell: (one) => took(one, one.meanMs) },
  { name: 'Last error', cell: (one) => (one.lastError ? html`<code>${one.lastError}</code>` : html`<span class="soft">none</span>`) },
];

export function Actors({ route }) {
  const { system, error } = useSystem(true);
  const chosen = system?.replicas.find((one) => one.replica === route.query.replica);
  return html`<${Title} about="Every live replica, as it says of itself. The figures count from its start.">Actors<//>
    ${error && html`<${Failure} error=${error} />`}
    ${!system && !error && html`<${Loading} />`}
    ${system && html`<p class="health"><${Badge} of=${system.status} /> ${number(system.replicas.length)} replicas${system.missing.length ? `; no live ${system.missing.join(', no live ')}` : ''}</p>
      <${Card} title="Replicas"><${Table} caption="Live replicas" columns=${REPLICAS} rows=${system.replicas} keyOf=${(one) => one.replica} empty="No actor answers." /><//>`}
    ${system && route.query.replica && !chosen && html`<p>This replica does not live any more.</p>`}
    ${chosen && html`<${Card} title=${`What ${chosen.actor} answers to`} aside=${html`<code>${chosen.replica}</code>`}>
      <${Table} caption=${`Subjects of ${chosen.actor}`} columns=${SUBJECTS} rows=${chosen.subjects} keyOf=${(one) => one.subject} empty="Nothing." /><//>`}
    <${CopyAs} call=${['GET', '/api/system']} shell=${['status']} />`;
}
