// Finds what a list that a page draws itself offers: the options that have a role, else the words in what pops up for it, else what
// has come since: `opened` is what was shown before. Asked for what is `shown` it gives all of that, for the `option` the element with
// the wanted words, and for `first` and `more` it scrolls the options.
(list, { wanted, opened, ask }) => {
  const MANY = 30, MANY_NODES = 20_000, MANY_AROUND = 3, OPTIONS = '[role="option"], [role="menuitemradio"], [role="menuitemcheckbox"], [role="menuitem"]';
  const plain = (text) => String(text ?? '').replace(/\s+/g, ' ').trim();
  const asked = plain(wanted), lower = asked.toLowerCase();
  // A form hides its own properties behind fields of their names: they are read from the prototypes.
  const of = (type, name) => {
    const { get, value } = Object.getOwnPropertyDescriptor(type.prototype, name);
    return (node, ...given) => (get ?? value).call(node, ...given);
  };
  const parent = of(Node, 'parentNode'), childNodes = of(Node, 'childNodes'), contains = of(Node, 'contains');
  const children = of(Element, 'children'), shadow = of(Element, 'shadowRoot'), attribute = of(Element, 'getAttribute');
  const matches = of(Element, 'matches'), find = of(Element, 'querySelectorAll'), closest = of(Element, 'closest');
  const box = of(Element, 'getBoundingClientRect'), isVisible = of(Element, 'checkVisibility');

  function above(node) {
    if (node.assignedSlot instanceof HTMLSlotElement) return node.assignedSlot;
    const up = parent(node);
    return up instanceof ShadowRoot ? up.host : up instanceof Element ? up : null;
  }

  // All that is in something, also in its shadow trees.
  function* within(root) {
    const stack = [root];
    for (let count = 0; stack.length && count < MANY_NODES; count++) {
      const node = stack.pop();
      yield node;
      for (const inner of [children(node), shadow(node)?.children ?? []]) stack.push(...[...inner].reverse());
    }
  }

  // Whether something is shown: also what is around it leaves room for it.
  function shows(node) {
    if (!isVisible(node, { visibilityProperty: true }) || box(node).height <= 0) return false;
    for (let up = above(node); up && up !== document.body; up = above(up)) {
      const style = getComputedStyle(up);
      if (style.overflow === 'visible' || style.display === 'contents') continue;
      const around = box(up);
      if (around.width <= 1 || around.height <= 1) return false;
    }
    return true;
  }

  function controlled() {
    const ids = [list, ...list.querySelectorAll('[aria-controls], [aria-owns]')]
      .flatMap((one) => `${one.getAttribute('aria-controls') ?? ''} ${one.getAttribute('aria-owns') ?? ''}`.split(/\s+/)).filter(Boolean);
    return [...new Set(ids)].map((id) => list.getRootNode().getElementById(id)).filter(Boolean);
  }

  // What pops up for the list: what it names, or where that is not shown itself the next thing around it that is.
  function popup(named) {
    for (let node = named, up = 0; node && up <= MANY_AROUND; node = above(node), up++) {
      if (node === document.body || contains(node, list)) return null;
      if (shows(node)) return node;
    }
    return null;
  }

  // Whatever holds words itself, and is no part of a sentence.
  const hasWords = (node) => [...childNodes(node)].some((one) => one.nodeType === Node.TEXT_NODE && one.data.trim() !== '');
  const worded = (node) => hasWords(node) && !(parent(node) instanceof Element && hasWords(parent(node)));

  const OPTION = (node) => matches(node, OPTIONS);
  const slotted = (node) => [...find(node, 'slot')].flatMap((slot) => slot.assignedNodes({ flatten: true })).map((one) => one.textContent).join(' ');
  const says = (node) => plain(attribute(node, 'aria-label') ?? (node.innerText || slotted(node)));
  const value = (node) => attribute(node, 'data-value') ?? attribute(node, 'value') ?? attribute(node, 'id');
  const pick = (among) => among.find((one) => says(one) === asked) ?? among.find((one) => value(one) === wanted) ?? among.find((one) => says(one).toLowerCase() === lower);
  const shownIn = (root, fits) => [...within(root)].filter((node) => fits(node) && !contains(list, node) && shows(node));

  const known = new Set(opened), popups = controlled().map(popup).filter(Boolean);
  const fresh = (fits) => shownIn(document.body, fits).filter((node) => !known.has(node) || (says(node).toLowerCase() === lower && popsUp(node)));

  // Whether something lies over the page, and was opened for the list before.
  function popsUp(node) {
    for (let up = node; up && up !== document.body && !contains(up, list); up = above(up)) {
      const style = getComputedStyle(up);
      if (/absolute|fixed/.test(style.position) && style.zIndex !== 'auto') return true;
    }
    return false;
  }

  function offered() {
    const own = [list, ...popups].flatMap((one) => [...within(one)]).filter((node) => node !== list && OPTION(node) && shows(node));
    if (own.length) return own;
    const words = popups.flatMap((one) => shownIn(one, worded));
    if (words.length) return words;
    const options = fresh(OPTION);
    return options.length ? options : fresh(worded);
  }

  // Scrolls what holds the options to its beginning, or on; tells whether it did.
  function scroll(first) {
    for (let node = offered()[0]; node && node !== document.body && !contains(node, list); node = above(node)) {
      if (node.scrollHeight <= node.clientHeight + 1 || !/auto|scroll|hidden/.test(getComputedStyle(node).overflowY)) continue;
      const before = node.scrollTop;
      if (first) node.scrollTop = 0;
      else node.scrollBy({ top: node.clientHeight * 0.85, behavior: 'instant' });
      return first || node.scrollTop !== before;
    }
    return false;
  }

  const isOpen = () => [list, ...list.querySelectorAll('[aria-expanded]')].some((node) => node.getAttribute('aria-expanded') === 'true');
  const state = (node) => node && closest(node, '[aria-selected], [aria-checked]');
  const isOff = (node) => closest(node, '[aria-disabled="true"], [disabled]') !== null || /not-allowed/.test(getComputedStyle(node).cursor);
  const isChosen = (node) => [state(node)?.getAttribute('aria-selected'), state(node)?.getAttribute('aria-checked')].includes('true');

  const several = (node) => [node && closest(node, '[aria-multiselectable]'), ...controlled()].some((one) => one?.getAttribute('aria-multiselectable') === 'true');

  switch (ask) {
    case 'shown': return isOpen() ? [] : shownIn(document.body, (node) => OPTION(node) || worded(node));
    case 'option': return pick(offered()) ?? null;
    case 'first': case 'more': return scroll(ask === 'first');
    default: {
      const options = offered(), found = pick(options);
      return { found: Boolean(found), chosen: isChosen(found), several: several(found), off: found ? isOff(found) : false, open: isOpen(), options: options.slice(0, MANY).map((one) => says(one).slice(0, 60)) };
    }
  }
}
