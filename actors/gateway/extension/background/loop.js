// Goes round by round until a task is over, waits for its user, or is stopped. What is due next is written down before it is done, so that
// a worker which is put to sleep and comes back goes on there, and an action that may have been done is not done again.
import { concealed, parseAction, WRITING } from './actions.js';
import { GatewayError, newTrace, requestUntilAnswered } from './gateway.js';
import { callIfThere, PageError, settle } from './pages.js';
import { perform } from './performing.js';
import { requestedParts, roundOf } from './round.js';
import { all, change, read } from './store.js';

const MANY_ROUNDS = 100, MANY_TURNS = 100, MANY_ASKED = 4, MANY_HUNG = 3;
const WAITING = new Set(['needs_context', 'needs_full_dom', 'needs_skeleton_dom', 'needs_screenshot']);
const runs = new Map();

// Begins a task in the session of a tab.
export async function begin(tab, query) {
  halt(tab);
  const state = await read(tab);
  const task = { query, id: '', trace: newTrace(), phase: 'look', body: null, answer: null, report: {}, rounds: 0, origin: '' };
  await change(tab, { session: state.session, status: 'running', task, plan: null, question: null, note: '', hash: '', picture: '', turns: [...state.turns, { user: query }].slice(-MANY_TURNS) });
  halt(tab); // what was begun meanwhile knows nothing of this task
  return go(tab);
}

// Says what the user answers to a question, or that what stood in the way is gone.
export async function reply(tab, words) {
  const state = await read(tab);
  if (!state.task?.id || state.status !== 'asking') return undefined;
  const task = { ...state.task, phase: 'look', say: words, report: {} };
  await change(tab, { status: 'running', task, question: null, turns: [...state.turns, { user: words }].slice(-MANY_TURNS) });
  return go(tab);
}

// Goes on where a task was stopped, or was waiting for leave to look at a page.
export async function resume(tab) {
  const state = await read(tab);
  if (!state.task || !['stopped', 'permission', 'running', 'failed'].includes(state.status) || state.task.phase === 'over') return undefined;
  if (state.status !== 'running') await change(tab, { status: 'running', note: '' });
  return go(tab);
}

// Takes up every task that was in hand when the worker was put to sleep.
export async function resumeAll() {
  for (const { tab, status } of await all()) if (status === 'running') go(tab);
}

// Stops at once: what was asked for is waited for no more, and nothing is done any more.
export async function stop(tab) {
  halt(tab);
  const state = await read(tab);
  if (['running', 'asking', 'permission'].includes(state.status)) await change(tab, { status: 'stopped', note: 'Stopped.', question: null });
  await callIfThere(tab, 'leave');
}

// Ends what is in hand for a tab, and says nothing about it.
export function halt(tab) {
  const run = runs.get(tab);
  if (!run) return;
  run.stopped = true;
  run.ends.abort();
  runs.delete(tab);
}

// Goes on in a tab; where a run is `over` and leaves the page, the next one waits for that.
function go(tab) {
  const before = runs.get(tab);
  if (before && !before.over) return before.ended;
  const run = { stopped: false, over: false, ends: new AbortController(), hung: 0 };
  const left = before ? before.ended.catch(() => {}) : Promise.resolve();
  run.ended = left.then(() => rounds(tab, run)).finally(() => {
    if (runs.get(tab) === run) runs.delete(tab);
  });
  runs.set(tab, run);
  return run.ended;
}

async function rounds(tab, run) {
  const state = await read(tab);
  try {
    while (!run.stopped && state.status === 'running') await step(state, run);
  } catch (error) {
    await failed(state, run, error);
  }
  run.over = true;
  // What was under way when somebody stopped it may have looked at the page once more.
  const left = run.stopped ? !runs.has(tab) : ['done', 'failed', 'asking'].includes(state.status);
  if (left) await callIfThere(tab, 'leave');
}

// Writes down what has come of a session, unless somebody has stopped it meanwhile.
async function keep(state, run, values) {
  if (run.stopped) return;
  Object.assign(state, values);
  await change(state.tab, values);
}

async function step(state, run) {
  try {
    await due(state, run);
  } catch (error) {
    await unseen(state, run, error);
  }
}

async function due(state, run) {
  const { task } = state;
  switch (task.phase) {
    case 'look': return looked(state, run);
    case 'send': return sent(state, run);
    case 'act': return answered(state, run);
    // The worker went while this was done: whether it was is for the page to say.
    default: return keep(state, run, { task: { ...task, phase: 'look', report: { lastActionStatus: 'pending' } } });
  }
}

async function looked(state, run) {
  const { task } = state;
  if (task.rounds >= MANY_ROUNDS) throw new GatewayError(0, 'MAX_STEPS', 'The task takes too many steps.');
  await settle(state.tab, { stopped: () => run.stopped });
  if (run.stopped) return;
  const { body, kept } = await roundOf(state);
  if (task.say !== undefined) body.query = task.say || task.query;
  run.hung = 0;
  await keep(state, run, { ...kept, task: { ...task, phase: 'send', body, asked: 0 } });
}

