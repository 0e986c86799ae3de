// What was read: the list, and one page as it was then, beside another visit of it.
import { html } from '../htm.js';
import { get, query as queryText } from '../api.js';
import { Diff } from '../diff.js';
import { Markdown, WebLink } from '../markdown.js';
import { Badge, Card, CopyAs, Failure, Figure, Figures, Filters, Loading, Table, Time, Title, duration, number, useLoaded } from '../parts.js';
import { link } from '../router.js';
import { TIERS } from '../system.js';
import { Picture } from './browsers.js';
import { Confidence, Ladder, LeftOut, Looks, Requests } from './page.js';

const LIMIT = 50;
const OUTCOMES = { '': 'any', read: 'was read', failed: 'was not to be had' };

const COLUMNS = [
  { name: 'Page', cell: (one) => html`<a href=${link(['visits', one.id])}><b>${one.title || one.url}</b></a>${one.title && html`<br /><span class="soft">${one.url}</span>`}` },
  { name: 'Came of it', cell: (one) => (one.code ? html`<${Badge} of="failed" /> <code>${one.code}</code>` : html`<${Badge} tone="good">${one.tier}<//>${one.fromCache ? ' from memory' : ''}`) },
  { name: 'How sure', number: true, cell: (one) => one.confidence?.toFixed(2) ?? '–' },
  { name: 'Took', number: true, cell: (one) => duration(one.tookMs) },
  { name: 'Characters', number: true, cell: (one) => (one.code ? '–' : number(one.chars)) },
  { name: 'When', cell: (one) => html`<${Time} at=${one.at} />` },
];

const choices = (all, chosen) => Object.entries(all).map(([value, words]) => html`<option value=${value} selected=${value === chosen}>${words}</option>`);

export function Visits({ route }) {
  const { host = '', tier = '', outcome = '', cursor = '' } = route.query, path = `/api/visits${queryText({ host, tier, outcome, cursor, limit: LIMIT })}`;
  const { data, error, again } = useLoaded((signal) => get(path, { signal }), [path]);
  const chosen = Boolean(host || tier || outcome);
  return html`<${Title} about=${`Pages as you have read them${data ? `, kept for ${data.keptDays === 1 ? 'a day' : `${data.keptDays} days`}` : ''}. Those of a saved login are not kept.`}>History<//>
    <${Filters} parts="visits">
      <label>Host <input name="host" value=${host} placeholder="any" autocomplete="off" spellcheck="false" /></label>
      <label>Tier <select name="tier">${choices({ '': 'any', ...Object.fromEntries(TIERS.map((one) => [one, one])) }, tier)}</select></label>
      <label>Came of it <select name="outcome">${choices(OUTCOMES, outcome)}</select></label>
      <button class="small">Filter</button>${(chosen || cursor) && html`<a href=${link('visits')}>Show all</a>`}<//>
    ${error && html`<${Failure} error=${error} again=${again} />`}
    ${!data && !error && html`<${Loading} />`}
    ${data && html`<${Card} title="What was read">
      <${Table} caption="Visits, newest first" columns=${COLUMNS} rows=${data.visits} keyOf=${(one) => one.id}
        empty=${data.keptDays === 0 ? 'Nothing is kept: the setting keep_pages_days is 0.' : chosen ? 'No visit is like that.' : 'Nothing was read with this key yet.'} />
      ${data.nextCursor && html`<p><a class="button" href=${link('visits', { host, tier, outcome, cursor: data.nextCursor })}>Older</a></p>`}<//>`}
    <${CopyAs} call=${['GET', path]} />`;
}

function Others({ id, against, path }) {
  const { data } = useLoaded((signal) => get(`/api/visits?page=${encodeURIComponent(id)}&outcome=read&limit=20`, { signal }), [id]);
  const others = (data?.visits ?? []).filter((one) => one.id !== id);
  if (!others.length) return null;
  const columns = [...COLUMNS.slice(1), { name: 'Compare', cell: (one) => html`<a href=${link(['visits', id], { against: one.id })} aria-current=${one.id === against ? 'true' : null}>with this one</a>` }];
  return html`<${Card} title="Other visits to it"><${Table} caption="Other visits to the same address" columns=${columns} rows=${others} keyOf=${(one) => one.id} /><//>`;
}

