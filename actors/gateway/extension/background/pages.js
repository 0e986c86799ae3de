// Calls what runs in the pages of tabs, once it is asked for there: nothing is in a page before.
import { FILES } from '../page/files.js';

const CALL_MS = 15_000;

// Why a page cannot be looked at or acted on: `code` is REFUSED, NO_ACCESS, NO_PAGE, HUNG, or what the page said.
export class PageError extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

// Runs in the page, in the world of the extension.
function run(name, args) {
  return globalThis.weftExecutor ? globalThis.weftExecutor.call(name, args) : { bare: true };
}

function pathOfWindow() {
  const path = [];
  for (let inner = window; inner !== inner.parent && path.length < 10; inner = inner.parent) {
    let index = 0;
    while (index < inner.parent.length && inner.parent[index] !== inner) index += 1;
    path.unshift(index);
  }
  return path.join('.');
}

// Calls a function of page/ in a tab where it is already.
export async function callIfThere(tab, name) {
  await script({ target: { tabId: tab }, func: run, args: [name, {}] }).catch(() => {});
}

// Calls a function of page/ in a frame of a tab.
export async function call(tab, name, args = {}, frame = 0) {
  const target = { tabId: tab, frameIds: [frame] };
  let answer = await script({ target, func: run, args: [name, args] });
  if (answer?.bare) {
    await script({ target, files: FILES });
    answer = await script({ target, func: run, args: [name, args] });
  }
  if (answer?.refused) throw new PageError(answer.refused.code, answer.refused.message);
  if (!answer?.result) throw new PageError('HUNG', 'The page went away while it was looked at.');
  return answer.result;
}

// The numbers of the frames of a tab, by the places of their windows in those around them.
export async function framesOf(tab) {
  const found = await scriptAll({ target: { tabId: tab, allFrames: true }, func: pathOfWindow });
  return new Map(found.map(({ frameId, result }) => [result, frameId]));
}

async function script(injection) {
  return (await scriptAll(injection))[0]?.result;
}

async function scriptAll(injection) {
  let timer = 0;
  const late = new Promise((_, refuse) => {
    timer = setTimeout(() => refuse(new PageError('HUNG', 'The page does not respond; a dialog may be open in it.')), CALL_MS);
  });
  try {
    return await Promise.race([chrome.scripting.executeScript(injection), late]);
  } catch (error) {
    throw error instanceof PageError ? error : refusal(String(error?.message ?? error));
  } finally {
    clearTimeout(timer);
  }
}

function refusal(message) {
  if (/No tab with id|tab was closed/i.test(message)) return new PageError('NO_TAB', 'The tab was closed.');
  if (/chrome:\/\/|chrome-extension:\/\/|gallery|error page|is showing error/i.test(message)) return new PageError('NO_PAGE', 'A browser shows this page to nobody else.');
  if (/must request permission|Cannot access/i.test(message)) return new PageError('NO_ACCESS', 'Weft may not look at this page.');
  return new PageError('HUNG', message.slice(0, 200));
}

// Waits until a tab is loaded and its page was quiet for 300 ms, 3,000 ms at most (001 §6.6); returns how it stands, or null where it
// cannot be looked at yet. After an action `leastMs` is what a page gets to begin with what comes of it.
export async function settle(tab, { quietMs = 300, mostMs = 3000, leastMs = 0, stopped = () => false } = {}) {
  const begun = Date.now(), until = begun + mostMs;
  let last = null;
  while (!stopped()) {
    const { status } = await chrome.tabs.get(tab);
    if (status !== 'loading' && !stopped()) {
      last = await call(tab, 'quiet');
      if (last.loaded && last.ms >= quietMs && Date.now() - begun >= leastMs) return last;
    }
    if (Date.now() >= until) break;
    await new Promise((done) => setTimeout(done, 50));
  }
  return last;
}
