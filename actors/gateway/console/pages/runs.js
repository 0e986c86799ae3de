// The runs of this key: which template, how each stands, how far it is. However many they are, those in view are asked for.
import { html, useCallback, useEffect, useRef, useState } from '../htm.js';
import { get, query as queryText } from '../api.js';
import { Badge, Card, CopyAs, Failure, Filters, Loading, Time, Title, number, useLoaded } from '../parts.js';
import { link } from '../router.js';
import { VirtualTable } from '../virtual.js';

export const STATUSES = ['queued', 'running', 'succeeded', 'partial_success', 'failed', 'canceled'];
const ORDERS = { 'createdAt.desc': 'begun last', 'createdAt.asc': 'begun first', 'updatedAt.desc': 'changed last', 'updatedAt.asc': 'changed first' };
const USUAL = 'createdAt.desc';
const LIMIT = 100;
const KEPT = 3_000;
const ASKED_MS = 80;
const PLACED_MS = 400;

export function Progress({ of }) {
  if (!of.totalSteps) return html`<span class="soft">–</span>`;
  return html`<progress max=${of.totalSteps} value=${of.doneSteps} aria-label="Steps that are done"></progress> ${number(of.doneSteps)} of ${number(of.totalSteps)}`;
}

const COLUMNS = [
  { name: 'Run', width: 'minmax(0, 2fr)', cell: (run) => html`<a href=${link(['runs', run.runId])}><b>${run.templateId}</b></a> <code>${run.runId.slice(0, 12)}…</code>` },
  { name: 'Status', width: 'minmax(0, 1.6fr)', cell: (run) => html`<${Badge} of=${run.status} /> ${run.errorCode && html`<code>${run.errorCode}</code>`}` },
  { name: 'Steps', width: 'minmax(0, 1.3fr)', cell: (run) => html`<${Progress} of=${run.progress} />` },
  { name: 'Begun', named: true, width: 'minmax(0, 0.9fr)', cell: (run) => html`<${Time} at=${run.createdAt} />` },
  { name: 'Last changed', named: true, width: 'minmax(0, 0.9fr)', cell: (run) => html`<${Time} at=${run.updatedAt} />` },
];

// What is known of a list: its rows by their places, of which those near the view are kept, and how many there are.
class RunRows {
  constructor(asked, changed) {
    [this.asked, this.changed, this.rows, this.busy, this.stop] = [asked, changed, new Map(), false, new AbortController()];
  }

  async load(from) {
    const page = await get(`/api/runs${queryText({ ...this.asked, limit: LIMIT, ...from })}`, { signal: this.stop.signal });
    page.runs.forEach((run, index) => this.rows.set(page.offset + index, run));
    this.changed({ total: page.total, place: page.offset, error: undefined });
  }

  // Begins behind a run, or at the first where there is none of that id any more.
  async begin(after) {
    try {
      await this.load({ after }).catch((error) => (after && error.status === 400 ? this.load({}) : Promise.reject(error)));
    } catch (error) {
      if (!this.stop.signal.aborted) this.changed({ error });
    }
  }

  // Has the rows from `first` up to `last` loaded, page by page: what follows on a row that is known goes on behind it, the rest by its place.
  async show(first, last) {
    this.wanted = [first, last];
    if (this.busy) return;
    this.busy = true;
    try {
      for (let place = this.missing(); place !== undefined; place = this.missing()) {
        const before = this.rows.get(place - 1), size = this.rows.size;
        await this.load(before ? { after: before.runId } : { offset: place - (place % LIMIT) });
        if (this.rows.size === size) break;
        for (const one of this.rows.keys()) if (this.rows.size > KEPT && Math.abs(one - place) > KEPT / 2) this.rows.delete(one);
      }
    } catch (error) {
      if (!this.stop.signal.aborted) this.changed({ error });
    }
    this.busy = false;
  }

  missing() {
    const [first, last] = this.wanted;
    for (let place = first; place < last; place += 1) if (!this.rows.has(place)) return place;
    return undefined;
  }
}

