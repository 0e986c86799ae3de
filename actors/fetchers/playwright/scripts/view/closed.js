// Finds what may have a shadow tree that is closed to scripts, for the browser's own protocol to look into.
weft.part((view) => {
  const MANY_NODES = 20_000, MANY_HOSTS = 40, OFTEN = 3, LEAST = 8;
  const EMPTY = ['div', 'span', 'section', 'article', 'main', 'aside', 'nav', 'header', 'footer', 'p'].map((tag) => `${tag}:empty`).join(', ');
  const known = view.known;
  known.closed ??= new WeakMap();
  known.looked ??= new WeakMap();

  function closedRoot(element) {
    return known.closed.get(element) ?? null;
  }

  // Whether something is shown of which nothing is to be seen in the document.
  function isLikely(element) {
    if (view.rootIn(element) || (known.looked.get(element) ?? 0) >= OFTEN) return false;
    const box = view.box(element);
    return box.width >= LEAST && box.height >= LEAST && view.isVisible(element);
  }

  function isOwn(element) {
    return view.tag(element).includes('-');
  }

  // How many elements may hide something; they stand in `known.hosts` until they are asked for.
  function hosts() {
    const all = document.getElementsByTagName('*'), found = [];
    for (let index = 0; index < all.length && index < MANY_NODES && found.length < MANY_HOSTS; index++) if (isOwn(all[index]) && isLikely(all[index])) found.push(all[index]);
    for (const element of view.findAll(document, EMPTY)) {
      if (found.length >= MANY_HOSTS) break;
      if (isLikely(element)) found.push(element);
    }
    for (const element of found) known.looked.set(element, (known.looked.get(element) ?? 0) + 1);
    known.hosts = found;
    return found.length;
  }

  Object.assign(view, { closedRoot, hosts });
});