// Without leave to look at the page the user is asked for it; a page that is on its way is waited for.
async function unseen(state, run, error) {
  if (!(error instanceof PageError)) throw error;
  if (error.code === 'NO_PAGE') {
    const { query, report, id, say } = state.task;
    const body = { query: say || query, sessionId: state.session, tabId: state.tab, domMode: 'semantic', ...report, ...(id ? { taskId: id } : {}) };
    return keep(state, run, { hash: '', task: { ...state.task, phase: 'send', body, asked: 0 } });
  }
  if (error.code === 'NO_ACCESS') return keep(state, run, { status: 'permission', note: 'Weft needs your leave to look at the page that is open now.' });
  run.hung += 1;
  if (run.hung > MANY_HUNG || error.code === 'NO_TAB') throw error;
  return undefined;
}

async function sent(state, run) {
  const { task } = state, { signal } = run.ends;
  const waiting = (error) => keep(state, run, { note: `Waiting for Weft: ${error.message}` });
  const { data } = await requestUntilAnswered('POST', '/api/agent/interact', { body: task.body, trace: task.trace, signal }, waiting);
  const session = data.sessionId ?? state.session;
  const next = { ...task, id: data.taskId ?? task.id, phase: 'act', answer: data, rounds: task.rounds + 1 };
  await keep(state, run, { session, note: '', plan: data.plan ?? state.plan, task: next });
}

async function answered(state, run) {
  const { task } = state, { answer } = task;
  if (WAITING.has(answer.status)) return furnished(state, run);
  if (answer.verification || answer.correction) judge(state, answer);
  if (answer.status === 'needs_user_input') {
    const question = { text: answer.userQuestion ?? answer.thought ?? '', options: (answer.options ?? []).map(String).slice(0, 20), blocked: Boolean(answer.blockerInfo) };
    return keep(state, run, { status: 'asking', question, turns: state.turns, task: { ...task, say: undefined, body: null } });
  }
  if (/^(?:finish|fail)\b/.test(answer.action ?? '') || ['completed', 'failed'].includes(answer.status)) {
    const failed = /^fail\b/.test(answer.action ?? '') || answer.status === 'failed';
    const turns = [...state.turns, { thought: answer.thought ?? '', end: failed ? 'failed' : 'done', confidence: answer.confidence }];
    return keep(state, run, { status: failed ? 'failed' : 'done', turns, task: { ...task, phase: 'over', body: null } });
  }
  return acted(state, run);
}

// Sends the same request again with the parts that were asked for.
async function furnished(state, run) {
  const { task } = state;
  if (task.asked >= MANY_ASKED) throw new GatewayError(0, 'TOO_MANY_ASKED', 'Weft asks for the same page again and again.');
  const parts = await requestedParts(state, task.answer);
  await keep(state, run, { note: task.answer.reason ?? '', picture: state.picture ?? '', task: { ...task, phase: 'send', body: { ...task.body, ...parts }, asked: task.asked + 1 } });
}

async function acted(state, run) {
  const { task } = state, { answer } = task, { action = '' } = answer, writes = WRITING.has(parseAction(action)?.name);
  const turn = { ...told(answer, writes), observation: '', status: 'pending' };
  await keep(state, run, { turns: [...state.turns, turn].slice(-MANY_TURNS), task: { ...task, phase: 'doing', say: undefined, body: null } });
  if (run.stopped) return;
  const outcome = await perform(state, answer, () => run.stopped);
  const secret = outcome.secret || (writes && outcome.error !== null); // nobody knows of a field that was not come to
  const done = { ...told(answer, secret), status: outcome.error ? 'error' : 'success', observation: outcome.error?.message ?? outcome.report.verification_message };
  await keep(state, run, { turns: [...state.turns.slice(0, -1), done], task: { ...state.task, phase: 'look', report: outcome.report, origin: outcome.leads || state.task.origin, answer: null } });
}

// What the panel shows of an answer; without what is written into a field that is secret.
function told({ thought = '', action = '', actionDetails }, secret) {
  const { name, args = [] } = parseAction(action) ?? {};
  const value = String(actionDetails?.args?.value ?? actionDetails?.args?.text ?? args[name === 'type' ? 0 : 1] ?? '').trim();
  return { thought: secret && value ? thought.replaceAll(value, '********') : thought, action: concealed(action, secret) };
}

// What the server has found of the last action stands beside it.
function judge(state, answer) {
  const turn = state.turns.findLast((one) => one.action);
  const failed = answer.verification?.succeeded === false || answer.correction;
  if (turn && failed && turn.status === 'success') Object.assign(turn, { status: 'error', observation: String(answer.verification?.evidence?.[0] ?? turn.observation).slice(0, 300) });
}

async function failed(state, run, error) {
  const note = error instanceof GatewayError || error instanceof PageError ? error.message : `Something went wrong: ${String(error?.message ?? error).slice(0, 200)}`;
  await keep(state, run, { status: 'failed', note });
}

export const again = (tab) => change(tab, { session: crypto.randomUUID(), status: 'idle', task: null, plan: null, turns: [], messages: [], question: null, note: '' });

