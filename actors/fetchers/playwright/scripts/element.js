// Reads what an element is now, scrolls it, selects words of it, tells whether it is on, and finds words on a page.
((element, [what, wanted]) => {
  const CHARS = 4000, OPTIONS = 200, DEEP = 200;
  const plain = (text) => String(text ?? '').replace(/\s+/g, ' ').trim();

  // A form hides its own properties behind fields of their names: they are read from the prototypes.
  const of = (type, name) => {
    const { get, value } = Object.getOwnPropertyDescriptor(type.prototype, name);
    return (node, ...given) => (get ?? value).call(node, ...given);
  };
  const parent = of(Node, 'parentNode'), children = of(Element, 'children'), shadow = of(Element, 'shadowRoot'), isVisible = of(Element, 'checkVisibility');
  const words = (node) => plain(node instanceof HTMLElement ? of(HTMLElement, 'innerText')(node) : node.textContent);

  function shows(node) {
    const box = node.getBoundingClientRect();
    return isVisible(node, { visibilityProperty: true, opacityProperty: true }) && box.width > 0 && box.height > 0;
  }

  function checked(node) {
    if (node instanceof HTMLOptionElement) return node.selected;
    const ticks = node instanceof HTMLInputElement && /^(?:checkbox|radio)$/.test(node.type);
    if (ticks && node.getAttribute('aria-checked') === null) return node.indeterminate ? null : node.checked;
    for (const name of ['aria-checked', 'aria-pressed', 'aria-selected']) {
      const value = node.getAttribute(name);
      if (value === 'true' || value === 'false') return value === 'true';
    }
    const inner = node instanceof HTMLLabelElement ? node.control : node.querySelector('input[type="checkbox"], input[type="radio"]');
    return inner && inner !== node ? checked(inner) : null;
  }

  function read() {
    return {
      text: words(element).slice(0, CHARS),
      value: 'value' in element ? String(element.value ?? '').slice(0, CHARS) : '',
      attribute: wanted === null ? null : element.getAttribute(wanted)?.slice(0, CHARS) ?? null,
      visible: shows(element),
      enabled: !element.matches(':disabled, [aria-disabled="true"]'),
      checked: checked(element),
      options: [...(element.options ?? [])].slice(0, OPTIONS).map((one) => plain(one.label || one.textContent).slice(0, 200)),
    };
  }

  // The element or the nearest one around it that scrolls that way.
  function scroller(sideways) {
    const root = document.scrollingElement ?? document.documentElement;
    const above = (node) => (parent(node) instanceof ShadowRoot ? parent(node).host : parent(node));
    const [size, shown] = (sideways ? ['scrollWidth', 'clientWidth'] : ['scrollHeight', 'clientHeight']).map((name) => of(Element, name));
    for (let node = element; node instanceof Element && node !== root; node = above(node)) {
      const style = getComputedStyle(node);
      const rolls = /auto|scroll|overlay/.test(sideways ? style.overflowX : style.overflowY) || node.localName === 'textarea';
      if (rolls && size(node) > shown(node)) return node;
    }
    return root;
  }

  function scroll() {
    const [direction, pages] = wanted;
    const sideways = direction === 'left' || direction === 'right';
    const back = direction === 'up' || direction === 'left';
    const node = scroller(sideways);
    const size = sideways ? node.clientWidth : node.clientHeight;
    const [from, name] = sideways ? [node.scrollLeft, 'left'] : [node.scrollTop, 'top'];
    node.scrollBy({ [name]: (back ? -1 : 1) * size * 0.85 * pages, behavior: 'instant' });
    const to = sideways ? node.scrollLeft : node.scrollTop;
    return { by: to - from, top: to, window: size, height: sideways ? node.scrollWidth : node.scrollHeight };
  }

  // The range of some words in the text of an element, whatever stands around their signs.
  function rangeOf(words) {
    const places = [];
    let text = '';
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (!(parent(node) instanceof Element && isVisible(parent(node), { visibilityProperty: true }))) continue;
      for (let at = 0; at < node.data.length; at++) {
        const blank = /\s/.test(node.data[at]);
        if (blank && (text === '' || text.endsWith(' '))) continue;
        text += blank ? ' ' : node.data[at];
        places.push([node, at]);
      }
    }
    const asked = plain(words);
    let at = text.indexOf(asked);
    if (at < 0) at = text.toLowerCase().indexOf(asked.toLowerCase());
    if (at < 0 || !asked) return null;
    const [first, last] = [places[at], places[at + asked.length - 1]];
    const range = document.createRange();
    range.setStart(...first);
    range.setEnd(last[0], last[1] + 1);
    return range;
  }

  function select() {
    element.scrollIntoView({ block: 'center', behavior: 'instant' });
    if (/^(?:input|textarea)$/.test(element.localName)) {
      element.focus({ preventScroll: true });
      const at = wanted ? element.value.indexOf(wanted) : 0;
      if (at < 0) return { done: false };
      try {
        element.setSelectionRange(at, at + (wanted ? wanted.length : element.value.length));
      } catch {
        element.select();
      }
      return { done: true };
    }
    const selection = element.ownerDocument.getSelection();
    const range = wanted ? rangeOf(wanted) : element.ownerDocument.createRange();
    if (!range) return { done: false };
    if (!wanted) range.selectNodeContents(element);
    selection.removeAllRanges();
    selection.addRange(range);
    return { done: selection.toString() !== '' };
  }

  // The innermost thing that holds the words, which is brought into the window.
  function find() {
    const asked = plain(wanted).toLowerCase();
    const holds = (node) => words(node).toLowerCase().includes(asked);
    let inner = element;
    for (let deep = 0; deep < DEEP; deep++) {
      const below = [...(shadow(inner)?.children ?? []), ...children(inner)];
      const next = below.find((one) => isVisible(one, { visibilityProperty: true }) && holds(one));
      if (!next) break;
      inner = next;
    }
    if (!holds(inner)) return { done: false };
    of(Element, 'scrollIntoView')(inner, { block: 'center', behavior: 'instant' });
    return { done: true };
  }

  return { read, scroll, select, find, checked: () => ({ on: checked(element) }) }[what]();
})
