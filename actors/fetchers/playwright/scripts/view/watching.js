// Watches what a page changes: keeps what it said lately, also what was shown for a moment only, and gives
// what comes its number. A page that changes faster than anybody can look is let alone for a while, so that it stays as fast as it was.
weft.part((view) => {
  const WINDOW_MS = 1000, MANY_RECORDS = 10_000, SPENT_MS = 40, REST_MS = 1000, LONGEST_REST_MS = 8000, LOOKED_AT = 200, MANY_ROOTS = 200;
  const MANY_PARTS = 12, MANY_TOLD = 20, MANY_KEPT = 60, CHARS = 160, QUOTED = 120, LONG = 60_000, ERROR_MS = 15_000, IDLE = 40, PAUSE_MS = 50;
  const OBSERVED = {
    childList: true, characterData: true, subtree: true, attributes: true,
    attributeFilter: [view.STAMP, 'class', 'style', 'hidden', 'aria-hidden', 'aria-invalid'],
  };
  const known = view.known;
  const blurred = (text) => text.replace(/\d+/g, '#');

  function watch() {
    if (!known.watched) {
      const observer = new MutationObserver(heard);
      known.watched = { observer, roots: [], seen: new WeakSet(), log: [], number: 0, since: 0, count: 0, spent: 0, due: false, next: 0, resting: false, rested: 0, rest: REST_MS };
    }
    watchRoot(document);
    view.listen?.(globalThis);
  }

  // Watches a document, or a shadow tree, of which no observer hears that watches what is around it.
  function watchRoot(root) {
    const { watched } = known;
    if (!watched || watched.seen.has(root) || watched.roots.length >= MANY_ROOTS) return;
    watched.seen.add(root);
    watched.roots.push(new WeakRef(root));
    view.hear?.(root);
    if (root.mode === 'closed') view.listen?.(root); // who listens around it is told of its host alone
    if (!watched.resting) watched.observer.observe(root, OBSERVED);
  }

  function heard(records) {
    const { watched } = known, begun = performance.now();
    if (begun - watched.since > WINDOW_MS) Object.assign(watched, { since: begun, count: 0, spent: 0 });
    watched.count += records.length;
    try {
      look(records.length > LOOKED_AT ? [...records.slice(0, LOOKED_AT / 2), ...records.slice(-LOOKED_AT / 2)] : records);
    } catch {
      watched.spent += 1; // a page that does not let itself be read costs no more than others
    }
    watched.spent += performance.now() - begun;
    if (watched.count > MANY_RECORDS || watched.spent > SPENT_MS) rest();
  }

  function rest() {
    const { watched } = known;
    watched.rest = performance.now() - watched.rested < REST_MS ? Math.min(watched.rest * 2, LONGEST_REST_MS) : REST_MS;
    watched.resting = true;
    watched.observer.disconnect();
    setTimeout(resume, watched.rest);
  }

  function resume() {
    const { watched } = known;
    watched.resting = false;
    watched.rested = performance.now();
    for (const ref of watched.roots) {
      const root = ref.deref();
      if (root?.isConnected) watched.observer.observe(root, OBSERVED);
    }
    scanLater();
  }

  // -- what is said --------------------------------------------------------------------------------------------------

  function look(records) {
    const added = new Set(), changed = new Set(), removed = new Set();
    for (const record of records) {
      if (record.attributeName !== view.STAMP) answered(record.target);
      if (record.type === 'childList') listed(record, added, changed, removed);
      else if (record.type === 'characterData') put(changed, view.parent(record.target));
      else if (record.attributeName === view.STAMP) restamp(record.target);
      else if (record.attributeName === 'aria-invalid') marked(record.target);
      else if (view.messageOf(record.target) === record.target) put(changed, record.target);
    }
    const before = new Set();
    for (const node of [...removed].slice(0, LOOKED_AT)) before.add(view.clean(node.textContent, CHARS));
    for (const node of added) if (known.stamping && node.isConnected) view.unstamp(node);
    const told = new Set();
    for (const node of outermost(added)) tell(node, 'Added', before, told);
    for (const node of outermost(changed)) if (!added.has(node)) tell(node, before.size ? 'Changed' : 'Added', before, told);
    for (const words of before) if (words && !told.has(words)) gone(words);
    if (added.size) scanLater();
  }

  function answered(node) {
    const element = view.isElement(node) ? node : view.parent(node);
    if (element && view.isElement(element)) view.answerInput?.(element);
  }

  function restamp(element) {
    if (known.stamping) view.restamp(element);
  }

  function put(nodes, node) {
    if (node && view.isElement(node)) nodes.add(node);
  }

  function listed(record, added, changed, removed) {
    for (const node of record.addedNodes) {
      if (view.isElement(node)) added.add(node);
      else if (node.nodeType === Node.TEXT_NODE && node.data.trim()) put(changed, record.target);
    }
    for (const node of record.removedNodes) if (view.isElement(node) || node.nodeType === Node.TEXT_NODE) removed.add(node);
  }

  function outermost(nodes) {
    const kept = [];
    for (const node of nodes) {
      if (kept.length >= MANY_PARTS) break;
      if (!node.isConnected || view.UNREAD.has(view.tag(node))) continue;
      let outer = view.parent(node);
      for (let up = 0; outer && up < 10 && !nodes.has(outer); up++) outer = view.parent(outer);
      if (!nodes.has(outer)) kept.push(node);
    }
    return kept;
  }

  // Notes what a part says, and of a large one what in it is there to say something.
  function tell(node, kind, before, told) {
    if (!isSeen(node)) return;
    if (!known.snapshots && !view.messageOf(node)) return messagesIn(node); // the page is still being made
    const words = view.textOf(node, CHARS);
    told.add(words);
    if (!words || before.has(words)) return;
    if (words.length >= CHARS - 1 && !view.messageOf(node)) messagesIn(node);
    note(node, kind, words);
  }

  function messagesIn(node) {
    const inner = view.findIn(node, view.MESSAGES);
    for (let index = 0; index < inner.length && index < MANY_PARTS; index++) if (isSeen(inner[index])) note(inner[index], 'Added', view.textOf(inner[index], CHARS));
  }

  function isSeen(node) {
    return view.shows(node) && view.isVisible(node);
  }

  function marked(element) {
    if (view.attribute(element, 'aria-invalid') === 'true') record('Error', `${view.nameOf(element, view.kindOf(element) || 'other')} is invalid`);
  }

  // While a page is being made only what says that something went wrong or well is news.
  function note(node, kind, words) {
    const made = known.snapshots > 0, tone = words && view.toneOf(node, words, !made);
    if (!tone && !(made && words)) return;
    const message = view.messageOf(node);
    record(tone || kind, words, { announced: message !== null && view.matches(message, view.SPOKEN), typed: node.isContentEditable === true });
  }

  function gone(words) {
    const { log } = known.watched;
    if (log.some((one) => one.kind !== 'Removed' && one.words === view.unsecret(words))) record('Removed', words);
  }

  function record(kind, said, how = {}) {
    const { watched } = known, words = view.unsecret(said), name = `${kind} ${blurred(words)}`;
    watched.log = watched.log.filter((one) => one.name !== name);
    watched.log.push({ kind, words, name, at: performance.now(), number: ++watched.number, ...how });
    if (watched.log.length > MANY_KEPT) watched.log.splice(0, watched.log.length - MANY_KEPT);
  }

  // What happened lately, oldest first, and whether anything says that it went wrong or well.
  function events() {
    const now = performance.now(), tones = view.standingTones();
    const recent = (known.watched?.log ?? []).filter((one) => now - one.at < LONG);
    const loud = recent.filter((one) => one.kind === 'Error' || one.kind === 'Success').slice(-MANY_TOLD / 2);
    const rest = MANY_TOLD - loud.length, others = recent.filter((one) => !loud.includes(one)).slice(-rest);
    const told = recent.filter((one) => loud.includes(one) || others.includes(one));
    const late = (kind) => tones.has(kind) || recent.some((one) => one.kind === kind && now - one.at < ERROR_MS);
    return {
      recentEvents: told.map(({ kind, words, at }) => `[${Math.round((now - at) / 1000)}s ago] ${kind}: '${view.clean(words, QUOTED)}'`),
      hasErrors: late('Error'), hasSuccess: late('Success'),
    };
  }

  // -- what comes ----------------------------------------------------------------------------------------------------

  // Gives what has come its number before it is drawn, where the page is small; else so seldom that nobody feels it.
  function scanLater() {
    const { watched } = known;
    if (watched.due || !known.stamping) return;
    watched.due = true;
    const wait = watched.next - performance.now();
    if (wait > 0) setTimeout(scan, wait);
    else requestAnimationFrame(scan);
  }

  function scan() {
    const { watched } = known, begun = performance.now();
    watched.due = false;
    try {
      weft.view().rescan();
    } finally {
      const end = performance.now();
      watched.next = end + Math.max((end - begun) * IDLE, PAUSE_MS);
    }
  }

  Object.assign(view, { watch, watchRoot, events });
});
