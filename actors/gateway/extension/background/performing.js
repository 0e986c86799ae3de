// Performs one action on the tab of a session, waits until its page is quiet, and finds out what came of it (001 §1, §7).
import { OF_BROWSER, OF_SERVER, parseAction, READING } from './actions.js';
import { place } from './round.js';
import { call, PageError, settle } from './pages.js';

const MOST_WAIT_S = 30, BEGIN_MS = 300, NAVIGATION_MS = 15_000, HELD_CHARS = 200; // so much the page tells of what a field holds
const SEARCH = 'https://duckduckgo.com/?q=';
const PORTED = /^(?:localhost|[^/:]+\.[^/:]+):\d+(?:[/?#]|$)/i; // a host with its port, which is no scheme
const GOOGLE = 'https://www.google.com/search?q=';
const number = (text, otherwise) => (Number.isFinite(Number(text)) && text !== undefined && text !== '' ? Number(text) : otherwise);
const flag = (text, otherwise) => (text === undefined ? otherwise : !/^false$/i.test(text));

// What each action calls in the page, by its arguments; those with `id` are about an element.
const IN_PAGE = {
  __proto__: null,
  click: ([one, two]) => (two === undefined ? ['clicked', { id: one }] : ['clickedAt', { x: number(one), y: number(two) }]),
  clickAt: ([x, y]) => ['clickedAt', { x: number(x), y: number(y) }],
  doubleClick: ([id]) => ['doubleClicked', { id }],
  rightClick: ([id]) => ['rightClicked', { id }],
  hover: ([id]) => ['hovered', { id }],
  dragAndDrop: (args) => ['dragged', dragOf(args)],
  dragTo: (args) => ['dragged', dragOf(args)],
  dragFrom: (args) => ['dragged', dragOf(args)],
  setValue: ([id, value = '', clear]) => ['valueSet', { id, value, clear: flag(clear, true) }],
  type: ([text = '']) => ['typed', { text }],
  press: ([key, modifiers]) => ['pressed', { key, modifiers: Array.isArray(modifiers) ? modifiers : modifiers ? [modifiers] : [] }],
  focus: ([id]) => ['focus', { id }],
  blur: ([id]) => ['blur', { id }],
  selectText: ([id, text]) => ['wordsSelected', { id, text }],
  check: ([id]) => ['checked', { id, on: true }],
  uncheck: ([id]) => ['checked', { id, on: false }],
  selectDropdown: ([id, value]) => ['selected', { id, value }],
  dropdownOptions: ([id]) => ['options', { id }],
  scroll: (args) => ['scrolled', scrollOf(args)],
  scroll_container: ([id, pages]) => ['scrolled', { id, down: number(pages, 1) >= 0, pages: Math.abs(number(pages, 1)) }],
  findText: ([text]) => ['wordsFound', { text }],
  waitForElement: ([id]) => ['present', { id }],
  getText: ([id]) => ['text', { id }],
  getAttribute: ([id, name]) => ['attribute', { id, name }],
  isVisible: ([id]) => ['visible', { id }],
  isEnabled: ([id]) => ['enabled', { id }],
  acceptDialog: () => ['dialog', { accept: true }],
  dismissDialog: () => ['dialog', { accept: false }],
};

function dragOf(args) {
  if (args.length === 2) return { id: args[0], to: args[1] };
  if (args.length === 3) return { id: args[0], point: [number(args[1]), number(args[2])] };
  return { from: [number(args[0]), number(args[1])], point: [number(args[2]), number(args[3])] };
}

function scrollOf(args) {
  if (args.length === 1 && !/^(?:true|false)$/i.test(args[0])) return { id: args[0], into: true };
  const [down, pages, id] = args;
  return { down: flag(down, true), pages: number(pages, 1), ...(id ? { id } : {}) };
}

// Performs the action of an answer; returns what the next round reports of it, also of what is refused. Once it is `stopped` nothing is
// begun any more, nor is the page looked at again.
export async function perform(state, answer, stopped) {
  const { action = '', actionDetails: details = {} } = answer, parsed = parseAction(action), called = calledInPage(parsed, details);
  const frame = frameOf(state, called), before = await standing(state.tab, frame), begun = Date.now();
  const outcome = { previousUrl: before?.url ?? '', secret: false, value: '', error: null };
  try {
    if (stopped()) throw new PageError('STOPPED', 'It was stopped.');
    if (!parsed || OF_SERVER.has(parsed.name)) throw new PageError('UNKNOWN_ACTION', 'This is no action for a page.');
    const done = OF_BROWSER.has(parsed.name) ? await inBrowser(state, parsed, stopped) : await inPage(state, parsed.name, called, details);
    Object.assign(outcome, { secret: done.secret === true, value: done.value ?? '', leads: originOf(done.leads), done });
    if (done.open && !stopped()) await openBeside(state, done.open);
  } catch (error) {
    if (!(error instanceof PageError)) throw error;
    outcome.error = { message: error.message, code: error.code, action: action.slice(0, 500), ...(details.elementId === undefined ? {} : { elementId: details.elementId }) };
  }
  await settle(state.tab, { stopped, leastMs: BEGIN_MS }).catch(() => null);
  if (stopped()) return { ...outcome, report: {} };
  const after = await standing(state.tab, frame);
  return { ...outcome, report: await reportOf(state, { parsed, called, outcome }, { before, after, begun }) };
}

// What an action calls in the page, and with what; null for one that calls nothing there. An answer has words in its parts as they are,
// which in its text end at the first quote in them.
function calledInPage(parsed, { args = {} }) {
  const [what, given] = IN_PAGE[parsed?.name]?.(parsed.args) ?? [];
  if (!what) return null;
  for (const name of ['value', 'text']) if (name in given && args[name] !== undefined) given[name] = String(args[name]);
  return { what, given };
}

// The frame that an action is in: 0 is the page itself.
function frameOf(state, called) {
  const id = called?.given.id;
  return id === undefined ? 0 : Math.max(0, place(id, state.frames).frame);
}

// How much has happened so far: in the page, whose own name is `top`, and in the frame that is acted in.
async function standing(tab, frame) {
  const whole = await call(tab, 'quiet').catch(() => null);
  if (!whole || !frame) return whole && { ...whole, top: whole.page };
  const inner = await call(tab, 'quiet', {}, frame).catch(() => null);
  return { ...whole, top: whole.page, page: `${whole.page} ${inner?.page ?? ''}`, mutations: whole.mutations + (inner?.mutations ?? 0), requests: whole.requests + (inner?.requests ?? 0) };
}

async function inPage(state, name, called, { selectorPath = '' }) {
  if (!called) throw new PageError('UNKNOWN_ACTION', `${name} is not known to this extension.`);
  const { what, given } = called, sent = { ...given };
  let frame = 0;
  if (given.id !== undefined) {
    const where = place(given.id, state.frames);
    if (where.frame < 0) throw new PageError('GONE', 'The frame of the element is gone.');
    Object.assign(sent, { id: where.id, selector: selectorPath });
    frame = where.frame;
  }
  if (given.to !== undefined) {
    const end = place(given.to, state.frames);
    if (end.frame !== frame) throw new PageError('REFUSED', 'Nothing is dragged from one frame into another.');
    sent.to = end.id;
  }
  return call(state.tab, what, sent, frame);
}

// The site that an address is of, as it is asked leave for.
function originOf(url) {
  const read = URL.canParse(url ?? '') ? new URL(url) : null;
  return read && /^https?:$/.test(read.protocol) ? `${read.protocol}//${read.hostname}/*` : '';
}

// -- the browser's own -------------------------------------------------------------------------------------------------

function address(url = '') {
  const whole = /^[a-z][a-z0-9+.-]*:/i.test(url) && !PORTED.test(url) ? url : `https://${url}`;
  if (!/^https?:\/\//i.test(whole) || !URL.canParse(whole)) throw new PageError('REFUSED', 'Weft goes to addresses of http and https alone.');
  return whole;
}

async function inBrowser(state, { name, args }, stopped) {
  const { tab } = state;
  switch (name) {
    case 'navigate':
      if (flag(args[1], false)) return openBeside(state, address(args[0]));
      await arrive(tab, () => chrome.tabs.update(tab, { url: address(args[0]) }));
      return { leads: address(args[0]) };
    case 'search': case 'googleSearch':
      await arrive(tab, () => chrome.tabs.update(tab, { url: (name === 'search' ? SEARCH : GOOGLE) + encodeURIComponent(args[0] ?? '') }));
      return {};
    case 'goBack': await arrive(tab, () => moved(chrome.tabs.goBack(tab))); return {};
    case 'goForward': await arrive(tab, () => moved(chrome.tabs.goForward(tab))); return {};
    case 'refresh': await arrive(tab, () => chrome.tabs.reload(tab)); return {};
    case 'createTab': return openBeside(state, args[0] ? address(args[0]) : undefined);
    case 'switch': case 'close': throw new PageError('REFUSED', 'A session acts in its own tab alone, and does not close it; other tabs are yours.');
    case 'getTabs': return { value: `${(await chrome.tabs.query({ currentWindow: true })).length} tabs` };
    case 'wait': await waited(number(args[0], 1), stopped); return {};
    default: return {}; // a screenshot is asked for by needs_context
  }
}

async function waited(seconds, stopped) {
  const until = Date.now() + 1000 * Math.min(MOST_WAIT_S, Math.max(0, seconds));
  while (Date.now() < until && !stopped()) await new Promise((done) => setTimeout(done, Math.min(100, Math.max(0, until - Date.now()))));
}

const moved = (going) => going.catch(() => { throw new PageError('NO_PAGE', 'There is no page in that direction.'); });

// Waits until what was begun has led to a page, or to none.
async function arrive(tab, begin) {
  let hear = null, timer = 0;
  const arrived = new Promise((done) => {
    hear = (id, { status }) => { if (id === tab && status === 'complete') done(); };
    timer = setTimeout(done, NAVIGATION_MS);
    chrome.tabs.onUpdated.addListener(hear);
  });
  try {
    await begin();
    await arrived;
  } finally {
    clearTimeout(timer);
    chrome.tabs.onUpdated.removeListener(hear);
  }
}

// What opens beside the tab of a session is no part of it: each tab has a session of its own.
async function openBeside(state, url) {
  await chrome.tabs.create({ openerTabId: state.tab, active: false, ...(url ? { url } : {}) });
  return { value: 'It has opened in a tab of its own, which has a session of its own.' };
}

// -- what came of it ---------------------------------------------------------------------------------------------------

// What the next round tells of an action (001 §1): whether it was done, what the client saw, and what its sentinel found.
async function reportOf(state, { parsed, called, outcome }, { before, after, begun }) {
  const fresh = !before || !after || after.page !== before.page, didUrlChange = (after?.url ?? '') !== (before?.url ?? '');
  const seen = { didUrlChange, didDomMutate: fresh || after.mutations > before.mutations, didNetworkOccur: fresh || after.requests > before.requests };
  // By the clock of the page itself where it is the same one: what it said before is not said of this action.
  const span = before && after && before.top === after.top ? { since: before.at } : { ms: Date.now() - begun };
  const { errors, successes } = await call(state.tab, 'findings', span).catch(() => ({ errors: [], successes: [] }));
  const found = outcome.error ? { passed: false, message: outcome.error.message } : await checked(state, { parsed, called, outcome }, { seen, fresh, errors });
  return {
    previousUrl: outcome.previousUrl.slice(0, 8000) || undefined,
    lastActionStatus: outcome.error ? 'failure' : 'success',
    ...(outcome.error ? { lastActionError: outcome.error } : {}),
    lastActionResult: { success: !outcome.error, actualState: outcome.value.slice(0, 4000) },
    clientObservations: seen,
    ...(found.element ? { clientVerification: { elementFound: found.element.found, urlChanged: didUrlChange, timestamp: Date.now() } } : {}),
    verification_passed: found.passed, verification_message: found.message.slice(0, 500),
    errors_detected: errors.slice(0, 10), success_messages: successes.slice(0, 10),
  };
}

// The sentinel: what each kind of action leaves where it was done.
async function checked(state, { parsed: { name }, called, outcome: { done, value } }, { seen, fresh, errors }) {
  const { what, given } = called ?? { what: '', given: {} };
  const where = given.id === undefined ? null : place(given.id, state.frames);
  const element = where && !fresh ? await call(state.tab, 'standing', { id: where.id }, where.frame).catch(() => null) : null;
  const anything = seen.didUrlChange || seen.didDomMutate || seen.didNetworkOccur;
  if (errors.length) return { passed: false, message: `The page says: ${errors.at(-1)}`, element };
  if (READING.has(name)) return { passed: true, message: value.slice(0, 400), element };
  if (what === 'valueSet' && element?.secret) return equal(element.filled, given.value !== '', element);
  if (done.on !== undefined && element?.found && element.checked !== null) return equal(element.checked, done.on, element);
  if (done.holds !== undefined && element?.found) return equal((element.chosen ?? [element.value]).includes(done.holds.slice(0, HELD_CHARS)), true, element);
  if (/^(?:navigate|goBack|goForward|refresh|search|googleSearch)$/.test(name)) return { passed: fresh || seen.didUrlChange, message: fresh ? 'Another page has come.' : 'The page is as it was.', element };
  if (/^(?:scroll|scroll_container|hover|focus|blur|selectText|createTab)$/.test(name) || done.open) return { passed: true, message: value, element };
  return { passed: anything, message: anything ? 'The page has changed.' : 'Nothing has changed.', element };
}

function equal(holds, wanted, element) {
  const passed = holds === wanted;
  return { passed, message: passed ? 'It stands as it should.' : 'It does not stand as it should.', element };
}
