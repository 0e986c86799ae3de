// What waits for a person: what would be done, why it is asked about, and the answer; what is new comes by itself.
import { html, useEffect, useState } from '../htm.js';
import { call, follow, get } from '../api.js';
import { Act, Badge, Card, CopyAs, Failure, Filters, Loading, Time, Title, duration, useLoaded } from '../parts.js';
import { link } from '../router.js';

const KEPT = 200;
const REMEMBERED = { once: 'this call alone', conversation: 'this conversation', site: 'this site' };

// The list as it was told, with what has been heard since in place of what it was.
function merged(listed, heard, pending) {
  const known = new Map(listed.map((one) => [one.id, one]));
  for (const one of heard) if (one.state !== 'pending' || !known.has(one.id)) known.set(one.id, one); // none waits a second time
  return [...known.values()].filter((one) => !pending || one.state === 'pending').sort((one, other) => other.createdAt - one.createdAt);
}

function useHeard(opened) {
  const [state, setState] = useState({ heard: [], broken: false });
  const answered = (approval) => setState((now) => ({ ...now, heard: [...now.heard.filter((one) => one.id !== approval.id), approval].slice(-KEPT) }));
  useEffect(() => {
    const stop = new AbortController();
    const broken = (is) => setState((now) => (now.broken === is ? now : { ...now, broken: is }));
    const hear = (_state, approval) => { answered(approval); };
    follow('/api/approvals/events', hear, { signal: stop.signal, broken, opened }).catch(() => broken(true));
    return () => stop.abort();
  }, []);
  return { ...state, answered };
}

function Answer({ approval, answered }) {
  const [remember, setRemember] = useState('once');
  const answer = (word) => async () => answered(await call('POST', `/api/approvals/${encodeURIComponent(approval.id)}`, { body: { answer: word, remember } }));
  return html`<div class="row answer">
    <label>Counts for <select value=${remember} onChange=${(event) => setRemember(event.currentTarget.value)}>
      ${Object.entries(REMEMBERED).map(([value, words]) => html`<option value=${value}>${words}</option>`)}</select></label>
    <${Act} words="Allow" kind="primary" act=${answer('allow')} />
    <${Act} words="Deny" act=${answer('deny')} />
    <span class="soft">Unanswered it is denied in ${duration(Math.max(approval.expiresAt - Date.now(), 0))}.</span>
  </div>`;
}

function Approval({ approval, answered }) {
  const { decision, result } = approval;
  return html`<${Card} as="article" title=${approval.tool} kind=${`approval ${approval.state}`} aside=${html`<span><${Badge} of=${approval.state} /> <${Time} at=${approval.createdAt} /></span>`}>
    <p class="words">${approval.words}</p>
    ${approval.effect && html`<p><b>What it would change:</b> ${approval.effect}</p>`}
    <p><b>Why it waits:</b> ${decision.why || decision.reasonCode} <code>${decision.reasonCode}</code>${decision.rule && html` <span class="soft">${decision.rule}</span>`}</p>
    ${decision.tainted?.length > 0 && html`<p class="bad">Words of a page stand in: ${decision.tainted.join(', ')}.</p>`}
    ${approval.site && html`<p class="soft">At ${approval.site}</p>`}
    <details><summary>The arguments</summary><pre class="wrap" tabindex="0">${JSON.stringify(approval.arguments, null, 2)}</pre></details>
    ${approval.state === 'pending' && html`<${Answer} approval=${approval} answered=${answered} />`}
    ${result && html`<p>It ran: <${Badge} of=${result.status} tone=${result.status === 'ok' ? 'good' : 'bad'} /> ${result.fault?.message}</p>`}
    <div class="row"><a href=${link(['approvals', approval.id])}>Link to this one</a>
      <${CopyAs} call=${['GET', `/api/approvals/${encodeURIComponent(approval.id)}`]} shell=${['approvals', 'allow', approval.id]} /></div>
  <//>`;
}

export function Approvals({ route }) {
  const id = route.parts[1], all = route.query.all === '1';
  const path = id ? `/api/approvals/${encodeURIComponent(id)}` : `/api/approvals?pending=${!all}&limit=100`;
  const { data, error, again } = useLoaded((signal) => get(path, { signal }), [path]);
  const { heard, broken, answered } = useHeard(again);
  const listed = data && merged(id ? [data] : data.approvals, id ? heard.filter((one) => one.id === id) : heard, !id && !all);
  return html`<${Title} about=${id ? html`<a href=${link('approvals')}>All that waits</a>` : 'Calls of tools that a person has to allow. What nobody answers is denied.'}>Approvals<//>
    ${!id && html`<${Filters} parts="approvals"><label class="check"><input type="checkbox" name="all" value="1" checked=${all} /> show what was answered, too</label><//>`}
    ${error && html`<${Failure} error=${error} again=${again} />`}
    ${!data && !error && html`<${Loading} />`}
    <p role="status" class=${broken ? 'bad' : 'sr'}>${broken ? 'The gateway does not answer; what is new comes when it does.' : listed ? `${listed.filter((one) => one.state === 'pending').length} wait` : ''}</p>
    ${listed?.length === 0 && html`<${Card}><p class="empty">Nothing waits for you.</p><//>`}
    ${listed?.map((one) => html`<${Approval} key=${one.id} approval=${one} answered=${answered} />`)}`;
}
