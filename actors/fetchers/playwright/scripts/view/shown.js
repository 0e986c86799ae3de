// Tells whether and where elements are shown, and what lies over them.
weft.part((view) => {
  const LEAST = 1, CLIP = 2, MANY_HITS = 600, MANY_UP = 60;
  const ROOTS = new Set(['html', 'body']);
  const SCROLLS = /auto|scroll/;
  const FIELDS = new Set(['input', 'select', 'checkbox', 'radio', 'file']), BESIDE = 'label, legend, input:not([type="hidden"], [aria-hidden="true"]), select, textarea, [role="combobox"]';
  const MANY_AROUND = 5, LEAST_HEIGHT = 16, TALLER = 2.5;
  const frames = new Map();
  let blocking;
  const FRAMES = new Set(['iframe', 'frame']);

  // A box to tick, or a field for files, is often hidden behind the words that stand for it.
  function rescued(element, kind) {
    return (kind === 'checkbox' || kind === 'radio' || kind === 'file') && substitute(element) !== null;
  }

  function substitute(element) {
    for (const label of element.labels ?? []) if (isShown(label) && extent(label)) return label;
    return null;
  }

  function isShown(element) {
    return view.isVisible(element, { visibilityProperty: true, opacityProperty: true });
  }

  function extent(element, box = view.box(element)) {
    if (box.width >= LEAST && box.height >= LEAST) return box;
    for (const inner of [...view.children(element)].slice(0, 5)) {
      const other = view.box(inner);
      if (other.width >= LEAST && other.height >= LEAST) return other;
    }
    return null;
  }

  // Where an element is shown: itself, whose `own` box may be known, or the label that stands for it; nothing for what is not.
  function shownAt(find, own = undefined) {
    const { element, kind } = find;
    let box = !find.off && isShown(element) ? extent(element, own) : find.off ? null : transparentAt(find, own);
    const ticks = kind === 'checkbox' || kind === 'radio' || kind === 'file';
    if (ticks && (!box || box.width <= CLIP || box.height <= CLIP || getComputedStyle(element).pointerEvents === 'none')) {
      const label = substitute(element);
      if (label) find.stand = label;
      box = label ? extent(label) : box;
    }
    if (box && (kind === 'input' || kind === 'select') && isAway(element, box)) return null;
    return box && isReached(element, box) ? box : null;
  }

  // Whether a field is out of sight for good: a page that draws its own leaves no more than a point of it.
  function isAway(element, box = view.box(element)) {
    return (box.width <= CLIP || box.height <= CLIP) && !opensList(element);
  }

  // Where a field is that only its opacity keeps from sight: the page draws it anew around it, and it still gets what is clicked there.
  function transparentAt(find, own) {
    const { element, kind } = find;
    if (!FIELDS.has(kind) || !view.isVisible(element, { visibilityProperty: true })) return null;
    const box = extent(element, own), around = box && drawnAround(element, box);
    if (!around) return null;
    const lists = opensList(element), { left, right, top, bottom } = lists ? extent(around) : box;
    const point = hit((left + right) / 2, (top + bottom) / 2);
    if (lists) {
      if (point !== null && !view.isWithin(point, around)) return null;
      find.stand = around;
      return extent(around);
    }
    const typed = kind === 'input' && element.type !== 'range';
    return (point === null || view.isWithin(point, element)) && (!typed || view.textOf(around, 1, element)) ? box : null;
  }

  function opensList(element) {
    return view.attribute(element, 'role') === 'combobox' || view.attribute(element, 'aria-haspopup') === 'listbox';
  }

  // A hidden field out of the order of fields, which only sends what is chosen in the one that a page draws.
  function isTwin(other) {
    return view.attribute(other, 'tabindex') === '-1' && !isShown(other);
  }

  // What is drawn around a field: as much as is about as high, and holds no other field and no label.
  function drawnAround(element, box = view.box(element)) {
    const most = Math.max(box.height, LEAST_HEIGHT) * TALLER;
    let around = null;
    for (let node = view.above(element), up = 0; node && up < MANY_AROUND; node = view.above(node), up++) {
      if ([...view.findIn(node, BESIDE)].some((other) => !view.isWithin(other, element) && !view.isWithin(element, other) && !isTwin(other))) break;
      const outer = extent(node);
      if (outer && outer.height > most) break;
      if (outer && isShown(node)) around = node;
    }
    return around;
  }

  // Without the boxes that a page draws around a field and that stand for it: it is told itself.
  function withoutStands(finds) {
    const drawn = finds.filter((find) => !find.plain && find.stand);
    const isBox = (one) => drawn.some(({ element, stand }) => view.isWithin(element, one.element) && (view.isWithin(one.element, stand) || one.within <= 1));
    return finds.filter((find) => !find.plain || !isBox(find));
  }

  // Whether one can scroll to a box: what stands before the beginning of the page, or of what scrolls it, is out of reach.
  function isReached(element, box) {
    if (box.right > 0 && box.bottom > 0) return true;
    for (let node = view.above(element), up = 0; node && up < MANY_UP; node = view.above(node), up++) {
      const own = frameOf(node);
      if (!own.scrolls || ROOTS.has(view.tag(node))) continue;
      const around = (own.box ??= view.box(node));
      return box.right - around.left + node.scrollLeft > 0 && box.bottom - around.top + node.scrollTop > 0;
    }
    return box.right + scrollX > 0 && box.bottom + scrollY > 0;
  }

  function hit(x, y) {
    let found = Document.prototype.elementFromPoint.call(document, x, y);
    for (let deep = 0; found && deep < 50; deep++) {
      const inner = view.rootIn(found)?.elementFromPoint(x, y);
      if (!inner || inner === found) break;
      found = inner;
    }
    return found;
  }

  // A point at which an element is really hit, or one around it; nothing where something else lies over all of it.
  function hitPoint(element, box) {
    const left = Math.max(box.left, 0), right = Math.min(box.right, innerWidth), top = Math.max(box.top, 0), bottom = Math.min(box.bottom, innerHeight);
    let around = null;
    if (right - left < 1 || bottom - top < 1) return { x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2 };
    for (const [across, down] of [[0.5, 0.5], [0.1, 0.2], [0.9, 0.2], [0.1, 0.8], [0.9, 0.8]]) {
      const point = { x: left + (right - left) * across, y: top + (bottom - top) * down };
      const found = hit(point.x, point.y);
      if (found === null || view.isWithin(found, element) || isNamed(found, element)) return point;
      if (view.isWithin(element, found) && !FRAMES.has(view.tag(found))) around ??= point;
    }
    return around;
  }

  function isNamed(found, element) {
    return [...(element.labels ?? [])].some((label) => view.isWithin(found, label));
  }

  function inWindow(box) {
    return box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth;
  }

  // What part of a box the boxes around it leave to be seen, and whether the rest can be scrolled to.
  function clip(element, box) {
    let { left, top, right, bottom } = box;
    let own = frameOf(element), scrolls = false, skips = false;
    for (let node = view.above(element), up = 0; node && up < MANY_UP; node = view.above(node), up++) {
      if (own.position === 'fixed') break;
      skips = own.position === 'absolute' || (skips && own.position === 'static');
      own = frameOf(node);
      if (!own.cuts || (skips && own.position === 'static')) continue;
      const around = (own.box ??= view.box(node));
      scrolls ||= own.scrolls;
      left = Math.max(left, around.left);
      top = Math.max(top, around.top);
      right = Math.min(right, around.right);
      bottom = Math.min(bottom, around.bottom);
      if (right - left < LEAST || bottom - top < LEAST) return { seen: null, scrolls };
    }
    return { seen: { left, top, right, bottom }, scrolls };
  }

  // How an element holds what is in it, found out once.
  function frameOf(element) {
    const known = frames.get(element);
    if (known) return known;
    const style = getComputedStyle(element);
    const cuts = style.overflow !== 'visible' && style.display !== 'contents' && !ROOTS.has(view.tag(element));
    const own = { position: style.position, cuts, scrolls: SCROLLS.test(style.overflow) };
    frames.set(element, own);
    return own;
  }

  // The dialog that keeps from acting on anything outside of it, looked for once.
  function modal() {
    if (blocking === undefined) blocking = findModal();
    return blocking;
  }

  function findModal() {
    const open = [...Document.prototype.querySelectorAll.call(document, ':modal, [aria-modal="true"]')].slice(-10);
    return open.reverse().find((one) => view.shows(one) && extent(one)) ?? null;
  }

  // Tells where a find is, whether the window shows it, and whether something lies over it.
  function measure(find, state) {
    find.box = shownAt(find);
    find.inView = false;
    if (!find.box) return;
    const shown = find.stand ?? find.element;
    const { seen, scrolls } = clip(shown, find.box);
    if (!seen && !scrolls) find.box = null;
    find.inView = seen !== null && inWindow(seen);
    if (find.inView && state.hits++ < MANY_HITS) find.covered = hitPoint(shown, seen) === null;
    else if (find.box && state.modal) find.covered = !view.isWithin(shown, state.modal);
  }

  Object.assign(view, { withoutStands, drawnAround, isAway, measure, modal, isShown, shownAt, isReached, rescued, clip, hit, hitPoint });
});
