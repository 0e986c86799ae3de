// Performs one action on the tab of a session, waits until its page is quiet, and finds out what came of it (001 §1, §7).
import { OF_BROWSER, OF_SERVER, parseAction, READING } from './actions.js';
import { place } from './round.js';
import { call, PageError, settle } from './pages.js';

const MOST_WAIT_S = 30, BEGIN_MS = 300, NAVIGATION_MS = 15_000;
const SEARCH = 'https://duckduckgo.com/?q=';
const GOOGLE = 'https://www.google.com/search?q=';
const number = (text, otherwise) => (Number.isFinite(Number(text)) && text !== undefined && text !== '' ? Number(text) : otherwise);
const flag = (text, otherwise) => (text === undefined ? otherwise : text !== 'false');

// What each action calls in the page, by its arguments; those with `id` are about an element.
const IN_PAGE = {
  click: ([one, two]) => (two === undefined ? ['clicked', { id: one }] : ['clickedAt', { x: number(one), y: number(two) }]),
  clickAt: ([x, y]) => ['clickedAt', { x: number(x), y: number(y) }],
  doubleClick: ([id]) => ['doubleClicked', { id }],
  rightClick: ([id]) => ['rightClicked', { id }],
  hover: ([id]) => ['hovered', { id }],
  dragAndDrop: (args) => ['dragged', dragOf(args)],
  dragTo: (args) => ['dragged', dragOf(args)],
  dragFrom: (args) => ['dragged', dragOf(args)],
  setValue: ([id, value = '', clear]) => ['valueSet', { id, value, clear: flag(clear, true) }],
  type: ([text]) => ['typed', { text }],
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

// Performs the action of an answer; returns what the next round reports of it. Nothing is thrown: what failed is reported.
export async function perform(state, answer, stopped) {
  const { action, actionDetails: details = {} } = answer, call_ = parseAction(action);
  const frame = frameOf(state, call_), before = await standing(state.tab, frame), begun = Date.now();
  const outcome = { previousUrl: before?.url ?? '', secret: false, value: '', error: null };
  try {
    if (!call_ || OF_SERVER.has(call_.name)) throw new PageError('UNKNOWN_ACTION', 'This is no action for a page.');
    const done = OF_BROWSER.has(call_.name) ? await inBrowser(state, call_, stopped) : await inPage(state, call_, details);
    Object.assign(outcome, { secret: done.secret === true, value: done.value ?? '', leads: originOf(done.leads), done });
    if (done.open) await openBeside(state, done.open);
  } catch (error) {
    if (!(error instanceof PageError)) throw error;
    outcome.error = { message: error.message, code: error.code, action: action.slice(0, 500), ...(details.elementId === undefined ? {} : { elementId: details.elementId }) };
  }
  await settledAfter(state.tab, stopped);
  const after = await standing(state.tab, frame);
  return { ...outcome, report: await reportOf(state, call_, outcome, { before, after, begun }) };
}

// The frame that an action is in: 0 is the page itself.
function frameOf(state, action) {
  const id = IN_PAGE[action?.name]?.(action.args)[1].id;
  return id === undefined ? 0 : Math.max(0, place(id, state.frames).frame);
}

// How much has happened so far: in the page, and in the frame that is acted in.
async function standing(tab, frame) {
  const whole = await call(tab, 'quiet').catch(() => null);
  if (!whole || !frame) return whole;
  const inner = await call(tab, 'quiet', {}, frame).catch(() => null);
  return { ...whole, page: `${whole.page} ${inner?.page ?? ''}`, mutations: whole.mutations + (inner?.mutations ?? 0), requests: whole.requests + (inner?.requests ?? 0) };
}

async function settledAfter(tab, stopped) {
  return settle(tab, { stopped, leastMs: BEGIN_MS }).catch(() => null);
}

async function inPage(state, { name, args }, details) {
  const made = IN_PAGE[name];
  if (!made) throw new PageError('UNKNOWN_ACTION', `${name} is not known to this extension.`);
  const [what, given] = made(args);
  if (details.args?.value !== undefined && 'value' in given) given.value = String(details.args.value);
  let frame = 0;
  if (given.id !== undefined) {
    const where = place(given.id, state.frames);
    if (where.frame < 0) throw new PageError('GONE', 'The frame of the element is gone.');
    Object.assign(given, { id: where.id, selector: details.selectorPath ?? '' });
    frame = where.frame;
  }
  if (given.to !== undefined) given.to = place(given.to, state.frames).id;
  return call(state.tab, what, given, frame);
}

// The site that an address is of, as it is asked leave for.
function originOf(url) {
  const read = URL.canParse(url ?? '') ? new URL(url) : null;
  return read && /^https?:$/.test(read.protocol) ? `${read.protocol}//${read.hostname}/*` : '';
}

// -- the browser's own -------------------------------------------------------------------------------------------------

function address(url) {
  const whole = /^[a-z][a-z0-9+.-]*:/i.test(url) ? url : `https://${url}`;
  if (!/^https?:\/\//i.test(whole)) throw new PageError('REFUSED', 'Weft goes to addresses of http and https alone.');
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
    case 'switch': case 'close': return atTab(state, name, number(args[0], 0));
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

async function atTab(state, name, index) {
  if (name === 'close' && index === 0) throw new PageError('REFUSED', 'A session does not close its own tab.');
  throw new PageError('REFUSED', 'A session acts in its own tab alone; other tabs are yours to switch to.');
}

// -- what came of it ---------------------------------------------------------------------------------------------------

// What the next round tells of an action (001 §1): whether it was done, what the client saw, and what its sentinel found.
async function reportOf(state, action, outcome, { before, after, begun }) {
  const fresh = !before || !after || after.page !== before.page, didUrlChange = (after?.url ?? '') !== (before?.url ?? '');
  const seen = { didUrlChange, didDomMutate: fresh || after.mutations > before.mutations, didNetworkOccur: fresh || after.requests > before.requests };
  const seconds = Math.ceil((Date.now() - begun) / 1000);
  const { errors, successes } = await call(state.tab, 'findings', { seconds }).catch(() => ({ errors: [], successes: [] }));
  const found = outcome.error ? { passed: false, message: outcome.error.message } : await checked(state, action, outcome, { seen, fresh, errors });
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
async function checked(state, action, { done, value }, { seen, fresh, errors }) {
  const [what, given] = IN_PAGE[action.name]?.(action.args) ?? ['', {}];
  const where = given.id === undefined ? null : place(given.id, state.frames);
  const element = where && !fresh ? await call(state.tab, 'standing', { id: where.id }, where.frame).catch(() => null) : null;
  const anything = seen.didUrlChange || seen.didDomMutate || seen.didNetworkOccur;
  if (errors.length) return { passed: false, message: `The page says: ${errors.at(-1)}`, element };
  if (READING.has(action.name)) return { passed: true, message: value.slice(0, 400), element };
  if (what === 'valueSet' && element?.secret) return equal(element.filled, given.value !== '', element);
  if (what === 'valueSet' && element?.found) return equal(element.value, done.holds, element);
  if (what === 'checked' && element?.found && element.checked !== null) return equal(element.checked, given.on, element);
  if (/^(?:navigate|goBack|goForward|refresh|search|googleSearch)$/.test(action.name)) return { passed: fresh || seen.didUrlChange, message: fresh ? 'Another page has come.' : 'The page is as it was.', element };
  if (/^(?:scroll|scroll_container|hover|focus|blur|selectText|createTab)$/.test(action.name) || done.open) return { passed: true, message: value, element };
  return { passed: anything, message: anything ? 'The page has changed.' : 'Nothing has changed.', element };
}

function equal(holds, wanted, element) {
  const passed = holds === wanted;
  return { passed, message: passed ? 'It stands as it should.' : 'It does not stand as it should.', element };
}
