// The bus: what is called on each subject, what waits in queues, what journals hold, and the letters that nobody has taken.
import { html, useEffect, useState } from '../htm.js';
import { call, get } from '../api.js';
import { Act, Badge, Card, CopyAs, Failure, Figure, Figures, Loading, Table, Time, Title, bytes, duration, number, useLoaded } from '../parts.js';
import { link } from '../router.js';
import { useSystem } from '../system.js';

const EVERY_MS = 5_000;
const LETTERS = '/api/deliveries?state=dead&limit=200';

// The subjects of all replicas together, with the calls a second since the look before.
function subjectsOf(system, before) {
  const seconds = before ? (system.at - before.at) / 1_000 : 0, former = new Map();
  for (const one of before?.replicas ?? []) for (const subject of one.subjects) former.set(`${one.replica} ${subject.subject}`, subject);
  const found = new Map();
  for (const one of system.replicas) {
    for (const subject of one.subjects) {
      const sum = found.get(subject.subject) ?? { subject: subject.subject, actors: new Set(), calls: 0, errors: 0, inFlight: 0, queued: 0, since: 0, spentMs: 0 };
      sum.actors.add(one.actor);
      sum.since += subject.calls - (former.get(`${one.replica} ${subject.subject}`)?.calls ?? (before ? 0 : subject.calls));
      sum.spentMs += subject.meanMs * subject.calls;
      for (const name of ['calls', 'errors', 'inFlight', 'queued']) sum[name] += subject[name];
      if (subject.lastError) sum.lastError = subject.lastError;
      found.set(subject.subject, sum);
    }
  }
  const all = [...found.values()].sort((one, other) => one.subject.localeCompare(other.subject));
  return all.map((one) => ({ ...one, rate: seconds > 0 ? one.since / seconds : undefined }));
}

const pattern = (subject) => subject.replaceAll(/\{\w+\}/g, '*');
const SUBJECTS = [
  { name: 'Subject', cell: (one) => html`${one.subject.includes('.') ? html`<a href=${link(['bus', 'tap'], { subject: pattern(one.subject) })} title="Tap it"><code>${one.subject}</code></a>` : html`<code>${one.subject}</code>`} <span class="soft">${[...one.actors].join(', ')}</span>` },
  { name: 'Now', number: true, cell: (one) => (one.rate === undefined ? '–' : `${one.rate < 10 ? Number(one.rate.toPrecision(2)) : number(Math.round(one.rate))}/s`) },
  { name: 'Calls', number: true, cell: (one) => number(one.calls) },
  { name: 'Errors', number: true, cell: (one) => html`<span class=${one.errors ? 'bad' : ''} title=${one.lastError}>${number(one.errors)}</span>` },
  { name: 'In flight', number: true, cell: (one) => number(one.inFlight) },
  { name: 'Waiting', number: true, cell: (one) => number(one.queued) },
  { name: 'Mean', number: true, cell: (one) => (one.calls ? duration(one.spentMs / one.calls) : '–') },
];

function Subjects({ system, before }) {
  const [words, setWords] = useState(''), [idle, setIdle] = useState(false);
  const all = subjectsOf(system, before), rows = all.filter((one) => one.subject.includes(words.trim()) && (idle || one.calls || one.inFlight));
  return html`<${Card} title="Subjects" aside=${html`<span class="soft">${number(rows.length)} of ${number(all.length)}</span>`}>
    <div class="filters" role="search" aria-label="Filter subjects">
      <label>Find <input type="search" placeholder="web." value=${words} autocomplete="off" spellcheck=${false} onInput=${(event) => setWords(event.currentTarget.value)} /></label>
      <label class="check"><input type="checkbox" checked=${idle} onChange=${(event) => setIdle(event.currentTarget.checked)} /> never called, too</label>
    </div>
    <${Table} caption="Subjects of the bus" columns=${SUBJECTS} rows=${rows} keyOf=${(one) => one.subject} empty="No subject is like that." /><//>`;
}

const sum = (one, name) => one.consumers.reduce((total, consumer) => total + consumer[name], 0);
const last = (one) => (one.lastAt > 0 && one.lastSequence ? html`<${Time} at=${one.lastAt} />` : html`<span class="soft">never</span>`);
const QUEUES = [
  { name: 'Queue', cell: (one) => html`<code>${one.name}</code>` },
  { name: 'Lag', number: true, cell: (one) => html`<span class=${sum(one, 'waiting') ? 'bad' : ''}>${number(sum(one, 'waiting'))}</span>` },
  { name: 'In hand', number: true, cell: (one) => number(sum(one, 'inHand')) },
  { name: 'Given again', number: true, cell: (one) => number(sum(one, 'again')) },
  { name: 'Consumers', number: true, cell: (one) => number(one.consumers.length) },
  { name: 'Asking for work', number: true, cell: (one) => number(sum(one, 'pulling')) },
  { name: 'Last put', cell: last },
];
const KEPT = [
  { name: 'Name', cell: (one) => html`<code>${one.name}</code>` },
  { name: 'Messages', number: true, cell: (one) => number(one.messages) },
  { name: 'Written so far', number: true, cell: (one) => number(one.lastSequence) },
  { name: 'Size', number: true, cell: (one) => html`${bytes(one.sizeBytes)}${one.maxBytes && html` <small class="soft">of ${bytes(one.maxBytes)}</small>`}` },
  { name: 'Last written', cell: last },
];
const behind = (one) => Math.max(0, ...one.readers.map((reader) => reader.lag));
const JOURNALS = [KEPT[0], { name: 'Lag', number: true, cell: (one) => html`<span class=${behind(one) ? 'bad' : ''}>${one.readers.length ? number(behind(one)) : '–'}</span>` },
  { name: 'Readers', cell: (one) => html`<span class="soft">${one.readers.map((reader) => `${reader.actor} ${reader.reader}${reader.lag ? ` (${number(reader.lag)} behind)` : ''}`).join(', ')}</span>` }, ...KEPT.slice(1)];
