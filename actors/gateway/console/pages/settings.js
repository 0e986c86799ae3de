// Every setting: what it is, where that comes from, and what it does; secrets are never told.
import { html, useState } from '../htm.js';
import { get } from '../api.js';
import { Badge, Card, CopyAs, Failure, Filters, Loading, Title, number, useLoaded } from '../parts.js';
import { link } from '../router.js';

const SOURCES = { default: 'the default', file: 'a file', environment: 'the environment', flag: 'the command line' };
const shown = (value) => (value === '' ? html`<span class="soft">empty</span>` : html`<code>${value}</code>`);

function Setting({ one }) {
  return html`<li class="setting">
    <div class="row"><b>${one.name}</b> ${one.source === 'default' ? html`<span class="soft">default</span>` : html`<${Badge} tone="info">${one.source}<//>`}
      ${one.secret && html`<${Badge} tone="warn">secret<//>`}</div>
    <p class="value">${shown(one.value)}${one.source !== 'default' && html` <span class="soft">from <code>${one.origin}</code>${!one.secret && html`; the default is ${shown(one.default)}`}</span>`}</p>
    <p>${one.description}</p>
    <p class="soft">${one.type} · <code>${one.variable}</code></p>
  </li>`;
}

export function Settings({ route }) {
  const { data, error, again } = useLoaded((signal) => get('/api/settings', { signal }), []);
  const [words, setWords] = useState(route.query.find ?? ''), source = route.query.source ?? '';
  const wanted = words.trim().toLowerCase(), fits = (one) => (!source || one.source === source) && `${one.name} ${one.variable} ${one.description}`.toLowerCase().includes(wanted);
  const rows = (data?.settings ?? []).filter(fits);
  return html`<${Title} about="What this Weft was started with, at the host of this gateway. It is changed in a file, in a variable or on the command line, and counts from the next start.">Settings<//>
    <${Filters} parts="settings">
      <label>Find <input type="search" name="find" value=${words} autocomplete="off" spellcheck=${false}
        onInput=${(event) => setWords(event.currentTarget.value)} onChange=${(event) => event.stopPropagation()} /></label>
      <label>From <select name="source"><option value="">anywhere</option>
        ${Object.entries(SOURCES).map(([value, name]) => html`<option value=${value} selected=${value === source}>${name}</option>`)}</select></label>
      ${(source || words) && html`<a href=${link('settings')} onClick=${() => setWords('')}>Show all</a>`}
    <//>
    ${error && html`<${Failure} error=${error} again=${again} />`}
    ${!data && !error && html`<${Loading} />`}
    ${data && html`<${Card} title=${`${number(rows.length)} of ${number(data.settings.length)} settings`}>
      ${rows.length ? html`<ul class="settings">${rows.map((one) => html`<${Setting} key=${one.name} one=${one} />`)}</ul>` : html`<p class="empty">No setting is like that.</p>`}<//>`}
    <${CopyAs} call=${['GET', '/api/settings']} shell=${['doctor']} />`;
}
