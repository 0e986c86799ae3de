// Puts what can be acted on and the words around it into the order in which they are shown.
weft.part((view) => {
  const MANY_NODES = 60_000, MANY_ITEMS = 4000, LATEST_MS = 400, CHARS = 240, LONG = 60, LEAST_LINE = 18, LEAST_PICTURE = 20, LEAST_SEEN = 0.66, LEAST_BOX = 4, MOST_BOX = 0.25;
  const SKIPPED = new Set([...view.UNREAD, 'option', 'optgroup', 'object', 'embed', 'video', 'audio', 'iframe', 'frame', 'map', 'progress', 'meter']);
  const FIELDS = new Set(['input', 'select', 'textarea']);
  const TOLD = new Set(['link', 'other', 'option', 'menuitem']);
  const ROWS = 'li, tr, [role="listitem"], [draggable="true"]';
  const SAYING = /[\p{L}\p{N}]/u;

  // What of a box lies in a pane, and how large that is beside what could lie in it.
  function within(box, pane) {
    const left = Math.max(box.left, pane.left), right = Math.min(box.right, pane.right), top = Math.max(box.top, pane.top), bottom = Math.min(box.bottom, pane.bottom);
    if (right <= left || bottom <= top) return null;
    const most = Math.min(box.right - box.left, pane.right - pane.left) * Math.min(box.bottom - box.top, pane.bottom - pane.top);
    return { left, right, top, bottom, share: ((right - left) * (bottom - top)) / (most || 1) };
  }

  // Every find and every piece of words or picture that a pane shows, in the order of the page.
  function ordered(finds, frames, pane, { text, everywhere, colours, away }) {
    const place = { items: [], controls: new Map(finds.map((find) => [find.element, find])), frames: new Map(frames.map((find) => [find.element, find])), away, pane, text, everywhere, colours, visited: 0, cut: false };
    const begun = performance.now();
    const stack = [{ node: view.rootElement(document), block: null, inside: null }];
    while (stack.length) {
      const item = stack.pop();
      if (item.end) { flush(item.end, place); continue; }
      if (++place.visited > MANY_NODES || place.items.length >= MANY_ITEMS || (place.visited % 64 === 0 && performance.now() - begun > LATEST_MS)) {
        place.cut = true;
        break;
      }
      try {
        visit(item, stack, place);
      } catch {
        place.cut = true;
      }
    }
    if (place.cut) complete(finds, place);
    return place.items;
  }

  // What the time did not reach, without the words around it.
  function complete(finds, { items }) {
    const had = new Set(items.map((item) => item.find));
    for (const find of finds) if (!had.has(find)) items.push({ find });
  }

  function visit(item, stack, place) {
    const { node, block, inside } = item;
    if (node.nodeType === Node.TEXT_NODE) { say(node, block, inside, place); return; }
    if (!view.isElement(node)) return;
    const tag = view.tag(node), find = place.controls.get(node);
    if (find) {
      if (find.kind !== 'link' || tag !== 'a') flush(block, place);
      place.items.push({ find });
    }
    if (place.frames.has(node)) {
      flush(block, place);
      place.items.push({ frame: place.frames.get(node) });
    }
    if (SKIPPED.has(tag) || FIELDS.has(tag) || !view.shows(node)) return;
    const inline = view.INLINE.has(tag);
    if (place.away(node, tag)) return;
    if (tag === 'svg' || tag === 'img' || tag === 'canvas') {
      if (place.text && !inside) pictures(node, tag, block, place);
      return;
    }
    if (place.colours && !find && !node.firstChild) drawn(node, inside, place);
    descend(item, stack, { find, inline, tag, place });
  }

  function descend({ node, block, inside }, stack, { find, inline, tag, place }) {
    const own = (find?.scrolls ? null : find) ?? (tag === 'label' && place.controls.has(node.control) ? { short: true } : null);
    let holder = own ? { short: own.short || !TOLD.has(own.kind) || (own.element.textContent.trim().length <= LONG && !isList(own)), kind: own.kind } : inside;
    if (holder && !holder.short) holder = null;
    let inner = block;
    if (!inline) {
      flush(block, place);
      inner = { element: node, parts: [], own: 0, first: null, last: null, at: 0, pieces: 0, heading: /^h[1-6]$/.test(tag) || view.attribute(node, 'role') === 'heading' };
      stack.push({ end: inner });
    }
    const below = view.below(node);
    for (let index = below.length - 1; index >= 0; index--) stack.push({ node: below[index], block: inner, inside: holder });
  }

  // Whether something that is clicked holds several things of one kind: each of them says more than all together.
  function isList({ element, plain }) {
    return plain && view.findIn(element, ROWS).length > 1;
  }

  // Words in a link belong to the sentence around it, those in a button do not.
  function say(node, block, inside, place) {
    if (!block || (inside && inside.kind !== 'link')) return;
    if (!inside && SAYING.test(node.data)) block.own += 1;
    if (!inside && !node.data.trim() && !block.parts.length) return;
    block.parts.push(node.data.slice(0, CHARS * 4));
    if (!block.first) [block.first, block.at] = [node, place.items.length];
    block.last = node;
  }

  function flush(block, place) {
    if (!block?.parts.length) return;
    const { parts, own, first, last, at } = block;
    block.parts = [];
    block.own = 0;
    block.first = block.last = null;
    if (!own || !place.text) return;
    const words = view.unsecret(view.clean(parts.join(''), CHARS));
    if (!words) return;
    const range = document.createRange();
    range.setStartBefore(first);
    range.setEndAfter(last);
    const box = range.getBoundingClientRect();
    if (box.width < 2 || box.height < 2 || !isSeen(block.element, box, place)) return;
    place.items.splice(at, 0, { words, element: block.element, piece: block.pieces++, box, heading: block.heading });
  }

  function isSeen(element, box, { pane, everywhere }) {
    const { seen, scrolls } = view.clip(element, box);
    if (everywhere) return seen !== null || scrolls;
    const shown = seen && within(seen, pane);
    return Boolean(shown) && (shown.share >= LEAST_SEEN || shown.bottom - shown.top >= LEAST_LINE);
  }

  // An icon, also of a control, or a box that nothing but its colour shows: told where colours are asked for.
  function drawn(element, inside, place) {
    const box = view.box(element), icon = view.iconOf(element);
    if ((inside && !icon) || box.width < LEAST_BOX || box.height < LEAST_BOX || box.width * box.height > innerWidth * innerHeight * MOST_BOX) return;
    if ((icon || view.colourOf(element, '')) && isSeen(element, box, place)) place.items.push({ picture: true, words: icon, element, box, shape: icon ? '' : 'box' });
  }

  function pictures(element, tag, block, place) {
    const box = view.box(element);
    if (box.width < LEAST_PICTURE || box.height < LEAST_PICTURE || !isSeen(element, box, place)) return;
    flush(block, place);
    if (tag === 'svg') place.items.push(...view.shapes(element, place));
    else place.items.push({ picture: true, words: view.pictureName(element), element, box, shape: tag === 'canvas' ? 'canvas' : '' });
  }

  Object.assign(view, { ordered, within });
});