const OTHERS = [{ name: 'Kind', cell: (one) => one.kind }, ...KEPT];

function Streams({ streams }) {
  const of = (...kinds) => streams.filter((one) => kinds.includes(one.kind)), key = (one) => `${one.kind} ${one.name}`;
  const others = of('bucket', 'files', 'claims', 'other');
  return html`<${Card} title="Queues of work"><${Table} caption="Queues of work" columns=${QUEUES} rows=${of('queue')} keyOf=${key} empty="There is none." /><//>
    <${Card} title="Journals"><p class="soft">Lag is how many lines the last of its readers has still to take in.</p>
      <${Table} caption="Journals" columns=${JOURNALS} rows=${of('journal')} keyOf=${key} empty="There is none." /><//>
    <${Card} title="Tables and files"><details><summary>${number(others.length)} buckets and stores, ${bytes(others.reduce((total, one) => total + one.sizeBytes, 0))}</summary>
      <${Table} caption="Buckets and stores of files" columns=${OTHERS} rows=${others} keyOf=${key} /></details><//>`;
}

function Letter({ letter, done }) {
  const path = `/api/deliveries/${encodeURIComponent(letter.id)}`, [whole, setWhole] = useState(null);
  const look = async () => setWhole(whole ? null : await get(path));
  const act = (method, where) => async () => {
    await call(method, where, method === 'POST' ? { body: undefined } : {});
    done();
  };
  return html`<article class="letter" aria-label=${`${letter.operation} for ${letter.integration}`}>
    <p><b>${letter.integration}</b> was not told <code>${letter.operation}</code> <${Badge} of="failed">dead<//> <${Time} at=${letter.updatedAt} /> <span class="soft">after ${number(letter.tries)} ${letter.tries === 1 ? 'try' : 'tries'}, for ${letter.caller}</span></p>
    ${letter.error && html`<p class="bad">${letter.error.message} <code>${letter.error.code}</code>${letter.httpStatus && html` <span class="soft">status ${letter.httpStatus}</span>`}</p>`}
    <div class="row"><${Act} words=${whole ? 'Close it' : 'Look at it'} act=${look} />
      <${Act} words="Send again" kind="primary" act=${act('POST', `${path}/resend`)} />
      <${Act} words="Drop" sure="Forget it for good?" act=${act('DELETE', path)} />
      <${CopyAs} call=${['POST', `${path}/resend`]} /></div>
    ${whole && html`<pre class="wrap" tabindex="0">${JSON.stringify({ idempotencyKey: whole.idempotencyKey, payload: whole.payload, answer: whole.answer }, null, 2)}</pre>`}
  </article>`;
}

function Letters() {
  const { data, error, again } = useLoaded((signal) => get(LETTERS, { signal }), []);
  return html`<${Card} title="Dead letters" aside=${html`<button type="button" class="small" onClick=${again}>Look again</button>`}>
    <p class="soft">What programs of integrations.toml were to be told, and have not taken after every try.</p>
    ${error && html`<${Failure} error=${error} again=${again} />`}
    ${data?.deliveries.length === 0 && html`<p class="empty">There is none.</p>`}
    ${data?.deliveries.map((one) => html`<${Letter} key=${one.id} letter=${one} done=${again} />`)}<//>`;
}

export function Bus({ me }) {
  const { system, before, error } = useSystem(true);
  const { data, error: unseen, again } = useLoaded((signal) => get('/api/bus', { signal }), []);
  useEffect(() => {
    let timer = 0;
    const wait = () => { timer = setTimeout(() => (document.hidden ? wait() : again()), EVERY_MS); };
    wait();
    return () => clearTimeout(timer);
  }, [data, unseen]);
  const calls = system ? subjectsOf(system, before) : [], total = (name) => calls.reduce((all, one) => all + (one[name] ?? 0), 0);
  return html`<${Title} about=${html`What is said between actors, and what waits to be done. <a href=${link(['bus', 'tap'])}>Tap it live</a>`}>Bus<//>
    ${error && html`<${Failure} error=${error} />`}
    ${unseen && html`<${Failure} error=${unseen} again=${again} />`}
    ${((!system && !error) || (!data && !unseen)) && html`<${Loading} />`}
    ${system && html`<${Card} title="Now"><${Figures}>
      <${Figure} name="Calls a second" value=${before ? Number(total('rate').toPrecision(3)).toLocaleString('en') : '–'} />
      <${Figure} name="In flight" value=${number(total('inFlight'))} />
      <${Figure} name="Waiting" value=${number(total('queued'))} />
      <${Figure} name="Work that waits" value=${data ? number(data.streams.reduce((all, one) => all + sum(one, 'waiting'), 0)) : '–'} />
      <${Figure} name="Errors so far" value=${number(total('errors'))} tone=${total('errors') ? 'bad' : ''} />
    <//><//>`}
    ${me.scopes.includes('integrations') && html`<${Letters} />`}
    ${data && html`<${Streams} streams=${data.streams} />`}
    ${system && html`<${Subjects} system=${system} before=${before} />`}
    <${CopyAs} call=${['GET', '/api/bus']} />`;
}
