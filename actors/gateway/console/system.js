// The figures of the system, asked for every few seconds while a page shows them; what came of it is kept for the next page.
import { useEffect, useState } from './htm.js';
import { get } from './api.js';

const EVERY_MS = 3_000;
const KEPT = 200;
const FETCHER = 'fetchers.';
export const TIERS = ['intelligence', 'lightweight', 'playwright'];

let samples = [], last = null, before = null;

export const forgetSamples = () => { [samples, last, before] = [[], null, null]; };

// What happened between two answers, by tier: pages a minute, errors a minute, and how long the last calls took.
export function sampleOf(before, now) {
  const minutes = (now.at - before.at) / 60_000, former = new Map(before.replicas.map((one) => [one.replica, one]));
  const sample = { at: now.at / 1_000, pages: {}, errors: 0, p50: {}, p99: {} };
  for (const one of now.replicas) {
    const old = former.get(one.replica) ?? { served: 0, errors: 0 };
    const tier = one.actor.startsWith(FETCHER) && one.actor.slice(FETCHER.length);
    if (!tier) continue;
    sample.pages[tier] = (sample.pages[tier] ?? 0) + (one.served - old.served) / minutes;
    sample.errors += (one.errors - old.errors) / minutes;
    if (one.served) {
      sample.p50[tier] = Math.max(sample.p50[tier] ?? 0, one.p50Ms);
      sample.p99[tier] = Math.max(sample.p99[tier] ?? 0, one.p99Ms);
    }
  }
  return sample;
}

async function look(signal) {
  const now = await get('/api/system', { signal });
  if (last && now.at > last.at) samples = [...samples, sampleOf(last, now)].slice(-KEPT);
  if (!last || now.at > last.at) [before, last] = [last, now];
}

// {system, before, samples, error}: the last answer and the one before it, live as long as the page that asks is shown, and looked at.
export function useSystem(wanted) {
  const [state, setState] = useState({ system: last, before, samples });
  useEffect(() => {
    if (!wanted) return undefined;
    const stop = new AbortController();
    let timer = 0;
    const turn = async () => {
      if (!document.hidden) {
        try {
          await look(stop.signal);
          setState({ system: last, before, samples });
        } catch (error) {
          if (stop.signal.aborted) return;
          setState((former) => ({ ...former, error }));
          if (error.status === 401 || error.status === 403) return;
        }
      }
      timer = setTimeout(turn, EVERY_MS);
    };
    turn();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [wanted]);
  return state;
}
