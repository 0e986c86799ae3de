// Reads the rows of a list a window at a time: one that draws only what is shown keeps no others.
weft.part((view) => {
  const LEAST = 2, MANY = 4000, MANY_ROWS = 500, CHARS = 400, IDS = 12, STEP = 0.85, LEAST_STEP = 40;
  const PLACES = ['aria-rowindex', 'aria-posinset', 'data-index', 'data-item-index', 'data-row-index', 'data-row-key', 'data-id', 'data-key'];
  const UNROWED = /^(?:head|select|datalist|svg|tr|p|thead|tfoot)$/;

  function scrolls(element) {
    return element.scrollHeight > element.clientHeight + 4 && element.clientHeight > 0 && /auto|scroll|overlay/.test(getComputedStyle(element).overflowY);
  }

  // What is scrolled to see more of an element: itself, the largest thing in it that scrolls, or the next around it.
  function scrollerOf(element) {
    const page = document.scrollingElement ?? view.rootElement(document);
    if (element === page || element === document.body) return inner(element) ?? page;
    if (scrolls(element)) return element;
    const within = inner(element);
    if (within) return within;
    for (let node = view.above(element); node; node = view.above(node)) if (scrolls(node)) return node;
    return page;
  }

  function inner(element) {
    if (element === document.body && element.scrollHeight > innerHeight + 4 && !scrolls(element)) return null;
    let best = null, size = 0;
    const all = view.findIn(element, '*');
    for (let index = 0; index < all.length && index < MANY; index++) {
      const area = all[index].clientWidth * all[index].clientHeight;
      if (area > size && scrolls(all[index])) [best, size] = [all[index], area];
    }
    return best;
  }

  // The element with the most children of one kind.
  function listOf(element) {
    let best = null, most = LEAST - 1;
    const all = [element, ...[...view.findIn(element, '*')].slice(0, MANY)];
    for (const one of all) {
      const inside = view.children(one), counts = new Map();
      if (inside.length <= most || UNROWED.test(view.tag(one))) continue;
      for (const child of inside) counts.set(view.tag(child), (counts.get(view.tag(child)) ?? 0) + 1);
      const [kind, count] = [...counts].reduce((top, next) => (next[1] > top[1] ? next : top));
      if (count > most && count * 2 > inside.length && view.shows(one)) [best, most] = [{ list: one, kind }, count];
    }
    return best;
  }

  function placeOf(row) {
    for (const name of PLACES) {
      const place = view.attribute(row, name);
      if (place) return `${name}=${place}`;
    }
    return '';
  }

  // The rows that are drawn now: what each says, how it is known again, and the ids of what can be acted on in it.
  function rowsOf(element, named) {
    const found = listOf(element), rows = [], times = new Map();
    if (!found) return rows;
    for (const row of [...view.children(found.list)].filter((one) => view.tag(one) === found.kind).slice(0, MANY_ROWS)) {
      const text = view.shows(row) ? view.unsecret(view.textOf(row, CHARS)) : '';
      if (!text) continue;
      times.set(text, (times.get(text) ?? 0) + 1);
      const ids = named.filter((find) => view.isWithin(find.element, row)).slice(0, IDS).map((find) => String(view.numberOf(find)));
      rows.push({ key: placeOf(row) || `${text} ${times.get(text)}`, text, ids });
    }
    return rows;
  }

  function rows({ id }) {
    const { named, fresh } = view.gather(false);
    const element = id ? view.standing(id) : document.body;
    if (!element) return { gone: true, url: location.href, fresh };
    const scroller = scrollerOf(element), most = scroller.scrollHeight - scroller.clientHeight;
    return { gone: false, url: location.href, fresh, rows: rowsOf(element, named), top: scroller.scrollTop, end: scroller.scrollTop >= most - 1 };
  }

  // Scrolls to a place, or a step further; what the page draws for it comes later.
  function turn({ id, to = null }) {
    const element = id ? view.standing(id) : document.body;
    if (!element) return { done: false };
    const scroller = scrollerOf(element);
    scroller.scrollTop = to ?? scroller.scrollTop + Math.max(scroller.clientHeight * STEP, LEAST_STEP);
    return { done: true };
  }

  Object.assign(view, { rows, turn });
});
