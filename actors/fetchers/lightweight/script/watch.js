// Runs before the page's own scripts, in every frame: counts what is under way, and keeps the page within its origin.
// Everything is called through references of its own, so that a page which changes the built-ins changes nothing here.
(options) => {
  'use strict';
  const { apply, construct, defineProperty, getOwnPropertyDescriptor } = Reflect;
  const nothing = Object.create(null);
  const table = () => Object.create(null);
  const now = performance.now.bind(performance);
  const stringify = JSON.stringify;
  const text = String;
  const slice = String.prototype.slice;
  const lower = String.prototype.toLowerCase;
  const view = globalThis;
  const page = document;
  const MAX_MESSAGES = 200, MAX_MESSAGE = 2000, MAX_DIALOGS = 50, THIN = 200;
  const SHORT_MS = 600, SHORT_DEPTH = 8, LATE_MS = 3000, LATE_DEPTH = 3;

  // Between two readings the page must have had its turn: on a busy machine the engine may read twice at once.
  const later = view.setTimeout;
  let turned = false;
  const taken = () => { turned = true; };
  let activity = 0, scripts = 0, errors = 0, rejections = 0, depth = 0;
  const flags = table();
  const count = (name) => { flags[name] = (flags[name] || 0) + 1; };
  const seen = table();
  const note = (list, word) => {
    if (!seen[list]) { seen[list] = table(); }
    seen[list][word] = 1;
  };
  const replace = (holder, name, make) => {
    if (!holder) { return; }
    const found = getOwnPropertyDescriptor(holder, name);
    if (!found || !found.configurable) { return; }
    if (found.get) {
      defineProperty(holder, name, { ...found, get: make(found.get) });
    } else if (typeof found.value === 'function') {
      defineProperty(holder, name, { ...found, value: make(found.value) });
    }
  };
  const counted = (holder, name, flag) => replace(holder, name, (real) => ({ [name](...given) {
    count(flag);
    return apply(real, this, given);
  } })[name]);
  const built = (name, flag) => replace(view, name, (real) => new Proxy(real, {
    construct(target, given, made) { count(flag); return construct(target, given, made); },
  }));

  // Timers, frames and idle callbacks: what is still to come.
  const timers = table();
  const started = (real) => function (callback, delay, ...given) {
    if (typeof callback !== 'function') { return apply(real, view, [callback, delay]); }
    const wait = +delay > 0 ? +delay : 0, own = depth + 1;
    const kind = wait <= SHORT_MS ? (own < SHORT_DEPTH ? 1 : 0) : (wait <= LATE_MS && own < LATE_DEPTH ? 2 : 0);
    let id = 0;
    id = apply(real, view, [function () {
      delete timers[id];
      const former = depth;
      depth = own;
      try { return apply(callback, this, given); } finally { depth = former; }
    }, delay]);
    if (kind) { timers[id] = { kind, due: now() + wait }; }
    return id;
  };
  replace(view, 'setTimeout', (real) => started(real));
  replace(view, 'clearTimeout', (real) => function clearTimeout(id) { delete timers[id]; return apply(real, view, [id]); });
  replace(view, 'clearInterval', (real) => function clearInterval(id) { delete timers[id]; return apply(real, view, [id]); });
  const frames = table();
  let waiting = 0;
  const gone = (key) => { if (frames[key]) { delete frames[key]; waiting -= 1; } };
  const once = (ask, cancel, mark) => {
    replace(view, ask, (real) => function (callback, ...given) {
      if (typeof callback !== 'function') { return apply(real, view, [callback, ...given]); }
      let id = 0;
      id = apply(real, view, [function (...more) { gone(mark + id); return apply(callback, this, more); }, ...given]);
      frames[mark + id] = 1;
      waiting += 1;
      return id;
    });
    replace(view, cancel, (real) => function (id) { gone(mark + id); return apply(real, view, [id]); });
  };
  once('requestAnimationFrame', 'cancelAnimationFrame', 'a');
  once('requestIdleCallback', 'cancelIdleCallback', 'i');
  if (view.MessagePort) {
    replace(MessagePort.prototype, 'postMessage', (real) => function postMessage(...given) {
      activity += 1;
      return apply(real, this, given);
    });
  }

  // Changes of the document, and of every shadow tree; those that are closed are open to us alone.
  // A frame that came by innerHTML has no window: the engine loads it once its address is set again.
  const added = getOwnPropertyDescriptor(MutationRecord.prototype, 'addedNodes').get;
  const framesIn = Element.prototype.querySelectorAll, attribute = Element.prototype.getAttribute;
  const setAttribute = Element.prototype.setAttribute;
  const windowOf = getOwnPropertyDescriptor(HTMLIFrameElement.prototype, 'contentWindow').get;
  const AnyElement = Element, Frame = HTMLIFrameElement, ADDRESSES = ['src', 'srcdoc'];
  const load = (frame) => {
    for (let at = 0; at < ADDRESSES.length; at += 1) {
      const value = apply(attribute, frame, [ADDRESSES[at]]);
      if (value && !apply(windowOf, frame, [])) { apply(setAttribute, frame, [ADDRESSES[at], value]); }
    }
  };
  const loadFrames = (records) => {
    for (let at = 0; at < records.length; at += 1) {
      const nodes = apply(added, records[at], []);
      for (let i = 0; i < nodes.length; i += 1) {
        if (!(nodes[i] instanceof AnyElement)) { continue; }
        if (nodes[i] instanceof Frame) { load(nodes[i]); continue; }
        const inside = apply(framesIn, nodes[i], ['iframe']);
        for (let j = 0; j < inside.length; j += 1) { load(inside[j]); }
      }
    }
  };
  const moved = new MutationObserver((records) => { activity += records.length; loadFrames(records); });
  const watch = MutationObserver.prototype.observe;
  const everything = { subtree: true, childList: true, characterData: true, attributes: true };
  apply(watch, moved, [page, everything]);
  const roots = [];
  const closed = new WeakSet();
  const add = WeakSet.prototype.add, has = WeakSet.prototype.has;
  replace(Element.prototype, 'attachShadow', (real) => function attachShadow(init) {
    const shut = !!init && init.mode === 'closed';
    const root = apply(real, this, [shut ? { ...init, mode: 'open' } : init]);
    if (shut) { apply(add, closed, [this]); }
    roots[roots.length] = root;
    apply(watch, moved, [root, everything]);
    return root;
  });
  replace(Element.prototype, 'shadowRoot', (real) => function shadowRoot() {
    return apply(has, closed, [this]) ? null : apply(real, this, []);
  });

  // What the page is, says and asks for.
  const listen = EventTarget.prototype.addEventListener;
  // The name of what an error says is not there: "caches is not defined", "x.getFile is not a function", "(reading 'y')".
  const within = String.prototype.indexOf, last = String.prototype.lastIndexOf;
  const MAX_LACKS = 20, LACKS = [' is not defined', ' is not a function', ' is not a constructor'], READING = "(reading '";
  let lacks = 0;
  const failed = (what) => {
    let words = '', name = '';
    try { words = apply(slice, text(what && what.message !== undefined ? what.message : what), [0, 300]); } catch { return; }
    const read = apply(within, words, [READING]);
    if (read >= 0) { name = apply(slice, words, [read + READING.length, apply(last, words, ["'"])]); }
    for (let at = 0; at < LACKS.length && !name; at += 1) {
      const end = apply(within, words, [LACKS[at]]);
      if (end >= 0) { name = apply(slice, words, [0, end]); }
    }
    name = apply(slice, name, [apply(last, name, ['.']) + 1]);
    name = apply(slice, name, [apply(last, name, [' ']) + 1]);
    if (name && (lacks += 1) <= MAX_LACKS) { note('lacks', name); }
  };
  apply(listen, view, ['error', (event) => { if (event.target === view) { errors += 1; failed(event); } }, true]);
  apply(listen, view, ['unhandledrejection', (event) => { rejections += 1; failed(event.reason); }, true]);
  const lines = [];
  const told = (given) => {
    let line = '';
    for (let at = 0; at < given.length && line.length < MAX_MESSAGE; at += 1) {
      let word = '';
      try {
        const value = given[at];
        if (value instanceof Error) { word = text(value); }
        else { word = typeof value === 'object' && value ? stringify(value) : text(value); }
      } catch { word = '?'; }
      line += (at ? ' ' : '') + word;
    }
    return apply(slice, line, [0, MAX_MESSAGE]);
  };
  const clock = Date.now;
  const record = (level, line) => {
    if (lines.length < MAX_MESSAGES) {
      lines[lines.length] = '{"level":' + stringify(level) + ',"text":' + stringify(line) + ',"timestamp":' + clock() + '}';
    }
  };
  if (options.console) {
    const levels = { log: 'log', debug: 'debug', info: 'info', warn: 'warning', error: 'error' };
    for (const name of Object.keys(levels)) {
      replace(console, name, (real) => function (...given) { record(levels[name], told(given)); });
    }
    apply(listen, view, ['error', (event) => { if (event.target === view) { record('error', told([event.message])); } }]);
  }
  const dialogs = [];
  const dialog = (kind, answer) => replace(view, kind, () => function (message) {
    if (dialogs.length >= MAX_DIALOGS) { count('dialog_loop'); throw new Error('too many dialogs'); }
    dialogs[dialogs.length] = '{"kind":' + stringify(kind) + ',"message":' + stringify(apply(slice, told([message ?? '']), [0, 500])) + '}';
    return answer;
  });
  dialog('alert', undefined);
  dialog('confirm', false);
  dialog('prompt', null);

  const context = (kind) => view[kind] && replace(view[kind].prototype, 'getContext', (real) => function getContext(...given) {
    const found = apply(real, this, given);
    const name = apply(slice, apply(lower, text(given[0]), []), [0, 20]);
    note('contexts', name);
    if (!found) { note('refused', name); }
    return found;
  });
  context('HTMLCanvasElement');
  context('OffscreenCanvas');
  built('WebSocket', 'web_sockets');
  built('Worker', 'workers');
  built('SharedWorker', 'workers');
  built('IntersectionObserver', 'intersections');
  built('ResizeObserver', 'resizes');
  built('PerformanceObserver', 'performance');
  built('EventSource', 'event_sources');
  // The engine says no to what it does not know of the device: answer as a browser on a desk would.
  const substitute = String.prototype.replace;
  const YES = /\(\s*(?:(?:any-)?hover\s*:\s*hover|(?:any-)?pointer\s*:\s*fine|prefers-color-scheme\s*:\s*light)\s*\)/gi;
  replace(view, 'matchMedia', (real) => function matchMedia(query) {
    count('media_queries');
    return apply(real, this, [apply(substitute, text(query), [YES, '(min-width: 0px)'])]);
  });
  counted(view, 'getComputedStyle', 'layout_reads');
  for (const name of ['getBoundingClientRect', 'getClientRects', 'clientWidth', 'clientHeight', 'scrollWidth', 'scrollHeight']) {
    counted(Element.prototype, name, 'layout_reads');
  }
  for (const name of ['offsetWidth', 'offsetHeight', 'offsetTop', 'offsetLeft']) {
    counted(HTMLElement.prototype, name, 'layout_reads');
    counted(Element.prototype, name, 'layout_reads');
  }
  for (const name of ['getBBox', 'getComputedTextLength', 'getSubStringLength']) {
    for (const kind of ['SVGElement', 'SVGGraphicsElement', 'SVGTextContentElement']) { if (view[kind]) { counted(view[kind].prototype, name, 'drawn_reads'); } }
  }
  if (view.CanvasRenderingContext2D) {
    for (const name of ['getImageData', 'measureText']) { counted(CanvasRenderingContext2D.prototype, name, 'drawn_reads'); }
  }
  replace(CustomElementRegistry.prototype, 'define', (real) => function define(name, kind, how) {
    if (how && how.extends) { count('extended_elements'); }
    return apply(real, this, [name, kind, how]);
  });
  // React listens to everything there is at the root of its tree, whatever the page does.
  const keys = Object.keys, starts = String.prototype.startsWith;
  const listensToAll = (target) => {
    const own = keys(target || view);
    for (let at = 0; at < own.length; at += 1) { if (apply(starts, own[at], ['_reactListening'])) { return true; } }
    return false;
  };
  const ENDS = { __proto__: null, animationstart: 1, animationend: 1, animationiteration: 1, transitionstart: 1, transitionend: 1 };
  replace(EventTarget.prototype, 'addEventListener', (real) => function addEventListener(...given) {
    if (ENDS[given[0]] && !listensToAll(this)) { count('animations'); }
    return apply(real, this, given);
  });

  // The engine lets a page take any address; with it, it would get that site's cookies.
  const Address = URL, base = getOwnPropertyDescriptor(Node.prototype, 'baseURI');
  const stays = (name) => replace(History.prototype, name, (real) => function (state, unused, to) {
    if (to !== undefined && to !== null) {
      let target = '';
      try { target = new Address(text(to), apply(base.get, page, [])); } catch { target = nothing; }
      if (target.origin !== view.origin) { throw new DOMException('not the same origin', 'SecurityError'); }
      return apply(real, this, [state, unused, target.href]);
    }
    return apply(real, this, [state, unused]);
  });
  stays('pushState');
  stays('replaceState');
  if (options.agent) {
    replace(Navigator.prototype, 'userAgent', () => () => options.agent);
  }
  const stored = options.storage[view.origin];
  if (stored && view === view.top) {
    try {
      for (const [name, value] of Object.entries(stored.local)) { localStorage.setItem(name, value); }
      for (const [name, value] of Object.entries(stored.session)) { sessionStorage.setItem(name, value); }
    } catch { count('storage_refused'); }
  }

  const walk = page.createTreeWalker.bind(page);
  const next = TreeWalker.prototype.nextNode;
  const data = getOwnPropertyDescriptor(CharacterData.prototype, 'data').get;
  const above = getOwnPropertyDescriptor(Node.prototype, 'parentNode').get;
  const nameOf = getOwnPropertyDescriptor(Node.prototype, 'nodeName').get;
  const trim = String.prototype.trim;
  const UNSHOWN = { __proto__: null, SCRIPT: 1, STYLE: 1, NOSCRIPT: 1, TEMPLATE: 1, TITLE: 1 };
  const shown = (root, limit) => {
    let length = 0;
    const walker = walk(root, 4);
    for (let node = apply(next, walker, []); node && length < limit; node = apply(next, walker, [])) {
      const parent = apply(above, node, []);
      if (!parent || !UNSHOWN[apply(nameOf, parent, [])]) { length += apply(trim, apply(data, node, []), []).length; }
    }
    return length;
  };
  const words = (list) => { let line = ''; for (const word in seen[list]) { line += (line ? ' ' : '') + word; } return line; };
  const all = (list) => { let line = '['; for (let at = 0; at < list.length; at += 1) { line += (at ? ',' : '') + list[at]; } return line + ']'; };

  const state = () => {
    const answer = table(), at = now();
    let due = -1, late = -1, lates = 0;
    for (const id in timers) {
      const left = timers[id].due - at;
      const ms = left > 0 ? left : 0;
      if (timers[id].kind === 1) { due = due < 0 || ms < due ? ms : due; }
      else { lates += 1; late = late < 0 || ms < late ? ms : late; }
    }
    let length = shown(page, THIN);
    for (let i = 0; i < roots.length && length < THIN; i += 1) { length += shown(roots[i], THIN - length); }
    answer.activity = activity;
    answer.turned = turned;
    turned = false;
    apply(later, view, [taken, 0]);
    answer.frames = waiting;
    answer.due = due;
    answer.late = late;
    answer.lates = lates;
    answer.chars = length;
    answer.errors = errors;
    answer.rejections = rejections;
    answer.dialogs = dialogs.length;
    answer.contexts = words('contexts');
    answer.refused = words('refused');
    answer.lacks = words('lacks');
    for (const name in flags) { answer['n_' + name] = flags[name]; }
    return stringify(answer);
  };
  defineProperty(view, options.name, {
    value: (what) => (what === 'console' ? all(lines) : what === 'dialogs' ? all(dialogs) : state()),
    writable: false, configurable: false, enumerable: false,
  });
}
