// Makes the body of a round out of the page of a tab (001 §1): what is always sent, and what more is asked for.
import { call, framesOf, PageError } from './pages.js';
import { picture } from './picture.js';

const DEEP = 3, MANY_FRAMES = 12, MANY_NODES = 5000;

// The body of a round, and what of the look is to be kept with the session.
export async function roundOf(state) {
  const always = { query: state.task.query, sessionId: state.session, tabId: state.tab, domMode: 'semantic', ...state.task.report };
  if (state.task.id) always.taskId = state.task.id;
  const whole = await wholeTree(state);
  if (!whole) return { body: always, kept: { hash: '' } };
  const { hash, nodes, ...rag } = await call(state.tab, 'fitted', { nodes: whole.nodes, query: state.task.query });
  const body = {
    ...always, url: whole.url.slice(0, 8000), title: whole.title, pageTitle: whole.title, domain: new URL(whole.url).hostname,
    interactiveTree: nodes, viewport: { width: whole.width, height: whole.height }, scrollPosition: whole.scrollPosition,
    scrollableContainers: whole.containers.slice(0, 100), recentEvents: whole.recentEvents.slice(-20).map((one) => one.slice(0, 200)), hasErrors: whole.hasErrors, hasSuccess: whole.hasSuccess,
    ...(rag.dom_filtered ? rag : {}), ...(whole.selection ? { selection: whole.selection.slice(0, 200) } : {}),
  };
  const known = state.task.id && hash === state.hash && !rag.dom_filtered;
  if (known) {
    delete body.interactiveTree;
    body.interactiveTreeHash = hash;
  }
  return { body, kept: { hash, next: whole.next, frames: whole.at } };
}

// The tree of a page with those of its frames in it; null where there is no page to look at.
async function wholeTree(state) {
  try {
    await call(state.tab, 'show');
    const whole = await call(state.tab, 'tree', { next: state.next });
    const reading = { tab: state.tab, next: whole.next, left: MANY_FRAMES, at: {}, places: whole.frames.length ? await framesOf(state.tab) : new Map() };
    await addFrames(reading, whole, '', DEEP);
    whole.nodes.splice(MANY_NODES);
    return { ...whole, next: reading.next, at: reading.at };
  } catch (error) {
    if (error instanceof PageError && error.code === 'NO_PAGE') return null;
    throw error;
  }
}

async function addFrames(reading, outer, path, deep) {
  for (const frame of [...outer.frames].sort((one, other) => other.at - one.at)) {
    const inside = path ? `${path}.${frame.index}` : String(frame.index), number = reading.places.get(inside);
    if (!deep || number === undefined || frame.index < 0 || reading.left-- <= 0) continue;
    try {
      const inner = await call(reading.tab, 'tree', { next: reading.next, frame }, number);
      reading.next = inner.next;
      reading.at[frame.number] = { frame: number, x: frame.x, y: frame.y };
      await addFrames(reading, inner, inside, deep - 1);
      outer.nodes.splice(frame.at, 0, ...inner.nodes);
      outer.containers.push(...inner.containers);
      outer.recentEvents.push(...inner.recentEvents);
      outer.hasErrors ||= inner.hasErrors;
      outer.hasSuccess ||= inner.hasSuccess;
    } catch (error) {
      if (!(error instanceof PageError)) throw error; // a frame of a site that was not allowed is left out
    }
  }
}

// The frame that an id is in, and the id there: `f2_5` is number 5 in frame 2.
export function place(id, at) {
  const framed = /^f(\d+)_(\d+)$/.exec(id);
  return framed ? { frame: at[framed[1]]?.frame ?? -1, id: framed[2] } : { frame: 0, id: String(id) };
}

// The parts of the page that are asked for, and nothing else.
export async function requestedParts(state, answer) {
  const parts = {};
  if (answer.requestedDomMode === 'full' || answer.status === 'needs_full_dom') parts.dom = (await call(state.tab, 'dom')).html;
  if (answer.needsSkeletonDom) parts.skeletonDom = (await call(state.tab, 'skeleton')).html;
  if (answer.needsScreenshot) Object.assign(parts, await picture(state));
  if (answer.requestedDomMode === 'semantic') Object.assign(parts, await resentTree(state));
  return parts;
}

// The tree that a hash stood for, of which the gateway does not know any more.
async function resentTree(state) {
  const whole = await wholeTree(state);
  if (!whole) return {};
  const { nodes, hash, ...rag } = await call(state.tab, 'fitted', { nodes: whole.nodes, query: state.task.query });
  return { interactiveTree: nodes, ...(rag.dom_filtered ? rag : {}) };
}
