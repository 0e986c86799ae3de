// The keys that were given out: made here and shown once, and taken back.
import { html, useState } from '../htm.js';
import { call, get } from '../api.js';
import { Act, Badge, Card, Copy, CopyAs, Failure, Loading, Table, Time, Title, useLoaded } from '../parts.js';

const LIVES = [['', 'for ever'], [3_600, 'an hour'], [86_400, 'a day'], [2_592_000, '30 days'], [31_536_000, 'a year']];
const UNASKED = new Set(['integrations', 'models', 'routes', 'operate', 'pair']);

function Made({ made, seen }) {
  return html`<${Card} title=${`The key ${made.name}`} kind="made">
    <p role="status">It is shown this once: keep it where it is needed.</p>
    <pre class="wrap" tabindex="0">${made.key}</pre>
    <div class="row"><${Copy} text=${made.key}>Copy the key<//><button type="button" class="small" onClick=${seen}>I have it</button></div>
  <//>`;
}

function Make({ me, done }) {
  const [error, setError] = useState(null), [busy, setBusy] = useState(false);
  const make = async (event) => {
    event.preventDefault();
    const form = event.currentTarget, given = new FormData(form), life = Number(given.get('life'));
    setBusy(true);
    setError(null);
    try {
      done(await call('POST', '/api/keys', { body: { name: given.get('name'), scopes: given.getAll('scope'), ...(life && { expiresIn: life }) } }));
      form.reset();
    } catch (failure) {
      setError(failure);
    }
    setBusy(false);
  };
  return html`<${Card} title="Make a key"><form class="fields" onSubmit=${make}>
    <label for="name">Name</label>
    <input id="name" name="name" required maxlength="64" pattern="[A-Za-z0-9_\\-][A-Za-z0-9_.\\-]*" autocomplete="off" spellcheck="false" aria-describedby="name-about" />
    <p id="name-about" class="soft">Letters, digits and . _ - alone</p>
    <fieldset><legend>Good for</legend>${me.scopes.filter((scope) => scope !== 'pair').map((scope) => html`<label class="check">
      <input type="checkbox" name="scope" value=${scope} checked=${!UNASKED.has(scope)} /> ${scope}</label>`)}</fieldset>
    <label for="life">Good for how long</label>
    <select id="life" name="life">${LIVES.map(([value, words]) => html`<option value=${value}>${words}</option>`)}</select>
    <div class="row"><button class="primary" disabled=${busy}>Make it</button></div>
  </form>${error && html`<p class="bad" role="alert">${error.message}</p>`}<//>`;
}

export function Keys({ me }) {
  const { data, error, again } = useLoaded((signal) => get('/api/keys', { signal }), []);
  const [made, setMade] = useState(null);
  const revoke = (id) => async () => {
    await call('DELETE', `/api/keys/${encodeURIComponent(id)}`);
    again();
  };
  const columns = [
    { name: 'Name', cell: (one) => html`<b>${one.name}</b> <code>${one.id}</code>` },
    { name: 'Good for', cell: (one) => html`<span class="row">${one.scopes.map((scope) => html`<${Badge} of=${scope} tone=${UNASKED.has(scope) ? 'warn' : 'plain'} />`)}</span>` },
    { name: 'Made', cell: (one) => html`<${Time} at=${one.created} />` },
    { name: 'Ends', cell: (one) => (one.expires ? html`<${Time} at=${one.expires} />` : html`<span class="soft">never</span>`) },
    { name: 'Take back', cell: (one) => html`<${Act} words="Revoke" kind="small" sure=${`Revoke ${one.name}? Its saved logins are deleted.`} act=${revoke(one.id)} />` },
  ];
  const done = (key) => {
    setMade(key);
    again();
  };
  return html`<${Title} about="What others come in with. The owner's own key is not among them.">Keys<//>
    ${made && html`<${Made} made=${made} seen=${() => setMade(null)} />`}
    ${error && html`<${Failure} error=${error} again=${again} />`}
    ${!data && !error && html`<${Loading} />`}
    ${data && html`<${Card} title="Given out"><${Table} caption="Keys" columns=${columns} rows=${data.keys} keyOf=${(one) => one.id} empty="No key was given out." /><//>
      <${Make} me=${me} done=${done} />`}
    <${CopyAs} call=${['GET', '/api/keys']} shell=${['keys', 'list']} />`;
}
