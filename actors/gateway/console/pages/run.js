// One run: its steps on one line of time, live; what came of it, the files that it left, and what can still be done about it.
import { html, useEffect, useState } from '../htm.js';
import { call, download, follow, get } from '../api.js';
import { Act, Badge, Card, CopyAs, Failure, Figure, Figures, Loading, Table, Time, Title, bytes, duration, useLoaded } from '../parts.js';
import { go, link } from '../router.js';
import { Picture } from './browsers.js';
import { Progress } from './runs.js';

const MAX_STEPS = 200;
const SUFFIXES = { json: 'json', csv: 'csv', markdown: 'md', jsonl: 'jsonl', zip: 'zip' };
const WORDS = { queued: 'is in the queue', started: 'has begun', resumed: 'goes on at another replica', cancel_requested: 'is to stop' };

// The events of a run as they come, until its end; `over` says that there will be no more.
export function useEvents(id, ended) {
  const [state, setState] = useState({ events: [], broken: false });
  useEffect(() => {
    const stop = new AbortController();
    setState({ events: [], broken: false });
    const hear = (name, data) => {
      if (name === 'error') return false; // why no more can be told now: it is asked again
      if (name === 'end') {
        ended();
        return true;
      }
      setState((now) => ({ ...now, events: [...now.events, data] }));
      return false;
    };
    const broken = (is) => setState((now) => (now.broken === is ? now : { ...now, broken: is }));
    follow(`/api/runs/${id}/events`, hear, { signal: stop.signal, broken }).catch(() => {});
    return () => stop.abort();
  }, [id]);
  return state;
}

// How the page looked at the end of a step, once somebody wants to see it.
function Shown({ step }) {
  const [open, setOpen] = useState(false);
  return html`<details class="shot" onToggle=${(event) => setOpen(event.currentTarget.open)}><summary>Screenshot</summary>
    ${open && html`<${Picture} path=${`/api/captures/${encodeURIComponent(step.screenshot)}`} words=${`The page after ${step.name}`} />`}</details>`;
}

function Timeline({ events, run }) {
  const steps = events.filter((one) => one.event === 'step'), marks = events.filter((one) => one.event !== 'step');
  if (!events.length) return null;
  const begin = events[0].at, end = Math.max(...events.map((one) => one.at), begin + 1);
  const place = (at) => (1_000 * (Math.max(at, begin) - begin)) / (end - begin);
  const shown = steps.slice(-MAX_STEPS).sort((one, other) => (one.startedAt ?? one.at) - (other.startedAt ?? other.at) || one.step - other.step);
  return html`<${Card} title="What happened" aside=${html`<span class="soft">${duration(end - begin)} in all</span>`}>
    ${shown.length < steps.length && html`<p class="soft">The last ${MAX_STEPS} steps of ${steps.length}.</p>`}
    <ol class="timeline">
      ${marks.filter((one) => one.event in WORDS).map((one) => html`<li key=${one.id} class="mark"><span class="soft">${duration(one.at - begin)}</span> It ${WORDS[one.event]}.</li>`)}
      ${shown.map((one) => {
        const from = place(one.startedAt ?? one.at);
        return html`<li key=${one.id} class=${one.stepStatus}>
          <span class="name">${one.step + 1}. ${one.name}</span>
          <svg class="bar" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
            <rect x=${Math.min(from, 994)} width=${Math.max(place(one.at) - from, 6)} height="10" rx="2" /></svg>
          <span class="soft number">${one.startedAt ? duration(one.at - one.startedAt) : ''}</span>
          <span><${Badge} of=${one.stepStatus} /> ${one.errorCode && html`<code>${one.errorCode}</code>`}</span>
          ${one.screenshot && html`<${Shown} step=${one} />`}
        </li>`;
      })}
    </ol>
    ${run.status === 'running' && html`<${Loading}>At work: ${run.progress.totalSteps - steps.length} steps are to come.<//>`}
  <//>`;
}

export function Artifacts({ run }) {
  const columns = [
    { name: 'File', cell: (one) => html`<b>${one.type}</b> <code>${one.artifactId.slice(0, 12)}…</code>` },
    { name: 'Size', cell: (one) => bytes(one.size) },
    { name: 'Kept until', cell: (one) => html`<${Time} at=${one.expiresAt} />` },
    { name: 'Download', cell: (one) => html`<${Act} words="Download" kind="small"
      act=${() => download(`/api/artifacts/${encodeURIComponent(one.artifactId)}/content`, `${run.templateId}.${SUFFIXES[one.type] ?? 'bin'}`)} />` },
  ];
  return html`<${Card} title="Files"><${Table} caption="Files that the run has left" columns=${columns} rows=${run.artifacts} keyOf=${(one) => one.artifactId} /><//>`;
}

