// What was learned of the APIs behind pages, by domain: how far each is trusted and why; verified and forgotten here.
import { html, useState } from '../htm.js';
import { call, get, query as queryText } from '../api.js';
import { Act, Badge, Card, CopyAs, Failure, Figure, Figures, Filters, Loading, Table, Time, Title, number, useLoaded } from '../parts.js';
import { go, link } from '../router.js';

const LIMIT = 50;

function Trust({ of }) {
  return html`<span><meter min="0" max="1" low="0.5" high="0.75" optimum="1" value=${of.confidenceScore} aria-label=${`Trust in ${of.patternId}`}></meter>
    ${' '}${of.confidenceScore.toFixed(2)} <${Badge} of=${of.trust} /></span>`;
}

const COLUMNS = [
  { name: 'Domain', cell: (one) => html`<a href=${link(['patterns', one.patternId])}><b>${one.domain}</b></a>` },
  { name: 'Pages', cell: (one) => (one.page ? html`<code>${one.page}</code>` : html`<span class="soft">a hint: it makes no page</span>`) },
  { name: 'Trust', cell: (one) => html`<${Trust} of=${one} />` },
  { name: 'Reproduced', number: true, cell: (one) => number(one.reproduced) },
  { name: 'Last verified', cell: (one) => html`<${Time} at=${one.lastVerifiedAt} />` },
];

export function Patterns({ route }) {
  const { domain = '', cursor = '' } = route.query, path = `/api/patterns${queryText({ domain, cursor, limit: LIMIT })}`;
  const { data, error, again } = useLoaded((signal) => get(path, { signal }), [path]);
  return html`<${Title} about="APIs that answer for the pages of a site, learned from pages that were rendered.">Patterns<//>
    <${Filters} parts="patterns"><label>Domain <input name="domain" value=${domain} placeholder="any" autocomplete="off" spellcheck="false" /></label>
      <button class="small">Filter</button>${domain && html`<a href=${link('patterns')}>Show all</a>`}<//>
    ${error && html`<${Failure} error=${error} again=${again} />`}
    ${!data && !error && html`<${Loading} />`}
    ${data && html`<${Card} title="Learned">
      <${Table} caption="Learned patterns, by domain" columns=${COLUMNS} rows=${data.patterns} keyOf=${(one) => one.patternId}
        empty=${domain ? 'Nothing was learned of this domain.' : 'Nothing was learned yet: it is while pages with scripts are read.'} />
      ${data.nextCursor && html`<p><a class="button" href=${link('patterns', { domain, cursor: data.nextCursor })}>More</a></p>`}
    <//>`}
    <${CopyAs} call=${['GET', path]} shell=${['patterns', 'list', ...(domain ? [domain] : [])]} />`;
}

const DECAYS = [
  { name: 'When', cell: (one) => html`<${Time} at=${one.at} />` },
  { name: 'Why', cell: (one) => one.reason.replaceAll('_', ' ') },
  { name: 'Trust lost', number: true, cell: (one) => one.shift.toFixed(2) },
];

function Verify({ pattern, path, done }) {
  const [url, setUrl] = useState(''), [verdict, setVerdict] = useState(null);
  const slotted = /\{/.test(pattern.page ?? '');
  const verify = async () => {
    const found = await call('POST', `${path}/verify`, { body: url ? { url } : {} });
    setVerdict(found);
    done(found.pattern);
  };
  return html`<${Card} title="Verify it">
    <p class="soft">A page is rendered, the pattern makes the same one, and both are compared.</p>
    ${slotted && html`<p><label for="verified">A page that it answers for</label><br /><input id="verified" type="url" placeholder=${pattern.page} value=${url} onInput=${(event) => setUrl(event.currentTarget.value)} /></p>`}
    <${Act} words="Verify" kind="primary" act=${verify} />
    ${verdict && html`<p role="status"><${Badge} of=${verdict.same === false || !verdict.answered ? 'different' : 'same'}>${verdict.same === undefined ? (verdict.answered ? 'its API answers' : 'its API does not answer') : verdict.same ? 'both say the same' : 'they differ'}<//>
      ${' '}${verdict.reason} ${verdict.unlike?.length > 0 && `Different: ${verdict.unlike.join(', ')}.`}</p>`}
  <//>`;
}

export function Pattern({ route, me }) {
  const id = route.parts[1], path = `/api/patterns/${encodeURIComponent(id)}`;
  const { data, error, again } = useLoaded((signal) => get(path, { signal }), [path]);
  const [newer, setNewer] = useState(null), pattern = newer ?? data?.pattern;
  const forget = async () => {
    await call('DELETE', path);
    go('patterns');
  };
  return html`<${Title} about=${html`<a href=${link('patterns')}>All patterns</a> · <code>${id}</code>`}>Pattern<//>
    ${error && html`<${Failure} error=${error} again=${again} />`}
    ${!pattern && !error && html`<${Loading} />`}
    ${pattern && html`<${Card} title=${pattern.domain}>
        <p>${pattern.requests.map((one) => html`<code>${one.method ?? 'GET'} ${one.url}</code> `)}</p>
        <p>${pattern.page ? html`makes the pages <code>${pattern.page}</code>` : 'is a hint: it makes no page yet'}${pattern.archived && html` <${Badge} tone="plain">archived<//>`}</p>
        <${Figures}>
          <${Figure} name="Trust" value=${html`<${Trust} of=${pattern} />`} />
          <${Figure} name="Pages reproduced" value=${number(pattern.reproduced)} about=${`${number(pattern.failures)} failed`} />
          <${Figure} name="Last verified" value=${html`<${Time} at=${pattern.lastVerifiedAt} />`} />
          <${Figure} name="Last used" value=${html`<${Time} at=${pattern.lastUsedAt} />`} />
        <//>
        <p class="soft">Where it comes from: ${pattern.source.replaceAll('_', ' ')}${pattern.reason && `, ${pattern.reason}`}</p>
      <//>
      <${Verify} pattern=${pattern} path=${path} done=${setNewer} />
      <${Card} title="Trust that it lost"><${Table} caption="When the pattern has lost trust" columns=${DECAYS} rows=${pattern.decays} empty="It has lost none." /><//>
      ${data?.shapes.length > 0 && html`<${Card} title="What its API answers"><pre class="wrap" tabindex="0">${JSON.stringify(data.shapes, null, 2)}</pre><//>`}
      <div class="row">${me.scopes.includes('operate') && html`<${Act} words="Forget it" sure="Forget this pattern? It may be learned again." act=${forget} />`}
        <${CopyAs} call=${['GET', path]} shell=${['patterns', 'show', id]} /></div>`}`;
}
