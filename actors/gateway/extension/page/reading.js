// Reads and moves about: what an element is now, scrolling, words and focus, boxes to tick.
weftExecutor.part((executor) => {
  const CHARS = 4000, STEP = 0.85;
  let lastFound = '';

  function stateOf(element) {
    const field = executor.fieldOf(element);
    if (field instanceof HTMLInputElement && /^(?:checkbox|radio)$/.test(field.type)) return field.checked;
    for (const name of ['aria-checked', 'aria-pressed', 'aria-selected']) {
      const said = weft.view().attribute(element, name);
      if (said === 'true' || said === 'false') return said === 'true';
    }
    return null;
  }

  async function checked({ id, selector, on }) {
    const point = await executor.aim(id, selector);
    if (stateOf(point.element) === on) return { on };
    const done = executor.click(point);
    await executor.pause(0);
    if (stateOf(point.element) === !on) executor.refuse('KEPT', 'The box did not change.');
    return { ...done, on };
  }

  function focus({ id, selector }) {
    executor.find(id, selector).focus();
    return {};
  }

  function blur({ id, selector }) {
    executor.find(id, selector).blur();
    return {};
  }

  function textOf(element) {
    const view = weft.view();
    if (executor.isSecret(executor.fieldOf(element))) return '********';
    const holds = element instanceof HTMLTextAreaElement || element instanceof HTMLInputElement ? element.value : view.textOf(element, CHARS);
    return view.unsecret(holds).slice(0, CHARS);
  }

  const text = ({ id, selector }) => ({ value: textOf(id === undefined ? document.body : executor.find(id, selector)) });

  function attribute({ id, selector, name }) {
    const view = weft.view(), element = executor.find(id, selector), value = view.attribute(element, name) ?? '';
    return { value: /^value$/i.test(name) && executor.isSecret(element) ? '********' : view.unsecret(value).slice(0, CHARS) };
  }

  const visible = ({ id, selector }) => ({ value: String(weft.view().isShown(executor.find(id, selector))) });

  const enabled = ({ id, selector }) => ({ value: String(!weft.view().matches(executor.find(id, selector), ':disabled, [aria-disabled="true"]')) });

  const present = ({ id }) => {
    executor.find(id);
    return { value: 'true' };
  };

  // -- moving about --------------------------------------------------------------------------------------------------

  const plain = (text) => String(text ?? '').replace(/\s+/g, ' ').trim().toLowerCase();
  const page = () => document.scrollingElement ?? document.documentElement;

  function scrollerOf(element) {
    const root = page();
    for (let node = element; node && node !== root; node = weft.view().above(node))
      if (/auto|scroll|overlay/.test(getComputedStyle(node).overflowY) && node.scrollHeight > node.clientHeight + 1) return node;
    return root;
  }

  // The page where it scrolls, else the largest thing on it that does.
  function largest() {
    const root = page();
    if (root.scrollHeight > innerHeight + 4) return root;
    let best = root, size = 0;
    const all = document.getElementsByTagName('*');
    for (let index = 0; index < all.length && index < 4000; index++) {
      const node = all[index];
      if (node.scrollHeight <= node.clientHeight + 4 || node.clientHeight < 40 || !/auto|scroll|overlay/.test(getComputedStyle(node).overflowY)) continue;
      if (node.clientWidth * node.clientHeight > size) [best, size] = [node, node.clientWidth * node.clientHeight];
    }
    return best;
  }

  function scrolled({ id, selector, down = true, pages = 1, into = false }) {
    const element = id === undefined ? null : executor.find(id, selector);
    if (element && into && scrollerOf(element) !== element) {
      element.scrollIntoView({ block: 'center', behavior: 'instant' });
      return {};
    }
    const node = element ? scrollerOf(element) : largest();
    const height = node === page() ? innerHeight : node.clientHeight, before = node.scrollTop;
    node.scrollBy({ top: (down ? 1 : -1) * height * STEP * pages, behavior: 'instant' });
    return { value: node.scrollTop === before ? 'It does not scroll any further.' : '' };
  }

  // The innermost thing that holds the words, the first of several, which is brought into the window.
  function wordsFound({ text: wanted }) {
    const view = weft.view(), asked = plain(wanted), holds = (node) => plain(node.textContent).includes(asked);
    let inner = document.body;
    for (let deep = 0; deep < 200; deep++) {
      const next = [...(view.rootIn(inner)?.children ?? []), ...view.children(inner)].find((one) => !view.UNREAD.has(view.tag(one)) && view.shows(one) && holds(one));
      if (!next) break;
      inner = next;
    }
    if (!asked || !holds(inner)) executor.refuse('NOT_FOUND', 'These words do not stand on the page.');
    const before = view.box(inner).top;
    inner.scrollIntoView({ block: 'center', behavior: 'instant' });
    if (lastFound === asked && before === view.box(inner).top) executor.refuse('IN_VIEW', 'These words were found before, and stand in the window.');
    lastFound = asked;
    return { value: view.unsecret(view.textOf(inner, 300)) };
  }

  // The range of some words in an element, whatever blanks stand between them.
  function rangeOf(element, wanted) {
    const places = [], walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    let all = '';
    for (let node = walker.nextNode(); node; node = walker.nextNode())
      for (let at = 0; at < node.data.length; at++) {
        const blank = /\s/.test(node.data[at]);
        if (blank && (all === '' || all.endsWith(' '))) continue;
        all += blank ? ' ' : node.data[at];
        places.push([node, at]);
      }
    const asked = wanted.replace(/\s+/g, ' ').trim(), exact = all.indexOf(asked), at = exact < 0 ? all.toLowerCase().indexOf(asked.toLowerCase()) : exact;
    if (at < 0 || !asked) return executor.refuse('NOT_FOUND', 'These words do not stand there.');
    const range = document.createRange();
    range.setStart(...places[at]);
    range.setEnd(places[at + asked.length - 1][0], places[at + asked.length - 1][1] + 1);
    return range;
  }

  function wordsSelected({ id, selector, text: wanted }) {
    const element = executor.find(id, selector);
    element.scrollIntoView({ block: 'center', behavior: 'instant' });
    if (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) {
      const at = wanted ? element.value.indexOf(wanted) : 0;
      if (at < 0) executor.refuse('NOT_FOUND', 'These words do not stand there.');
      element.focus({ preventScroll: true });
      element.setSelectionRange(at, wanted ? at + wanted.length : element.value.length);
      return {};
    }
    const selection = document.getSelection(), range = wanted ? rangeOf(element, wanted) : document.createRange();
    if (!wanted) range.selectNodeContents(element);
    selection.removeAllRanges();
    selection.addRange(range);
    element.dispatchEvent(new MouseEvent('mouseup', { bubbles: true, cancelable: true, composed: true, view: window }));
    return {};
  }

  // A dialog that the page draws in HTML; those of the browser itself only a person can answer.
  function dialog({ accept }) {
    const open = [...Document.prototype.querySelectorAll.call(document, 'dialog[open]')].pop();
    if (!open) executor.refuse('NO_DIALOG', 'The page has no dialog that an extension may answer.');
    if (accept) executor.refuse('NO_DIALOG', 'Which button of the dialog agrees is for a click to say.');
    if (open.dispatchEvent(new Event('cancel', { cancelable: true }))) open.close();
    return {};
  }

  Object.assign(executor, { stateOf, checked, focus, blur, text, attribute, visible, enabled, present, scrolled, wordsFound, wordsSelected, dialog });
});
