// Asks the gateway, which has a key of this extension's own: an answer that was lost is asked for again, unchanged (001; docs/interact.md).
import { settings } from './store.js';

const LEAST_MS = 1000, MOST_MS = 60_000, ANSWER_MS = 120_000;
const AGAIN = new Set([429, 502, 503, 504]);

// What the gateway refuses for good.
export class GatewayError extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const hex = (bytes) => Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) => byte.toString(16).padStart(2, '0')).join('');

// The name of the trace that all requests of one task stand in (W3C Trace Context).
export const newTrace = () => hex(16);

export async function request(method, path, { body, trace = '', signal, form = false } = {}) {
  const { gateway, key } = await settings();
  if (!gateway) throw new GatewayError(0, 'NOT_PAIRED', 'This extension is not paired with a Weft yet.');
  const headers = { authorization: `Bearer ${key}` };
  if (body !== undefined) headers['content-type'] = form ? 'application/x-www-form-urlencoded' : 'application/json';
  if (trace) headers.traceparent = `00-${trace}-${hex(8)}-01`;
  const content = body === undefined ? undefined : form ? new URLSearchParams(body).toString() : JSON.stringify(body);
  const ends = [AbortSignal.timeout(ANSWER_MS), ...(signal ? [signal] : [])];
  const response = await fetch(gateway + path, { method, headers, body: content, signal: AbortSignal.any(ends), credentials: 'omit', cache: 'no-store', redirect: 'error' });
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  const error = new GatewayError(response.status, answer.code ?? '', String(answer.message ?? answer.error?.message ?? response.statusText).slice(0, 300));
  error.waitMs = 1000 * (Number(response.headers.get('retry-after')) || Number(answer.retryAfter) || 0);
  throw error;
}

// Sends a request until it is answered, as long as it takes; `waiting` hears why it is not yet.
export async function requestUntilAnswered(method, path, options, waiting = () => {}) {
  for (let tries = 0; ; tries++) {
    try {
      return await request(method, path, options);
    } catch (error) {
      if (options.signal?.aborted) throw error;
      if (error instanceof GatewayError && !AGAIN.has(error.status)) throw error;
      const most = Math.min(MOST_MS, LEAST_MS * 2 ** tries);
      await waiting(error);
      await pause(Math.max(error.waitMs ?? 0, most * (0.5 + Math.random() / 2)), options.signal);
    }
  }
}

// Waits; less where the network comes back meanwhile, or somebody has no more patience.
function pause(ms, signal) {
  return new Promise((done) => {
    const end = () => {
      clearTimeout(timer);
      removeEventListener('online', end);
      signal?.removeEventListener('abort', end);
      done();
    };
    const timer = setTimeout(end, ms);
    addEventListener('online', end);
    signal?.addEventListener('abort', end);
  });
}
