// Recorded conversations: which there are, and one as a timeline of its packets, to be looked at and taken along as a file.
import { html, useState } from '../htm.js';
import { download, get } from '../api.js';
import { Act, Badge, Card, CopyAs, Failure, Figure, Figures, Loading, Table, Time, Title, bytes, duration, number, useLoaded } from '../parts.js';
import { link } from '../router.js';

const LIMIT = 100, MAX_SHOWN = 400, MAX_CHARS = 20_000;

const COLUMNS = [
  { name: 'Conversation', cell: (one) => html`<a href=${link(['recordings', one.id])}><code>${one.id}</code></a>` },
  { name: 'Began', cell: (one) => html`<${Time} at=${one.beganAt} />` },
  { name: 'With', cell: (one) => html`<code>${one.first}</code>` },
  { name: 'Entries', number: true, cell: (one) => number(one.entries) },
  { name: 'Kept', number: true, cell: (one) => bytes(one.bytes) },
];

export function Recordings() {
  const path = `/api/recordings?limit=${LIMIT}`;
  const { data, error, again } = useLoaded((signal) => get(path, { signal }), [path]);
  return html`<${Title} about="The packets of conversations, and what the outside world answered: kept for a day, to be replayed.">Recordings<//>
    ${error && html`<${Failure} error=${error} again=${again} />`}
    ${!data && !error && html`<${Loading} />`}
    ${data && html`${!data.recording && html`<p class="soft">Nothing is recorded now: the setting <code>record_conversations</code> has it done.</p>`}
      <${Card} title=${`The last ${number(data.recordings.length)}`}>
        <${Table} caption="Recorded conversations, newest first" columns=${COLUMNS} rows=${data.recordings} keyOf=${(one) => one.id} empty="No conversation is recorded." />
      <//>`}
    <${CopyAs} call=${['GET', path]} shell=${['export']} />`;
}

const actor = (entry) => entry.sender.split('/')[0];
const outcome = (entry) => (entry.fault ?? entry.response?.error)?.code;
const shown = (value) => JSON.stringify(value, null, 2)?.slice(0, MAX_CHARS) ?? 'nothing';

function Entry({ entry, begin, span }) {
  const [open, setOpen] = useState(false);
  const from = ((entry.at_us - begin) / span) * 1000, failed = outcome(entry);
  return html`<li class=${failed ? 'failed' : entry.kind === 'outside' ? 'skipped' : 'succeeded'}>
    <span class="name">${actor(entry)}</span>
    <svg class="bar" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
      <rect x=${Math.min(from, 994)} width=${Math.max(((entry.took_us ?? 0) / span) * 1000, 6)} height="10" rx="2" /></svg>
    <span class="soft number">${duration((entry.took_us ?? 0) / 1_000)}</span>
    <details onToggle=${(event) => setOpen(event.currentTarget.open)}><summary><${Badge} of=${entry.kind} /> <code>${entry.name}</code> ${failed && html`<code class="bad">${failed}</code>`}</summary>
      ${open && html`<pre tabindex="0">${shown(entry.request)}</pre>${entry.response !== undefined && html`<pre tabindex="0">${shown(entry.response)}</pre>`}`}
    </details>
  </li>`;
}

export function RecordedConversation({ route }) {
  const id = route.parts[1], path = `/api/recordings/${encodeURIComponent(id)}`;
  const { data, error, again } = useLoaded((signal) => get(path, { signal }), [path]);
  const entries = data?.entries ?? [], begin = entries[0]?.at_us ?? 0;
  const span = entries.reduce((most, one) => Math.max(most, one.at_us + (one.took_us ?? 0) - begin), 1);
  const packets = entries.filter((one) => one.kind !== 'outside').length;
  return html`<${Title} about=${html`<a href=${link('recordings')}>All recordings</a> · <code>${id}</code>`}>Recording<//>
    ${error && html`<${Failure} error=${error} again=${again} />`}
    ${!data && !error && html`<${Loading} />`}
    ${data && html`<${Figures}>
        <${Figure} name="Packets" value=${number(packets)} />
        <${Figure} name="Of the outside" value=${number(entries.length - packets)} />
        <${Figure} name="Took" value=${duration(span / 1_000)} />
        <${Figure} name="Lost" value=${number(data.lost)} tone=${data.lost ? 'bad' : ''} />
      <//>
      <${Card} title="Packets, by who sent them" aside=${html`<${Act} words="Download" kind="small" act=${() => download(path, `${id}.json`)} />`}>
        ${entries.length > MAX_SHOWN && html`<p class="soft">The first ${MAX_SHOWN} of ${number(entries.length)}; the file has all.</p>`}
        <ol class="timeline">${entries.slice(0, MAX_SHOWN).map((one, index) => html`<${Entry} key=${index} entry=${one} begin=${begin} span=${span} />`)}</ol>
      <//>
      <${CopyAs} call=${['GET', path]} shell=${['replay', id]} />`}`;
}
