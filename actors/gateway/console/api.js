// Asks the gateway: with the key of this tab, which is kept for the session of the tab alone, and never in a link or a log.
const KEY = 'weft-key';
const RETRY_MS = 2_000;
const ANSWER_MS = 150_000; // no answer takes longer
const SILENT_MS = 45_000; // a stream shows that it lives every 15 s

export const key = () => sessionStorage.getItem(KEY) ?? '';
export const keepKey = (text) => sessionStorage.setItem(KEY, text);
export const forgetKey = () => sessionStorage.removeItem(KEY);

// What was refused or failed, as the gateway says it: `body` is its StructuredError.
export class ApiError extends Error {
  constructor(status, body) {
    super(body?.error ?? body?.message ?? `The gateway answered with status ${status}.`);
    this.status = status;
    this.body = body ?? {};
  }
}

const noAnswer = () => new ApiError(0, { error: 'The gateway does not answer. Is Weft still running?', code: 'NO_ANSWER' });

export function query(values) {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const text = new URLSearchParams(given).toString();
  return text && `?${text}`;
}

async function ask(method, path, { body, file, headers, signal } = {}) {
  const sent = { Authorization: `Bearer ${key()}`, ...headers };
  if (body !== undefined) sent['Content-Type'] = 'application/json';
  if (file) sent['Content-Type'] = 'application/octet-stream';
  let answer;
  try {
    answer = await fetch(path, { method, headers: sent, body: file ?? (body === undefined ? undefined : JSON.stringify(body)), signal, cache: 'no-store' });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw noAnswer();
  }
  if (answer.ok) return answer;
  const failure = new ApiError(answer.status, await answer.json().catch(() => null));
  if (answer.status === 401) dispatchEvent(new CustomEvent('weft-key-refused', { detail: failure }));
  throw failure;
}

export async function call(method, path, options = {}) {
  const limit = AbortSignal.timeout(ANSWER_MS), signal = options.signal ? AbortSignal.any([options.signal, limit]) : limit;
  const answer = await ask(method, path, { ...options, signal, headers: { Accept: 'application/json' } });
  return answer.json().catch(() => {
    throw noAnswer();
  });
}

export const get = (path, options) => call('GET', path, options);

// Sends a file as it is.
export const upload = (path, file) => call('POST', path, { file });

// What a call of a tool came to; one that a person has to allow first is an error that says where.
export async function tool(method, path, body, signal) {
  const outcome = await call(method, path, { body, signal });
  if (outcome.result) return outcome.result;
  throw Object.assign(new Error('It waits until somebody allows it.'), { approval: outcome.approval?.id });
}

// Readiness is an answer whatever its status.
export async function readiness(signal) {
  const answer = await fetch('/readyz', { signal, cache: 'no-store' });
  return { ready: answer.ok, ...(await answer.json()) };
}

// Hands on each event of a stream as (name, data, id), until it ends; `opened` hears that it has begun. One that is silent has broken off.
export async function events(method, path, hear, { body, headers, signal, opened }) {
  const silent = new AbortController(), heard = (work) => {
    const timer = setTimeout(() => silent.abort(), SILENT_MS);
    return work.catch((error) => Promise.reject(error instanceof ApiError ? error : noAnswer())).finally(() => clearTimeout(timer));
  };
  const answer = await heard(ask(method, path, { body, signal: AbortSignal.any([signal, silent.signal]), headers: { Accept: 'text/event-stream', ...headers } }));
  opened?.();
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ''; ;) {
    const { done, value } = await heard(reader.read());
    if (done) return;
    const blocks = (rest + value).split('\n\n');
    rest = blocks.pop();
    for (const block of blocks) {
      const fields = Object.fromEntries(block.split('\n').filter((line) => !line.startsWith(':')).map((line) => line.split(/: ?(.*)/s, 2)));
      if (fields.data !== undefined) hear(fields.event ?? 'message', JSON.parse(fields.data), fields.id);
    }
  }
}

// Follows a stream until `signal` says so or `hear` returns true: where it breaks off, it is taken up behind its last event.
// `broken` hears whether it is, `opened` that it has begun, the first time or again.
export async function follow(path, hear, { signal, broken, opened }) {
  let last = '', over = false;
  while (!over && !signal.aborted) {
    const began = Date.now();
    let ended = true;
    try {
      const headers = last ? { 'Last-Event-ID': last } : {};
      await events('GET', path, (name, data, id) => {
        if (id) last = id;
        if (hear(name, data)) over = true;
      }, { headers, signal, opened: () => [broken?.(false), opened?.()] });
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ApiError) || (error.status >= 400 && error.status < 500 && error.status !== 429)) throw error;
      ended = false;
    }
    if (over || signal.aborted) return;
    if (ended && Date.now() - began > RETRY_MS) continue; // its time was over
    broken?.(true);
    await new Promise((done) => setTimeout(done, RETRY_MS));
  }
}

// The bytes of a file as the gateway has them.
export const blob = async (path, signal) => (await ask('GET', path, { signal, headers: { Accept: '*/*' } })).blob();

// Has the browser save a file: a link could not send the key along.
export async function download(path, name) {
  const address = URL.createObjectURL(await blob(path));
  const link = Object.assign(document.createElement('a'), { href: address, download: name.replaceAll(/[\p{C}/\\]/gu, '_') });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