function Compared({ visit, against }) {
  const { data, error } = useLoaded((signal) => get(`/api/visits/${encodeURIComponent(against)}`, { signal }), [against]);
  const other = data?.visit, older = other && other.at <= visit.at;
  return html`<${Card} title="What has changed" aside=${other && html`<span class="soft">from <${Time} at=${older ? other.at : visit.at} /> to <${Time} at=${older ? visit.at : other.at} /></span>`}>
    ${error && html`<${Failure} error=${error} />`}${!data && !error && html`<${Loading} />`}
    ${other && html`<${Diff} before=${(older ? other : visit).markdown ?? ''} after=${(older ? visit : other).markdown ?? ''} />`}<//>`;
}

function Read({ visit, me }) {
  return html`<${LeftOut} counts=${visit.leftOut} />
    <div class="two"><${Card} title="What it said" kind="words"><${Markdown} text=${visit.markdown ?? ''} />
        ${visit.chars > (visit.markdown ?? '').length && html`<p class="soft">Its beginning: it had ${number(visit.chars)} characters.</p>`}<//>
      <div>${visit.screenshot && html`<${Card} title="How it looked"><${Picture} path=${`/api/visits/${encodeURIComponent(visit.id)}/screenshot`} words="The page as the browser showed it" /><//>`}
        ${me.scopes.includes('browser') && html`<${Looks} url=${visit.finalUrl || visit.url} title="How it looks now" />`}
        ${visit.fieldConfidence && html`<${Confidence} of=${visit.fieldConfidence} />`}
        ${visit.decisionTrace && html`<${Ladder} trace=${visit.decisionTrace} />`}</div></div>
    <${Requests} all=${visit.requests ?? []} />`;
}

export function Visit({ route, me }) {
  const id = route.parts[1], path = `/api/visits/${encodeURIComponent(id)}`, { against = '' } = route.query;
  const { data, error, again } = useLoaded((signal) => get(path, { signal }), [path]);
  const visit = data?.visit;
  return html`<${Title} about=${html`<a href=${link('visits')}>All that was read</a> · <code>${id}</code>`}>${visit?.title || 'A visit'}<//>
    ${error && html`<${Failure} error=${error} again=${again} />`}
    ${!visit && !error && html`<${Loading} />`}
    ${visit && html`<${Card} title="How it was">
        <p><${WebLink} href=${visit.finalUrl || visit.url}>${visit.finalUrl || visit.url}<//></p>
        <${Figures}>
          <${Figure} name="Came of it" value=${visit.code ? html`<${Badge} of="failed" />` : html`<${Badge} tone="good">${visit.tier}<//>`} about=${visit.fromCache ? 'from memory' : visit.status ? `status ${visit.status}` : ''} />
          <${Figure} name="When" value=${html`<${Time} at=${visit.at} />`} />
          <${Figure} name="Took" value=${duration(visit.tookMs)} />
          <${Figure} name="Characters" value=${number(visit.chars)} about=${visit.language} />
        <//>
        ${visit.code && html`<p class="bad"><b>${visit.error}</b> <code>${visit.code}</code></p>`}
        ${visit.walls?.length > 0 && html`<p class="bad">A part of it stood behind: ${visit.walls.join(', ')}.</p>`}
        <div class="row"><a class="button" href=${link('page', { url: visit.url })}>Read it now</a><${CopyAs} call=${['GET', path]} /></div><//>
      <${Others} id=${id} against=${against} path=${path} />
      ${against && html`<${Compared} visit=${visit} against=${against} />`}
      ${!visit.code && html`<${Read} visit=${visit} me=${me} />`}`}`;
}
