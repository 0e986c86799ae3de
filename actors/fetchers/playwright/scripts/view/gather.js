// Collects everything that a person can act on, in the order in which it is shown.
weft.part((view) => {
  const MANY_NODES = 150_000, MANY = 3000, STYLES_MS = 250, WALK_MS = 500, JUDGE_MS = 700, ALWAYS = 60;
  const LEAST_FRAME = 30, MANY_FRAMES = 10, PLAIN_WORDS = 300, PLAIN_SHARE = 0.6, PLAIN_WITHIN = 5;
  const SKIPPED = new Set([...view.UNREAD, 'option', 'optgroup', 'path', 'g', 'defs', 'param', 'source', 'track', 'br', 'wbr', 'canvas']);
  const FRAMES = new Set(['iframe', 'frame']);
  const ROOTS = new Set(['html', 'body']); // whoever listens there listens for what is in them
  const SCROLLS = /auto|scroll/;

  const begun = performance.now();
  const spent = () => performance.now() - begun;

  // Walks the page; returns the finds, the regions and the frames, and whether all of it was seen. What is `away` is passed over with
  // all that it holds.
  function walk(hidden, away = () => false) {
    const seen = { finds: [], frames: [], scrolls: [], cut: false, visited: 0, total: 0 };
    const stack = [{ node: view.rootElement(document), region: 'page', pointed: false, inside: null, off: false }];
    while (stack.length) {
      const item = stack.pop();
      if (!item.node) continue;
      if (++seen.visited > MANY_NODES || (seen.visited % 64 === 0 && spent() > WALK_MS)) {
        seen.cut = true;
        break;
      }
      try {
        visit(item, stack, seen, hidden, away);
      } catch {
        seen.cut = true; // an element that cannot be read hides no other
      }
    }
    return seen;
  }

  function visit(item, stack, seen, hidden, away) {
    const { node } = item;
    const tag = view.tag(node);
    if (SKIPPED.has(tag) || away(node, tag)) return;
    const kind = view.kindOf(node);
    const styled = kind !== '' || spent() < STYLES_MS;
    const style = styled ? getComputedStyle(node) : null;
    const off = item.off || style?.display === 'none' || view.attribute(node, 'aria-hidden') === 'true' || node.inert === true;
    if (off && !hidden && !view.rescued(node, kind)) return;
    const region = view.regionOf(node) || item.region;
    const clickable = view.known.clickable.has(node), own = clickable || view.attribute(node, 'tabindex') !== null;
    const free = !item.inside || (item.inside.plain && (own || (style?.cursor === 'pointer' && !item.pointed)));
    const plain = kind === '' && styled && !off && free && !ROOTS.has(tag) && view.isPlain(node, style, { pointed: item.pointed, clickable, inside: item.inside }) && !isLabel(node, tag);
    let inside = item.inside;
    if (kind || plain) {
      seen.total += 1;
      const find = { element: node, kind: kind || 'other', region, plain, off, within: 0 };
      if (inside) inside.within += 1;
      if (seen.finds.length < MANY) seen.finds.push(find);
      if (plain) find.certain = view.attribute(node, 'onclick') !== null || own || view.isDragged(node);
      inside = find;
    }
    if (FRAMES.has(tag)) seen.frames.push({ element: node, kind: 'frame', region, off });
    if (style && !off && SCROLLS.test(`${style.overflowX} ${style.overflowY}`)) seen.scrolls.push({ element: node, kind: 'other', region, plain: true, off });
    const inner = view.below(node);
    const pointed = item.pointed || style?.cursor === 'pointer';
    for (let index = inner.length - 1; index >= 0; index--) if (view.isElement(inner[index])) stack.push({ node: inner[index], region, pointed, inside, off });
  }

  function isLabel(node, tag) {
    return tag === 'label' && node.control !== null;
  }

  function isWanted(find) {
    if (!find.plain) return true;
    const words = find.element.textContent.length;
    const box = find.box;
    if (words > PLAIN_WORDS * 4) return false;
    if (box && box.width * box.height > innerWidth * innerHeight * PLAIN_SHARE) return false;
    return find.certain ? find.within <= PLAIN_WITHIN : find.within === 0;
  }

  function name(find) {
    const told = view.nameOf(find.element, find.kind);
    find.label = view.unsecret(told || (find.certain ? view.classed(find.element) : ''));
    if (find.plain && !find.label) return false;
    find.sig = view.signature(find.element, find.kind, find.label, find.region);
    return true;
  }

  // Measures and names what was found, one after another until the time is up; those that are not shown come last. After so many hits
  // nobody looks any more what lies over what.
  function judge(finds, hidden, hits) {
    const shown = [], rest = [];
    view.box(view.rootElement(document)); // the layout is done before the time counts
    const state = { hits, modal: view.modal() };
    const from = performance.now();
    let judged = 0;
    for (const find of finds) {
      if (judged++ >= ALWAYS && performance.now() - from > JUDGE_MS) return { named: view.withoutStands([...shown, ...rest]), cut: true };
      try {
        view.measure(find, state);
        if ((hidden || find.box) && isWanted(find) && name(find)) (find.box ? shown : rest).push(find);
      } catch {
        continue; // hostile enough to be left out
      }
    }
    return { named: view.withoutStands([...shown, ...rest]), cut: false };
  }

  // Gives numbers to what has come since the page was read.
  function rescan() {
    gather(false, { untold: true });
  }

  // The frames that are shown, largest first.
  function framesOf(found) {
    const state = { hits: 0, modal: view.modal() };
    for (const find of found.slice(0, MANY_FRAMES * 5)) view.measure(find, state);
    const shown = found.filter((find) => find.box && find.box.width >= LEAST_FRAME && find.box.height >= LEAST_FRAME);
    shown.sort((one, other) => other.box.width * other.box.height - one.box.width * one.box.height);
    const kept = shown.slice(0, MANY_FRAMES);
    for (const find of kept) {
      find.label = view.nameOf(find.element, 'frame') || hostOf(find.element);
      find.sig = view.signature(find.element, find.kind, find.label, find.region);
    }
    return kept;
  }

  function hostOf(element) {
    try {
      return new URL(element.src, location.href).hostname;
    } catch {
      return '';
    }
  }

  // Finds everything to act on and assigns ids; with `hidden` also what is not shown.
  function gather(hidden, { untold = false } = {}) {
    const seen = walk(hidden);
    const { named, cut } = judge(seen.finds, hidden, untold ? Infinity : 0);
    const frames = framesOf(seen.frames);
    const fresh = view.assign([...named, ...frames], { untold });
    return { named, frames, fresh, total: seen.total, cut: seen.cut || cut || seen.total > MANY };
  }

  function at(way) {
    let node = document;
    for (const step of way) node = step === 's' ? node && view.rootIn(node) : node && view.children(node)[step];
    return node ?? null;
  }

  // The element of an id or a number that stands on the page, or what was found to have taken its place.
  function held(id) {
    const entry = view.known.byId.get(id) ?? view.numbered(id);
    for (const one of [entry, entry?.healed]) {
      const element = one?.ref?.deref();
      if (element?.isConnected) return element;
    }
    return null;
  }

  function standing(id) {
    const element = held(id);
    if (!element) return null;
    const ticks = element instanceof HTMLInputElement && (element.type === 'checkbox' || element.type === 'radio');
    if (!ticks) return element;
    const find = { element, kind: element.type, off: !view.isShown(element) };
    view.shownAt(find);
    return find.stand ?? element;
  }

  Object.assign(view, { at, held, standing, gather, rescan, walk, isWanted, name, framesOf });
});
