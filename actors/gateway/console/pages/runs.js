// The runs of this key, newest first: which template, how each stands, how far it is.
import { html } from '../htm.js';
import { get, query as queryText } from '../api.js';
import { Badge, Card, CopyAs, Failure, Filters, Loading, Pager, Table, Time, Title, number, useLoaded } from '../parts.js';
import { link } from '../router.js';

export const STATUSES = ['queued', 'running', 'succeeded', 'partial_success', 'failed', 'canceled'];
const LIMIT = 25;

export function Progress({ of }) {
  if (!of.totalSteps) return html`<span class="soft">–</span>`;
  return html`<progress max=${of.totalSteps} value=${of.doneSteps} aria-label="Steps that are done"></progress> ${number(of.doneSteps)} of ${number(of.totalSteps)}`;
}

const COLUMNS = [
  { name: 'Run', cell: (run) => html`<a href=${link(['runs', run.runId])}><b>${run.templateId}</b></a> <code>${run.runId.slice(0, 12)}…</code>` },
  { name: 'Status', cell: (run) => html`<${Badge} of=${run.status} /> ${run.errorCode && html`<code>${run.errorCode}</code>`}` },
  { name: 'Steps', cell: (run) => html`<${Progress} of=${run.progress} />` },
  { name: 'Begun', cell: (run) => html`<${Time} at=${run.createdAt} />` },
  { name: 'Last changed', cell: (run) => html`<${Time} at=${run.updatedAt} />` },
];

export function Runs({ route }) {
  const { status = '', templateId = '' } = route.query, offset = Number(route.query.offset) || 0;
  const asked = { status, templateId, limit: LIMIT, offset };
  const path = `/api/runs${queryText(asked)}`;
  const { data, error, again } = useLoaded((signal) => get(path, { signal }), [path]);
  const { data: known } = useLoaded((signal) => get('/api/templates', { signal }), []);
  const chosen = Boolean(status || templateId);
  return html`<${Title} about="Jobs of many steps, done by templates; those that this key has begun.">Runs<//>
    <${Filters} parts="runs">
      <label>Status <select name="status"><option value="">any</option>
        ${STATUSES.map((one) => html`<option value=${one} selected=${one === status}>${one.replaceAll('_', ' ')}</option>`)}</select></label>
      <label>Template <select name="templateId"><option value="">any</option>
        ${(known?.templates ?? []).map((one) => html`<option value=${one.templateId} selected=${one.templateId === templateId}>${one.templateId}</option>`)}</select></label>
      ${chosen && html`<a href=${link('runs')}>Show all</a>`}
      <button type="button" class="small" onClick=${again}>Look again</button>
    <//>
    ${error && html`<${Failure} error=${error} again=${again} />`}
    ${!data && !error && html`<${Loading} />`}
    ${data && html`<${Card} title=${`${number(data.total)} ${data.total === 1 ? 'run' : 'runs'}`}>
      <${Table} caption="Runs, newest first" columns=${COLUMNS} rows=${data.runs} keyOf=${(run) => run.runId}
        empty=${chosen ? 'No run is like that.' : 'No run was begun with this key. weft run TEMPLATE begins one, as does POST /api/runs.'} />
      <${Pager} parts="runs" query=${route.query} offset=${offset} limit=${LIMIT} total=${data.total} />
    <//>`}
    <${CopyAs} call=${['GET', path]} tool=${['list_task_runs', { ...(status && { status }), ...(templateId && { templateId }), limit: LIMIT, offset }]}
      shell=${['runs', 'list', ...(status ? ['--status', status] : []), ...(templateId ? ['--template', templateId] : [])]} />`;
}
