// Keeps what goes on in memory that outlives this worker: sessions by their tabs as long as the browser runs, settings for good. Pages and
// what runs in them can read neither.
const TAB = 'tab:';
// `models` says whether the key may have models asked; null where that is not known.
const UNPAIRED = { gateway: '', key: '', name: '', models: null };
const listeners = new Set();
let last = Promise.resolve();
const FRESH = { status: 'idle', task: null, plan: null, turns: [], messages: [], question: null, note: '', next: 1, frames: {}, hash: '', push: 'off' };

export async function guard() {
  await chrome.storage.local.setAccessLevel({ accessLevel: 'TRUSTED_CONTEXTS' });
  await chrome.storage.session.setAccessLevel({ accessLevel: 'TRUSTED_CONTEXTS' });
}

export async function settings() {
  return { ...UNPAIRED, ...(await chrome.storage.local.get(Object.keys(UNPAIRED))) };
}

export const configure = (values) => chrome.storage.local.set({ ...UNPAIRED, ...values });

// The session of a tab; one that is new begins when it is first written.
export async function read(tab) {
  const name = TAB + tab;
  return (await chrome.storage.session.get(name))[name] ?? { ...FRESH, tab, session: crypto.randomUUID() };
}

// Writes values of the session of a tab, one change after another; returns all of it.
export function change(tab, values) {
  const turn = last.then(async () => {
    const state = { ...(await read(tab)), ...values };
    await chrome.storage.session.set({ [TAB + tab]: state });
    for (const listener of listeners) listener(state);
    return state;
  });
  last = turn.catch(() => {});
  return turn;
}

export async function forget(tab) {
  await chrome.storage.session.remove(TAB + tab);
}

export async function all() {
  return Object.entries(await chrome.storage.session.get(null)).filter(([name]) => name.startsWith(TAB)).map(([, state]) => state);
}

export const onChange = (listener) => listeners.add(listener);

// What the panel shows of a session: no page, no key.
export function panelState({ tab, session, status, task, plan, turns, messages, question, note, push }) {
  return { tab, session, status, query: task?.query ?? '', plan, turns, messages, question, note, push, origin: task?.origin ?? '' };
}
