// The packets that pass on the bus, live and without their secrets; the last of them are kept, and all are counted.
import { html, useEffect, useLayoutEffect, useRef, useState } from '../htm.js';
import { ApiError, follow, query as queryText } from '../api.js';
import { Badge, Card, CopyAs, Failure, Figure, Figures, Filters, Title, bytes, duration, number } from '../parts.js';
import { link } from '../router.js';
import { VirtualTable } from '../virtual.js';

const KEPT = 500;
const DRAW_MS = 250;

// {rows, passed, lost, broken, error}: the newest row first. While it is `paused` what passes is counted, and not kept.
function useTap(path, paused) {
  const [state, setState] = useState({ rows: [], passed: 0, lost: 0, skipped: 0, broken: false });
  const halted = useRef(paused);
  useLayoutEffect(() => { halted.current = paused; }, [paused]);
  useEffect(() => {
    const stop = new AbortController(), heard = { rows: [], passed: 0, lost: 0, skipped: 0, before: 0 };
    let timer = 0;
    const draw = () => {
      timer = 0;
      const { rows, passed, lost, skipped, before } = heard;
      setState((now) => ({ ...now, rows, passed, skipped, lost: lost + before }));
    };
    const hear = (name, data) => {
      if (name === 'error') {
        setState((now) => ({ ...now, error: new ApiError(503, data) }));
        return true;
      }
      heard.lost = data.lost;
      for (const packet of data.packets) packet.number = ++heard.passed;
      if (halted.current) heard.skipped += data.packets.length;
      else heard.rows = [...data.packets.reverse(), ...heard.rows].slice(0, KEPT);
      timer ||= setTimeout(draw, DRAW_MS);
      return false;
    };
    const broken = (is) => setState((now) => (now.broken === is ? now : { ...now, broken: is }));
    const opened = () => { [heard.before, heard.lost] = [heard.before + heard.lost, 0]; };
    setState({ rows: [], passed: 0, lost: 0, skipped: 0, broken: false });
    follow(path, hear, { signal: stop.signal, broken, opened }).catch((error) => setState((now) => ({ ...now, error })));
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [path]);
  return state;
}

const clock = (at) => `${new Date(at).toLocaleTimeString('en-GB')}.${String(at % 1_000).padStart(3, '0')}`;
const addressed = (one) => (one.subject.startsWith('_INBOX.') ? `answer to ${one.subject.split('.')[1]}` : one.subject);
const about = (one) => one.task || (one.inReplyTo ? `re ${one.inReplyTo.slice(0, 8)}` : one.type || '–');

function columns(choose) {
  return [
    { name: 'Time', width: '7.5rem', cell: (one) => html`<span class="soft">${clock(one.at)}</span>` },
    { name: 'Subject', width: 'minmax(0, 2fr)', cell: (one) => html`<button type="button" class="plain" title=${one.subject} onClick=${() => choose(one)}>${addressed(one)}</button>` },
    { name: 'What', width: 'minmax(0, 1.3fr)', cell: (one) => html`${one.error ? html`<span class="bad">${about(one)} ${one.error}</span>` : about(one)}` },
    { name: 'From', width: 'minmax(0, 1.1fr)', cell: (one) => html`<span class="soft" title=${one.sender}>${one.sender || '–'}</span>` },
    { name: 'Size', width: '5.5rem', number: true, cell: (one) => bytes(one.size) },
  ];
}

function Packet({ packet, close }) {
  const { number: place, packet: whole, ...head } = packet;
  return html`<${Card} title=${`Packet ${number(place)}: ${addressed(packet)}`} aside=${html`<button type="button" class="small" onClick=${close}>Close it</button>`}>
    ${whole === undefined && html`<p class="soft">It is too large to be shown whole, or is no packet.</p>`}
    <pre class="wrap" tabindex="0">${JSON.stringify(whole === undefined ? head : { headers: packet.headers, ...whole }, null, 2)}</pre><//>`;
}

// The calls of one conversation, each from its request to its answer, by who has answered; what has no answer yet ends with the last packet.
function callsOf(rows, conversation) {
  const own = rows.filter((one) => one.conversationId === conversation).sort((one, other) => one.number - other.number);
  const answers = new Map(own.filter((one) => one.inReplyTo).map((one) => [one.inReplyTo, one]));
  const begin = own[0]?.at ?? 0, end = Math.max(...own.map((one) => one.at), begin + 1);
  const calls = own.filter((one) => one.type === 'request').map((one) => ({ request: one, answer: answers.get(one.id), event: one.subject.startsWith('events.') }));
  return { begin, end, calls };
}

function Conversation({ rows, id, whole }) {
  const { begin, end, calls } = callsOf(rows, id), place = (at) => (1_000 * (at - begin)) / (end - begin);
  if (!calls.length) return null;
  return html`<${Card} title="Its conversation" aside=${html`<span class="soft">${duration(end - begin)} in all, as far as it is kept here</span>`}>
    ${!whole && html`<p class="soft">Answers pass on subjects of their own: <a href=${link(['bus', 'tap'])}>tap all</a> to see them.</p>`}
    <ol class="timeline">${calls.map(({ request, answer, event }) => {
      const until = answer?.at ?? (event ? request.at : end), from = place(request.at), by = (answer?.sender ?? '').split('/')[0];
      return html`<li key=${request.number} class=${answer?.error ? 'failed' : answer ? 'succeeded' : 'skipped'}>
        <span class="name" title=${request.sender}><b>${by || (event ? 'told to all' : whole ? 'no answer yet' : request.subject)}</b></span>
        <svg class="bar" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true"><rect x=${Math.min(from, 994)} width=${Math.max(place(until) - from, 6)} height="10" rx="2" /></svg>
        <span class="soft number">${answer ? duration(until - request.at) : ''}</span>
        <span><code>${request.task}</code> ${answer?.error && html`<span class="bad">${answer.error}</span>`}</span></li>`;
    })}</ol><//>`;
}

export function Tap({ route }) {
  const subject = route.query.subject || '>', path = `/api/bus/tap${queryText({ subject })}`;
  const [paused, setPaused] = useState(false), [chosen, setChosen] = useState(null);
  const { rows, passed, lost, skipped, broken, error } = useTap(path, paused);
  return html`<${Title} about=${html`<a href=${link('bus')}>The bus</a> · what passes on it, its secrets masked`}>Live tap<//>
    <${Filters} parts=${['bus', 'tap']}>
      <label>Subject <input name="subject" value=${subject} autocomplete="off" spellcheck=${false} pattern="[A-Za-z0-9_$*>.\\-]+" /></label>
      <button class="small">Tap</button>
      <button type="button" class="small" aria-pressed=${paused} onClick=${() => setPaused(!paused)}>${paused ? 'Go on' : 'Pause'}</button>
    <//>
    ${error && html`<${Failure} error=${error} />`}
    <p role="status" class=${broken ? 'bad' : 'sr'}>${broken ? 'The gateway does not answer; the tap goes on when it does, and what passes meanwhile is not seen.' : paused ? 'Paused' : 'Tapping'}</p>
    <${Card} title="Packets" aside=${html`<${Badge} tone=${broken ? 'bad' : paused ? 'warn' : 'info'}>${broken ? 'broken off' : paused ? 'paused' : 'live'}<//>`}>
      <${Figures}>
        <${Figure} name="Passed" value=${number(passed)} about=${`the last ${KEPT} are kept`} />
        <${Figure} name="Lost" value=${number(lost)} tone=${lost ? 'bad' : ''} about="came faster than they were read" />
        <${Figure} name="Passed by" value=${number(skipped)} about="while it was paused" />
      <//>
      <${VirtualTable} caption="Packets, newest first" columns=${columns(setChosen)} count=${rows.length} rowAt=${(index) => rows[index]} keyOf=${(one) => one.number}
        empty="Nothing has passed yet." /><//>
    ${chosen && html`<${Packet} packet=${chosen} close=${() => setChosen(null)} />`}
    ${chosen?.conversationId && html`<${Conversation} rows=${rows} id=${chosen.conversationId} whole=${subject === '>'} />`}
    <${CopyAs} call=${['GET', path]} shell=${['tap', subject]} />`;
}