export function Standing({ run }) {
  return html`<${Card} title="How it stands">
    <${Figures}>
      <${Figure} name="Status" value=${html`<${Badge} of=${run.status} />`} about=${run.cancelRequested && run.status === 'running' ? 'is to stop' : ''} />
      <${Figure} name="At work" value=${duration(run.metrics.elapsedMs)} about=${run.metrics.queuedMs === undefined ? '' : `waited ${duration(run.metrics.queuedMs)}`} />
      <${Figure} name="Begun" value=${html`<${Time} at=${run.createdAt} />`} />
    <//>
    <p><${Progress} of=${run.progress} /></p>
    ${run.resumedFrom && html`<p>It goes on after <a href=${link(['runs', run.resumedFrom])}><code>${run.resumedFrom}</code></a>.</p>`}
    ${run.error && html`<div class="failed-why"><p class="bad"><b>${run.error}</b> <code>${run.errorCode}</code></p>
      ${run.recoverHint && html`<p>${run.recoverHint}</p>`}
      ${run.details?.failedStep && html`<p class="soft">In the step ${run.details.failedStep} ${run.details.stepErrorCode && html`<code>${run.details.stepErrorCode}</code>`}</p>`}</div>`}
  <//>`;
}

export function Run({ route, me }) {
  const id = route.parts[1], path = `/api/runs/${encodeURIComponent(id)}`;
  const { data: run, error, again } = useLoaded((signal) => get(`${path}?includeInputs=true`, { signal }), [path]);
  const { events, broken } = useEvents(encodeURIComponent(id), again);
  const last = events.at(-1), now = run && last && last.at > run.updatedAt
    ? { ...run, status: last.status, progress: { totalSteps: last.totalSteps, doneSteps: last.doneSteps } } : run;
  const open = now && ['queued', 'running'].includes(now.status);
  const cancel = async () => {
    await call('POST', `${path}/cancel`);
    again();
  };
  const repeat = async () => {
    const kinds = (run.artifacts ?? []).map((one) => one.type);
    const body = { templateId: run.templateId, inputs: run.inputs, options: { mode: 'async', ...(kinds.length && { artifacts: kinds }), ...(events.some((one) => one.screenshot) && { screenshots: true }) } };
    go(['runs', (await call('POST', '/api/runs', { body })).runId]);
  };
  const resume = async () => go(['runs', (await call('POST', `${path}/resume`, { body: {} })).runId]);
  return html`<${Title} about=${html`<a href=${link('runs')}>All runs</a> · <code>${id}</code>`}>${now?.templateId ?? 'Run'}<//>
    ${error && html`<${Failure} error=${error} again=${again} />`}
    ${!run && !error && html`<${Loading} />`}
    ${now && html`
      <div class="row">
        ${open && !now.cancelRequested && html`<${Act} words="Cancel" sure="Stop it before its next step?" act=${cancel} />`}
        ${['failed', 'canceled', 'partial_success'].includes(now.status) && html`<${Act} words="Resume" kind="primary" act=${resume} />`}
        ${!open && now.inputs && html`<${Act} words="Run it again" act=${repeat} />`}
        ${now.conversationId && me.scopes.includes('operate') && html`<a class="button" href=${link(['recordings', now.conversationId])}>Its packets</a>`}
        <${CopyAs} call=${['GET', path]} tool=${['get_task_run', { runId: id }]} shell=${['runs', 'show', id]} />
      </div>
      <${Standing} run=${now} />
      <p role="status" class=${broken ? 'bad' : 'sr'}>${broken ? 'The gateway does not answer; what happens meanwhile is told when it does.' : `${now.status}, ${now.progress.doneSteps} of ${now.progress.totalSteps} steps`}</p>
      <${Timeline} events=${events} run=${now} />
      ${now.artifacts?.length > 0 && html`<${Artifacts} run=${now} />`}
      ${now.inputs && html`<${Card} title="Inputs"><details><summary>What it was asked for</summary><pre class="wrap" tabindex="0">${JSON.stringify(now.inputs, null, 2)}</pre></details><//>`}
      ${now.result !== undefined && now.result !== null && html`<${Card} title="Result" aside=${now.resultTruncated && html`<span class="soft">shortened: the file has it whole</span>`}>
        <pre class="wrap" tabindex="0">${JSON.stringify(now.result, null, 2)}</pre><//>`}`}`;
}
