// What was asked and answered with this key: the list, and one conversation whole, with the calls of models that it took.
import { html } from '../htm.js';
import { get } from '../api.js';
import { Markdown, WebLink } from '../markdown.js';
import { Badge, Card, CopyAs, Failure, Loading, Pager, Table, Time, Title, duration, number, useLoaded } from '../parts.js';
import { link } from '../router.js';

const LIMIT = 25;

const COLUMNS = [
  { name: 'Conversation', cell: (one) => html`<a href=${link(['conversations', one.id])}>${one.preview || one.id}</a>` },
  { name: 'Begun by', cell: (one) => html`<code>${one.task}</code>` },
  { name: 'Turns', number: true, cell: (one) => number(one.turns) },
  { name: 'Begun', cell: (one) => html`<${Time} at=${one.startedAt} />` },
  { name: 'Last said', cell: (one) => html`<${Time} at=${one.updatedAt} />` },
];

export function Conversations({ route }) {
  const offset = Number(route.query.offset) || 0, path = `/api/conversations?limit=${LIMIT}&offset=${offset}`;
  const { data, error, again } = useLoaded((signal) => get(path, { signal }), [path]);
  return html`<${Title} about="What was asked of pages and documents with this key, and answered. Kept for 30 days.">Conversations<//>
    ${error && html`<${Failure} error=${error} again=${again} />`}
    ${!data && !error && html`<${Loading} />`}
    ${data && html`<${Card} title=${`${number(data.total)} ${data.total === 1 ? 'conversation' : 'conversations'}`}>
      <${Table} caption="Conversations, newest first" columns=${COLUMNS} rows=${data.conversations} keyOf=${(one) => one.id}
        empty="Nothing was asked with this key yet. weft summarize URL begins one, as does POST /api/answer." />
      <${Pager} parts="conversations" query=${route.query} offset=${offset} limit=${LIMIT} total=${data.total} />
    <//>`}
    <${CopyAs} call=${['GET', path]} shell=${['conversations']} />`;
}

function Citations({ citations }) {
  return html`<details><summary>${citations.length} ${citations.length === 1 ? 'citation' : 'citations'}</summary><ol>${citations.map((one) => html`<li>
    “${one.quote}” ${one.url && html`<${WebLink} href=${one.url}>${one.url}<//>`} ${one.confidence !== undefined && html`<span class="soft">${one.confidence.toFixed(2)}</span>`}</li>`)}</ol></details>`;
}

function Said({ event }) {
  const served = event.servedBy;
  return html`<${Card} as="article" title=${event.role === 'user' ? 'Asked' : 'Answered'} kind=${`said ${event.role}`} aside=${html`<span class="soft"><code>${event.task}</code> <${Time} at=${event.at} /></span>`}>
    <${Markdown} text=${event.markdown} />
    ${event.error && html`<p class="bad">${event.error.error} <code>${event.error.code}</code></p>`}
    ${event.citations?.length > 0 && html`<${Citations} citations=${event.citations} />`}
    ${event.documents?.length > 0 && html`<p class="soft">Read: ${event.documents.map((one) => html`<${WebLink} href=${one.url}>${one.url}<//> (${number(one.chars)} characters) `)}</p>`}
    ${served && html`<p class="soft">By ${served.model ? `${served.provider} ${served.model}` : 'rules, without a model'}${served.whyLocal ? `: ${served.whyLocal}` : ''}</p>`}
  <//>`;
}

const MODEL_CALLS = [
  { name: 'Model', cell: (one) => html`<b>${one.provider}</b> ${one.model}` },
  { name: 'For', cell: (one) => html`<code>${one.tool}</code>` },
  { name: 'Outcome', cell: (one) => html`<${Badge} of=${one.success ? 'succeeded' : 'failed'} /> ${one.error}` },
  { name: 'Took', number: true, cell: (one) => duration(one.latencyMs) },
  { name: 'Tokens', number: true, cell: (one) => `${number(one.usage?.input)} in, ${number(one.usage?.output)} out` },
  { name: 'Cost', number: true, cell: (one) => (one.costUsd == null ? '–' : `$${one.costUsd.toFixed(4)}`) },
];

export function Conversation({ route }) {
  const id = route.parts[1], path = `/api/conversations/${encodeURIComponent(id)}`;
  const { data, error, again } = useLoaded((signal) => get(path, { signal }), [path]);
  return html`<${Title} about=${html`<a href=${link('conversations')}>All conversations</a> · <code>${id}</code>`}>Conversation<//>
    ${error && html`<${Failure} error=${error} again=${again} />`}
    ${!data && !error && html`<${Loading} />`}
    ${data && html`${data.events.map((event) => html`<${Said} key=${event.id} event=${event} />`)}
      <${Card} title="Calls of models"><${Table} caption="Calls of models" columns=${MODEL_CALLS} rows=${data.modelRuns} keyOf=${(one) => one.callId + one.at} empty="No model was asked." /><//>
      <${CopyAs} call=${['GET', path]} shell=${['conversations', id]} />`}`;
}
