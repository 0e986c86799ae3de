// Shows one reading of the page in other forms: markup of its controls alone, selectors.
weft.part((view) => {
  const KEPT = ['name', 'type', 'href', 'value', 'placeholder', 'role', 'aria-label', 'data-testid'];
  const VOID = new Set(['input', 'img', 'area']);
  const WORDLESS = new Set([...VOID, 'select', 'textarea']);
  const MANY_CHARS = 100_000, HREF = 300, DEEP = 8;
  const NAMES = ['data-testid', 'data-test', 'name', 'aria-label', 'placeholder'];
  const named = new Map(), placed = new Map(), firsts = new Map();
  const quoted = (value) => value.replace(/&/g, '&amp;').replace(/"/g, '&quot;').replace(/</g, '&lt;');
  const escaped = (value) => value.replace(/\\/g, '\\\\').replace(/"/g, '\\"');

  function capturedControls(options) {
    return view.capture({ ...options, text: false }).items.filter((item) => item.find && !item.find.scrolls);
  }

  // Markup of what can be acted on (001 §5.6): nothing around it, no styles, no scripts, nothing hidden.
  function skeleton(options = {}) {
    const lines = [];
    let size = 0;
    for (const { node, find } of capturedControls(options)) {
      const line = tagOf(node, find);
      size += line.length + 1;
      if (size > MANY_CHARS) break;
      lines.push(line);
    }
    return { html: lines.join('\n') };
  }

  function tagOf(node, { element, label }) {
    const tag = view.tag(element), worded = !WORDLESS.has(tag);
    let open = `<${tag} id="${quoted(node.i)}"`;
    for (const name of KEPT) {
      const value = name === 'value' ? node.v : name === 'href' ? view.attribute(element, 'href')?.slice(0, HREF) : name === 'aria-label' ? '' : view.attribute(element, name);
      if (value) open += ` ${name}="${quoted(value)}"`;
    }
    const said = worded ? view.attribute(element, 'aria-label') : label;
    if (said && said !== (worded ? label : view.attribute(element, 'placeholder'))) open += ` aria-label="${quoted(said)}"`;
    for (const state of ['disabled', 'checked', 'selected']) if (node.s?.split(',').includes(state)) open += ` ${state}`;
    if (VOID.has(tag)) return `${open}>`;
    const words = tag === 'select' ? view.optionsOf(element).map((one) => `<option>${quoted(one)}</option>`).join('') : worded ? quoted(node.n) : '';
    return `${open}>${words}</${tag}>`;
  }

  // A selector that fits this element alone: by what its author called it, else by where it stands (001 §4).
  function selectorOf(element) {
    const tag = view.tag(element);
    for (const name of NAMES) {
      const value = view.attribute(element, name);
      if (value && value.length <= 100 && !/[\n\r\f]/.test(value) && isAloneByName(element, name, value)) return `${CSS.escape(tag)}[${name}="${escaped(value)}"]`;
    }
    const id = view.attribute(element, 'id');
    if (id && !view.generated(id) && fitsAlone(`#${CSS.escape(id)}`, element)) return `#${CSS.escape(id)}`;
    if (tag === 'input' && fitsAlone(`input[type="${element.type}"]`, element)) return `input[type="${element.type}"]`;
    return path(element);
  }

  // The first that fits is mostly another one, and sooner found than all of them; elements alike have their selectors in common.
  function fitsFirst(selector, element) {
    const root = element.getRootNode();
    return once(firsts, root, selector, () => (root instanceof ShadowRoot ? root.querySelector(selector) : view.findFirst(document, selector))) === element;
  }

  function fitsAlone(selector, element) {
    return fitsFirst(selector, element) && fitting(selector, element.getRootNode()).length === 1;
  }

  const fitting = (selector, root) => (root instanceof ShadowRoot ? root.querySelectorAll(selector) : view.findAll(document, selector));

  // What is told of a tree once: to try each selector on all of it would take longer than all else.
  function once(told, root, key, tell) {
    if (!told.has(root)) told.set(root, new Map());
    const keys = told.get(root);
    if (!keys.has(key)) keys.set(key, tell());
    return keys.get(key);
  }

  // Whether no other element of its kind has this value of an attribute.
  function isAloneByName(element, name, value) {
    const root = element.getRootNode(), selector = `${CSS.escape(view.tag(element))}[${name}]`;
    return once(named, root, selector, () => counted(fitting(selector, root), (one) => view.attribute(one, name))).get(value) === 1;
  }

  function counted(elements, key) {
    const counts = new Map();
    for (let index = 0; index < elements.length; index++) {
      const one = key(elements[index]);
      counts.set(one, (counts.get(one) ?? 0) + 1);
    }
    return counts;
  }

  function path(element) {
    const steps = [];
    for (let node = element, up = 0; node && view.isElement(node) && up < DEEP; node = view.parent(node), up++) {
      const id = view.attribute(node, 'id');
      if (up && id && !view.generated(id)) {
        steps.unshift(`#${CSS.escape(id)}`);
        break;
      }
      steps.unshift(stepTo(node));
      const selector = steps.join(' > ');
      // Below what a step fits alone each further one fits one child.
      if ((isAloneByStep(node) && view.matches(element, selector)) || fitsAlone(selector, element)) break;
    }
    return steps.join(' > ');
  }

  // What fits an element among its siblings.
  function stepTo(element) {
    const { kind, index } = view.amongAlike(element), name = CSS.escape(kind.tag);
    return kind.count > 1 ? `${name}:nth-of-type(${index + 1})` : name;
  }

  // Whether the step to an element leads to no other one.
  function isAloneByStep(node) {
    const { kind, index } = view.amongAlike(node), root = node.getRootNode();
    if (kind.count === 1) return fitsAlone(CSS.escape(kind.tag), node);
    return once(placed, root, kind.tag, () => counted(fitting(CSS.escape(kind.tag), root), (one) => view.amongAlike(one).index)).get(index) === 1;
  }

  Object.assign(view, { capturedControls, skeleton, selectorOf });
});