function useRuns(asked, after, turn) {
  const list = useRef(null), [state, setState] = useState({});
  useEffect(() => {
    const rows = new RunRows(asked, (now) => rows.stop.signal.aborted || setState((former) => ({ ...former, ...now, place: former.place ?? now.place, rows })));
    list.current = rows;
    setState({});
    rows.begin(after);
    return () => rows.stop.abort();
  }, [JSON.stringify(asked), turn]);
  const show = useCallback((first, last) => list.current.show(first, last), []);
  return { ...state, show };
}

export function Runs({ route }) {
  const { status = '', templateId = '', order = USUAL, after } = route.query, [sort, direction] = (Object.hasOwn(ORDERS, order) ? order : USUAL).split('.');
  const asked = { status, templateId, sort, order: direction }, [turn, setTurn] = useState(0), timers = useRef({});
  const { rows, total, place, error, show } = useRuns(asked, after, turn);
  const { data: known } = useLoaded((signal) => get('/api/templates', { signal }), []);
  const chosen = Boolean(status || templateId), path = `/api/runs${queryText({ ...asked, limit: LIMIT })}`;
  const moved = useCallback((from, to, first) => {
    clearTimeout(timers.current.place);
    timers.current.wanted = [from, to];
    timers.current.show ||= setTimeout(() => {
      timers.current.show = 0;
      show(...timers.current.wanted);
    }, ASKED_MS);
    const placed = () => {
      const before = first > 0 ? rows.rows.get(first - 1)?.runId : undefined;
      if (first > 0 && !before) timers.current.place = setTimeout(placed, PLACED_MS); // it is being loaded
      else if (location.hash.startsWith('#/runs?') || location.hash === '#/runs') history.replaceState(null, '', link('runs', { ...route.query, after: before }));
    };
    timers.current.place = setTimeout(placed, PLACED_MS);
  }, [rows, show, route.hash]);
  useEffect(() => () => [timers.current.show, timers.current.place].forEach(clearTimeout), []);
  const option = (chosenOne) => ([value, words]) => html`<option value=${value} selected=${value === chosenOne}>${words}</option>`;
  return html`<${Title} about="Jobs of many steps, done by templates; those that this key has begun.">Runs<//>
    <${Filters} parts="runs">
      <label>Status <select name="status"><option value="">any</option>${STATUSES.map((one) => [one, one.replaceAll('_', ' ')]).map(option(status))}</select></label>
      <label>Template <select name="templateId"><option value="">any</option>${(known?.templates ?? []).map((one) => [one.templateId, one.templateId]).map(option(templateId))}</select></label>
      <label>First those <select name="order">${Object.entries(ORDERS).map(option(`${sort}.${direction}`))}</select></label>
      ${chosen && html`<a href=${link('runs')}>Show all</a>`}
      <button type="button" class="small" onClick=${() => setTurn(turn + 1)}>Look again</button>
    <//>
    ${error && html`<${Failure} error=${error} again=${() => setTurn(turn + 1)} />`}
    ${total === undefined && !error && html`<${Loading} />`}
    ${total !== undefined && html`<${Card} title=${`${number(total)} ${total === 1 ? 'run' : 'runs'}`}>
      <${VirtualTable} key=${JSON.stringify([asked, turn])} caption=${`Runs, ${ORDERS[`${sort}.${direction}`]} first`} columns=${COLUMNS} count=${total} place=${place}
        rowAt=${(index) => rows.rows.get(index)} keyOf=${(_run, index, slots) => index % slots} moved=${moved}
        empty=${chosen ? 'No run is like that.' : 'No run was begun with this key. weft run TEMPLATE begins one, as does POST /api/runs.'} /><//>`}
    <${CopyAs} call=${['GET', path]} tool=${['list_task_runs', { ...(status && { status }), ...(templateId && { templateId }), limit: LIMIT }]}
      shell=${['runs', 'list', ...(status ? ['--status', status] : []), ...(templateId ? ['--template', templateId] : [])]} />`;
}
