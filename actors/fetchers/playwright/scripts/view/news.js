// Tells what came of an action beside what there is to act on: words that came, fields that the browser does not accept as they are, and
// a file that was asked for. Each has a number that is higher than those before it in the same document.
weft.part((view) => {
  const MANY_NEWS = 12, MANY_REFUSED = 20, CHARS = 120;
  const known = view.known;

  // Listens in a document, or in a shadow tree, out of which these events do not come.
  function hear(root) {
    root.addEventListener('invalid', refuse, { capture: true, passive: true });
    if (root === document) root.addEventListener('click', save, { capture: true, passive: true });
  }

  // Notes that the browser does not accept what a field holds; how it does is asked for later, if at all.
  function refuse(event) {
    const refused = (known.refused ??= new Map());
    refused.delete(event.target);
    refused.set(event.target, { event, number: ++known.watched.number });
    if (refused.size > MANY_REFUSED) refused.delete(refused.keys().next().value);
  }

  // Notes a click on a link to a file, which the page may still prevent: nothing tells of it before the site begins to answer.
  function save(event) {
    if (event.isTrusted && event.composedPath().some(isFile)) known.saved = { event, number: ++known.watched.number };
  }

  // Whether the browser saves what a link leads to.
  function isFile(node) {
    if (!(node instanceof HTMLAnchorElement || node instanceof HTMLAreaElement)) return false;
    return view.attribute(node, 'download') !== null && new URL(node.href, location.href).origin === location.origin;
  }

  // All of it; of a page that does not let itself be asked, nothing.
  function news() {
    try {
      return [...said(), ...refusals(), ...files()].map((one) => ({ page: known.page, ...one }));
    } catch {
      return [];
    }
  }

  function said() {
    const came = (known.watched?.log ?? []).filter((one) => one.kind !== 'Removed' && !one.typed).slice(-MANY_NEWS);
    return came.map(({ number, kind, words, announced = false }) => ({ number, kind, words: view.clean(words, CHARS), announced }));
  }

  // The fields that are not accepted, unless the page has taken it upon itself to say so.
  function refusals() {
    const told = [];
    for (const [element, { event, number }] of known.refused ?? []) {
      if (event.defaultPrevented || !element.isConnected || !view.matches(element, ':invalid')) continue;
      const field = view.unsecret(view.nameOf(element, view.kindOf(element) || 'other'));
      told.push({ number, kind: 'Refused', words: view.clean(view.unsecret(element.validationMessage ?? ''), CHARS), field });
    }
    return told;
  }

  function files() {
    const { saved } = known;
    return saved && !saved.event.defaultPrevented ? [{ number: saved.number, kind: 'File', words: '' }] : [];
  }

  Object.assign(view, { hear, news });
});
