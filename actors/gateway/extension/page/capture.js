// Looks at the page for a round: its tree, and more of it when that is asked for; tells how quiet it is, and what came of an action.
weftExecutor.part((executor) => {
  const MANY_DOM = 200_000, MANY_FINDINGS = 10, FINDING = 200, MANY_NODES = 150_000;
  const FIELDS = 'input, textarea, select', WRITTEN = 'input, textarea, [contenteditable]';
  const UNSENT = 'script, style, noscript, template, link, meta, base, svg, iframe, frame, object, embed, [data-weft-mark]';
  const STAMP = weft.view().STAMP;
  let watching = null;

  // -- how quiet it is -----------------------------------------------------------------------------------------------

  function watch() {
    if (watching) return;
    watching = { mutations: 0, requests: 0, last: performance.now() };
    const changed = (records) => {
      const theirs = records.filter((one) => !isOurs(one)).length;
      if (!theirs) return;
      watching.mutations += theirs;
      watching.last = performance.now();
    };
    // What a field holds is no part of the document, and a change all the same.
    watching.input = () => changed([{ target: document }]);
    for (const type of ['input', 'change']) addEventListener(type, watching.input, true);
    watching.observer = new MutationObserver(changed);
    watching.observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    watching.loads = new PerformanceObserver((list) => {
      watching.requests += list.getEntries().length;
      watching.last = performance.now();
    });
    watching.loads.observe({ type: 'resource' });
  }

  // What we do to the document ourselves: numbers, and the mark.
  function isOurs({ type, attributeName, addedNodes, removedNodes }) {
    if (type === 'attributes') return attributeName === STAMP;
    return type === 'childList' && [...addedNodes, ...removedNodes].every(executor.isMark);
  }

  function quiet() {
    watch();
    const at = performance.now();
    return { at, ms: at - watching.last, mutations: watching.mutations, requests: watching.requests, loaded: document.readyState === 'complete', url: location.href, page: weft.view().known.page };
  }

  // Ends everything that was begun here: a page that nobody acts on any more is left as it is.
  function leave() {
    watching?.observer.disconnect();
    watching?.loads.disconnect();
    for (const type of ['input', 'change']) removeEventListener(type, watching?.input, true);
    watching = null;
    executor.turn += 1;
    executor.unmark();
    forget();
    setTimeout(forget, 3000); // what was put off before may have begun again
    return {};
  }

  function forget() {
    const { watched } = weft.view().known;
    if (!watched || watching) return;
    watched.observer.disconnect();
    Object.assign(watched, { roots: [], seen: new WeakSet() });
  }

  // -- the tree ------------------------------------------------------------------------------------------------------

  // The tree of one document; `frame` is where it stands in the window, for that of a frame.
  // What the elements say is kept in this very step: what the page makes of them later is another thing.
  function tree({ next, frame = null, boxes = false, aside = false }) {
    watch();
    const seeds = { next, entries: [] };
    const { result, failed, next: free } = weft.answer('semantic', { seeds, max_tokens: null, text: true, boxes, selectors: true, frame });
    if (failed) executor.refuse('UNREADABLE', 'The page does not let itself be looked at.');
    const frames = result.frames.filter((one) => one.shown).map((one) => ({ ...one, index: indexOf(one.way) }));
    const nodes = result.packed?.nodes ?? result.nodes;
    if (!aside) executor.keep(nodes.map(({ i }) => i.replace(/^f\d+_/, '')));
    return { ...result, fresh: [], ids: {}, nodes, frames, next: free };
  }

  // Which window of this one a frame has: all that is known of it from outside.
  function indexOf(way) {
    const inner = weft.view().at(way)?.contentWindow;
    for (let index = 0; index < window.length && index < 100; index++) if (window[index] === inner) return index;
    return -1;
  }

  // What fits of a tree that may be too large, and the hash of all of it.
  function fitted({ nodes, query }) {
    const view = weft.view();
    return { hash: view.treeHash(nodes), ...view.rag({ nodes, query }) };
  }

  // -- more of the page ----------------------------------------------------------------------------------------------

  const skeleton = () => ({ html: weft.view().skeleton({}).html });

  // The page as it was written, in a document where nothing is loaded and nothing runs, without what is secret in it.
  function dom() {
    const view = weft.view(), inert = document.implementation.createHTMLDocument(''), root = view.rootElement(document);
    const copy = inert.importNode(root, true);
    const own = view.findIn(root, FIELDS), copied = view.findIn(copy, FIELDS);
    own.forEach((field, index) => conceal(view, field, copied[index]));
    for (const node of view.findIn(copy, UNSENT)) node.remove();
    for (const node of view.findIn(copy, '*'))
      for (const name of view.attributeNames(node)) if (/^(?:on|style$|srcdoc$|srcset$|nonce$|integrity$)/i.test(name)) view.removeAttribute(node, name);
    return { html: view.unsecret(copy.outerHTML).slice(0, MANY_DOM) };
  }

  function conceal(view, field, copy) {
    if (!copy || !(field.type === 'hidden' || executor.isSecret(field))) return;
    copy.removeAttribute('value');
    copy.textContent = '';
  }

  // Where secret fields stand in the window, those in shadow trees among them, which a picture of it must not show.
  function secrets() {
    const view = weft.view(), boxes = [];
    for (const field of view.nodes(view.rootElement(document), () => true, MANY_NODES)) {
      if (!view.isElement(field) || !view.matches(field, WRITTEN)) continue;
      const box = view.box(field);
      if (box.width > 0 && box.height > 0 && executor.isSecret(field)) boxes.push([box.left, box.top, box.width, box.height].map(Math.round));
    }
    return { boxes, width: innerWidth, height: innerHeight };
  }

  // -- what came of an action ----------------------------------------------------------------------------------------

  // Errors and successes that the page has shown since a moment of its clock, or in so many milliseconds.
  function findings({ ms = 0, since = performance.now() - ms }) {
    const view = weft.view(), log = (view.known.watched?.log ?? []).filter((one) => one.at >= since);
    const said = (kind) => log.filter((one) => one.kind === kind).slice(-MANY_FINDINGS).map((one) => view.clean(one.words, FINDING));
    return { errors: said('Error'), successes: said('Success') };
  }

  // How an element stands now, for whoever checks what was done to it.
  function standing({ id }) {
    const view = weft.view(), entry = view.known.byId.get(String(id)) ?? view.numbered(String(id));
    const element = entry?.ref?.deref();
    if (!element?.isConnected) return { found: false };
    const field = executor.fieldOf(element);
    const chosen = field instanceof HTMLSelectElement ? [...field.selectedOptions].map((one) => one.value.slice(0, 200)) : null; // a list may have several
    return { found: true, chosen, value: executor.isSecret(field) ? '' : String(field.value ?? field.innerText ?? '').slice(0, 200), secret: executor.isSecret(field), filled: Boolean(field.value), checked: executor.stateOf(element) };
  }

  Object.assign(executor, { quiet, leave, tree, fitted, skeleton, dom, secrets, findings, standing });
});
