// Tells how settled the document is; the first call in a document begins to watch it.
(() => {
  const MANY = 200, AT_ONCE_S = 1, LED_ON_MS = 3000;
  const LOADING = [
    '[aria-busy="true"]', '[data-loading="true"]', '.skeleton', '[class*="skeleton" i]', '.spinner', '.loader',
    '.loading', '[class*="spinner" i]', '.placeholder-glow',
  ].join(',');
  const FIELDS = 'input, select, textarea, [role="spinbutton"]', BUTTONS = 'a, button, [role="button"]';
  const HANDLERS = ['load', 'click', 'mousedown', 'pointerdown', 'keydown', 'keyup', 'input', 'change', 'submit'].map((name) => `[on${name}]`).join();
  const WORDS = /^(loading|please wait|one moment|just a second|laden|wird geladen|chargement|cargando|carregando|caricamento)\b[\s.…]*$/i;
  // A page may call an element like that; what is ours is no element.
  const known = Object.hasOwn(globalThis, '__weft') ? globalThis.__weft : (globalThis.__weft = begin());

  function begin() {
    const state = { last: performance.now(), roots: new WeakSet() };
    state.observer = new MutationObserver((records) => {
      if (records.some(matters)) state.last = performance.now();
    });
    return state;
  }

  function matters(record) {
    if (record.type === 'characterData') return true;
    for (const list of [record.addedNodes, record.removedNodes])
      for (const node of list)
        if (node.nodeType === 3 ? node.data.trim() : node.nodeType === 1 && !/^(script|style|link|meta)$/.test(node.localName))
          return true;
    return false;
  }

  function watch(root) {
    if (known.roots.has(root)) return;
    known.roots.add(root);
    known.observer.observe(root, { childList: true, characterData: true, subtree: true });
  }

  function shows(element) {
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return false;
    const box = element.getBoundingClientRect();
    return box.width > 0 && box.height > 0;
  }

  // What is typed into or clicked waits for nothing: a spinner may be a number with arrows beside it.
  function isUsed(element) {
    return element.matches(`${FIELDS}, ${BUTTONS}`) || element.querySelector(FIELDS) !== null;
  }

  function waits() {
    let looked = 0;
    for (const element of document.querySelectorAll(LOADING)) {
      if (++looked > MANY) break;
      if (element === document.body || element === document.documentElement || isUsed(element)) continue;
      if (shows(element)) return true;
    }
    const body = document.body;
    if (body === null || body.textContent.length > 2000) return false;
    return body.innerText.split('\n').some((line) => WORDS.test(line.trim()));
  }

  // A refresh that is due at once leads to another page: this one is not what anybody wants.
  function leads() {
    const metas = [...document.querySelectorAll('meta[http-equiv="refresh" i]')];
    return performance.now() < LED_ON_MS && metas.some((meta) => parseFloat(meta.content) <= AT_ONCE_S);
  }

  function programs() {
    let count = leads() || document.querySelector(HANDLERS) ? 1 : 0;
    for (const script of document.scripts)
      if (/^$|module|javascript|ecmascript/i.test(script.type)) count += 1;
    return count;
  }

  watch(document);
  for (const element of document.querySelectorAll('*')) if (element.shadowRoot) watch(element.shadowRoot);
  return {
    ready: document.readyState,
    quiet: performance.now() - known.last,
    loading: leads() || waits(),
    programs: programs(),
    size: performance.getEntriesByType('navigation')[0]?.decodedBodySize ?? 0,
  };
})()
