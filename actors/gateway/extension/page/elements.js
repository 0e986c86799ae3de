// Finds the element that an action means, as it was when the page was last looked at, and the point at which it is hit.
weftExecutor.part((executor) => {
  const STILL_MS = 30, MANY_LOOKS = 20, SHIFT = 2, CHARS = 300, SAID = 60;
  const plain = (text) => String(text ?? '').replace(/\d+/g, '#').replace(/[\s…]+/g, ' ').trim().toLowerCase();

  // What stands for an element that is gone: what the page code takes for it beyond doubt, else what alone answers to the selector.
  function again(view, id, named, selector) {
    view.heal(id, named);
    const healed = view.held(id);
    if (healed || !selector || selector.includes(view.STAMP)) return healed;
    try {
      const fitting = view.findAll(document, selector);
      return fitting.length === 1 ? fitting[0] : null;
    } catch {
      return null; // no selector of ours
    }
  }

  // What an element says: its name and the beginning of its words, whatever numbers stand in them.
  function wordsOf(view, element) {
    const name = view.nameOf(element, view.kindOf(element) || 'other') || view.classed(element);
    return `${plain(name)}|${plain(view.textOf(element, CHARS)).slice(0, SAID)}`;
  }

  // Keeps what the elements say that somebody else is told of now; what says something else when it is acted on is another.
  function keep(ids) {
    const view = weft.view();
    executor.looked = new Map();
    for (const id of ids) {
      const element = view.held(id);
      if (element) executor.looked.set(id, wordsOf(view, element));
    }
  }

  // The element of an id. What has gone, or says something else since the last look, is refused: whoever asks looks again.
  function find(id, selector = '') {
    const view = weft.view();
    if (!executor.looked.has(String(id))) executor.refuse('GONE', `There is no element ${id} on this page as it was last looked at.`);
    const { named } = view.gather(false);
    const element = view.held(String(id)) ?? again(view, String(id), named, selector);
    if (!element) executor.refuse('GONE', `The element ${id} is gone.`);
    if (wordsOf(view, element) !== executor.looked.get(String(id))) executor.refuse('CHANGED', `The element ${id} says something else now.`);
    return element;
  }

  // -- where it is hit -----------------------------------------------------------------------------------------------

  const area = (box) => Math.max(0, box.right - box.left) * Math.max(0, box.bottom - box.top);
  const inside = (box) => box.left >= 0 && box.top >= 0 && box.right <= innerWidth && box.bottom <= innerHeight;

  // What is to be hit for an element: itself, or the label that stands for a box that is hidden.
  function targetOf(view, element) {
    const find = { element, kind: view.kindOf(element), off: !view.isShown(element) };
    if (!view.shownAt(find)) executor.refuse('HIDDEN', 'The element is not shown.');
    return find.stand ?? element;
  }

  function seen(view, target) {
    const rows = [...target.getClientRects()].sort((one, other) => area(other) - area(one));
    const box = rows.length > 1 && rows.length <= 20 ? rows[0] : view.box(target);
    const clipped = view.clip(target, box).seen;
    return clipped && { left: Math.max(clipped.left, 0), top: Math.max(clipped.top, 0), right: Math.min(clipped.right, innerWidth), bottom: Math.min(clipped.bottom, innerHeight) };
  }

  function bring(view, target) {
    const box = view.box(target), visible = seen(view, target);
    if (visible && inside(box) && area(visible) > 0) return;
    target.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
  }

  // What moves is waited for; what never stands still is not clicked.
  async function still(view, target) {
    let before = view.box(target);
    for (let looks = 0; looks < MANY_LOOKS; looks++) {
      await executor.pause(STILL_MS);
      const now = view.box(target);
      if (Math.abs(now.left - before.left) < SHIFT && Math.abs(now.top - before.top) < SHIFT) return;
      before = now;
    }
    executor.refuse('MOVING', 'The element does not stand still.');
  }

  // Whether what is hit is the element that is meant, something in it, or what a click goes to in its place.
  function isHit(view, found, target, element) {
    if (!found) return false;
    if (view.isWithin(found, target)) return true;
    if ([...(element.labels ?? [])].some((label) => view.isWithin(found, label))) return true;
    return getComputedStyle(target).pointerEvents === 'none' && view.isWithin(target, found);
  }

  function pointOn(view, element, target) {
    const box = seen(view, target);
    if (!box || area(box) <= 0) executor.refuse('HIDDEN', 'The element is not shown.');
    let over = null;
    for (const [across, down] of [[0.5, 0.5], [0.25, 0.3], [0.75, 0.3], [0.25, 0.7], [0.75, 0.7], [0.1, 0.2], [0.9, 0.8]]) {
      const x = box.left + (box.right - box.left) * across, y = box.top + (box.bottom - box.top) * down;
      const found = view.hit(x, y);
      if (isHit(view, found, target, element)) return { x, y, hit: found };
      over ??= found;
    }
    return executor.refuse('COVERED', `Something else lies over the element: ${named(view, over)}.`);
  }

  function named(view, element) {
    if (!element) return 'nothing that can be hit';
    const id = view.attribute(element, 'id'), role = view.attribute(element, 'role');
    return `${view.tag(element)}${id ? `#${id}` : ''}${role ? `[role=${role}]` : ''}`.slice(0, 80);
  }

  // The element of an id, and the point at which it is hit at this very moment.
  async function aim(id, selector) {
    let view = weft.view();
    const { turn } = executor, before = find(id, selector);
    bring(view, targetOf(view, before));
    await still(view, targetOf(view, before));
    executor.guard(turn);
    view = weft.view();
    const element = find(id, selector); // what the page did meanwhile counts
    if (view.matches(element, ':disabled, [aria-disabled="true"]')) executor.refuse('DISABLED', 'The element is disabled.');
    const target = targetOf(view, element);
    const says = wordsOf(view, element), point = pointOn(view, element, target);
    // Whether a click would still go to what was meant; asked between the steps of one.
    const same = () => element.isConnected && wordsOf(weft.view(), element) === says;
    const holds = () => same() && isHit(view, view.hit(point.x, point.y), target, element);
    return { ...point, element, target, same, holds };
  }

  Object.assign(executor, { find, aim, named, keep });
});
