// Saved logins: how each stands; renewed and forgotten here. No value of one is ever told.
import { html } from '../htm.js';
import { call, get, query as queryText } from '../api.js';
import { Act, Badge, Card, CopyAs, Failure, Loading, Table, Time, Title, number, useLoaded } from '../parts.js';

const TONES = { healthy: 'good', expiring_soon: 'warn', stale: 'warn', expired: 'bad', not_found: 'bad' };

const COLUMNS = [
  { name: 'Site', cell: (one) => html`<b>${one.domain}</b>${one.profile !== 'default' && html` <span class="soft">as ${one.profile}</span>`}` },
  { name: 'Health', cell: (one) => html`<${Badge} tone=${TONES[one.health]}>${one.health.replaceAll('_', ' ')}<//>` },
  { name: 'Holds', cell: (one) => html`${number(one.cookies)} ${one.cookies === 1 ? 'cookie' : 'cookies'}${one.authCookies?.length ? html`, of the login <code>${one.authCookies.join(' ')}</code>` : ''}` },
  { name: 'Ends', cell: (one) => (one.expires ? html`<${Time} at=${one.expires} />` : html`<span class="soft">it does not say</span>`) },
  { name: 'Last used', cell: (one) => html`<${Time} at=${one.used} />` },
  { name: 'Shared with', cell: (one) => (one.grants?.length ? one.grants.map((grant) => html`<code>${grant.key}</code> `) : html`<span class="soft">${one.readOnly ? 'yours to read with' : 'nobody'}</span>`) },
];

export function Logins() {
  const { data, error, again } = useLoaded((signal) => get('/api/sessions', { signal }), []);
  const at = (one, action = '') => `/api/sessions/${encodeURIComponent(one.domain)}${action}${queryText({ profile: one.profile })}`;
  const done = (method, path) => async () => {
    await call(method, path);
    again();
  };
  const actions = { name: 'Do', cell: (one) => html`<div class="row">
    <${Act} words="Renew" kind="small" act=${done('POST', at(one, '/refresh'))} />
    <${Act} words="Forget" kind="small" sure="Forget this login?" act=${done('DELETE', at(one))} /></div>` };
  return html`<${Title} about="Logins that pages are read with: kept sealed, and told to nobody.">Logins<//>
    ${error && html`<${Failure} error=${error} again=${again} />`}
    ${!data && !error && html`<${Loading} />`}
    ${data && html`<${Card} title=${`${number(data.sessions.length + (data.more ?? 0))} saved`}>
      <${Table} caption="Saved logins" columns=${[...COLUMNS, actions]} rows=${data.sessions} keyOf=${(one) => `${one.domain} ${one.profile}`}
        empty="No login is saved with this key. weft sessions import keeps one, as does POST /api/sessions." />
      ${data.more > 0 && html`<p class="soft">${number(data.more)} more are not shown.</p>`}<//>`}
    <${CopyAs} call=${['GET', '/api/sessions']} shell=${['sessions', 'list']} />`;
}
