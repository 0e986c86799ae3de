// Reads the page as short nodes (V3): what can be acted on, in the order in which it is shown, and the words beside it.
weft.part((view) => {
  const LEAST_SEEN = 0.66, NAME_CHARS = 50, SELECTED_CHARS = 200, MANY_HITS = 600, LATEST_MS = 600, ALWAYS = 60, MANY_SCROLLS = 20, LEAST_SCROLL = 40, MORE = 4, LEAST_BOX = 3, SAMPLES = 7, MANY_NODES = 300;
  const HOLDERS = new Set(['dialog', 'alertdialog', 'tablist', 'menu', 'menubar', 'toolbar', 'grid', 'tree', 'list', 'listbox', 'radiogroup', 'group', 'region', 'form']);
  const CONTROLS = 'a[href], button, input, select, textarea, summary, iframe, [role], [onclick], [tabindex], [contenteditable]';
  const WHOLE = new Set(['button', 'input', 'select', 'textarea']); // never broken into lines
  const TICKS = new Set(['checkbox', 'radio', 'file']);
  const ROLES = {
    button: 'btn', link: 'link', a: 'link', textbox: 'inp', searchbox: 'inp', input: 'inp', textarea: 'inp', spinbutton: 'inp', editor: 'inp', checkbox: 'chk',
    radio: 'radio', select: 'sel', combobox: 'sel', listbox: 'sel', menuitem: 'menu', menuitemcheckbox: 'menu', menuitemradio: 'menu', tab: 'tab',
    listitem: 'item', option: 'opt', treeitem: 'tree', switch: 'switch', slider: 'slider', heading: 'h',
  };
  const GENERIC = new Set(['', 'presentation', 'none', 'generic', 'application', 'img']);

  // The role of a control, in full and short: as the page says, else by what one does with it.
  function roleOf({ element, kind }) {
    const given = view.attribute(element, 'role')?.trim().split(/\s+/)[0].toLowerCase() ?? '';
    const native = element instanceof HTMLInputElement && element.type === 'range' ? 'slider' : kind === 'other' ? '' : kind;
    const role = GENERIC.has(given) || (kind === 'input' && native === 'slider') ? native || 'button' : given;
    const fits = kind === 'other' || ROLES[role] !== undefined ? role : kind;
    return { whole: fits, short: ROLES[fits] ?? fits.slice(0, 4) };
  }

  function paneOf(frame) {
    const own = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
    return frame ? view.within(own, { left: frame.left, top: frame.top, right: frame.right, bottom: frame.bottom }) ?? { left: 0, top: 0, right: 0, bottom: 0 } : own;
  }

  // Tells what lies outside of a pane with all that it holds, so that long pages cost no more than short ones.
  function outside(pane, state) {
    const away = new Map(); // the page is walked twice
    let spine = null;
    return (element, tag) => {
      if (view.INLINE.has(tag) || tag === 'body' || tag === 'html' || spine?.has(element)) return false;
      let far = away.get(element);
      if (far === undefined) {
        far = isFar(view.box(element), pane) && !(spine ??= spineOf(pane, state)).has(element);
        away.set(element, far);
      }
      return far;
    };
  }

  // What holds something that the pane shows, wherever it lies itself: what is fixed to the window may stand in what is far away. Controls
  // are looked for by themselves, the rest by what is hit here and there.
  function spineOf(pane, { boxes }) {
    const spine = new Set(), controls = view.findAll(document, CONTROLS);
    const add = (element) => {
      for (let node = element; node && !spine.has(node); node = view.above(node)) spine.add(node);
    };
    for (let index = 0; index < controls.length; index++) {
      const control = controls[index], box = view.box(control);
      if (!meets(box, pane)) continue;
      boxes.set(control, box);
      add(control);
    }
    for (let across = 0.5; across < SAMPLES; across++)
      for (let down = 0.5; down < SAMPLES; down++) add(view.hit(pane.left + ((pane.right - pane.left) * across) / SAMPLES, pane.top + ((pane.bottom - pane.top) * down) / SAMPLES));
    return spine;
  }

  // The box of an element, unless it is known already.
  const boxOf = (element, { boxes }) => boxes.get(element) ?? view.box(element);

  // Whether some of a box lies in a pane: quicker than what of it does.
  function meets(box, pane) {
    if (box.top >= pane.bottom || box.bottom <= pane.top || box.left >= pane.right || box.right <= pane.left) return false;
    return box.width > 0 && box.height > 0 && pane.right > pane.left && pane.bottom > pane.top;
  }

  // Whether a find is shown; tells where.
  function place(find, pane, state) {
    const own = boxOf(find.element, state);
    if (!state.everywhere && !TICKS.has(find.kind) && isFar(own, pane)) return false;
    find.box = view.shownAt(find, own);
    if (!find.box || (!state.everywhere && !meets(find.box, pane))) return false;
    const shown = find.stand ?? find.element;
    const { seen, scrolls } = view.clip(shown, find.box);
    if (!seen && !scrolls) return false;
    const visible = seen && view.within(seen, pane);
    const share = visible ? view.within(find.box, pane).share * part(seen, find.box) : 0;
    find.inView = visible !== null && share > 0;
    find.visible = visible;
    return state.everywhere || share >= LEAST_SEEN;
  }

  // Tells where a find is really hit, and whether something lies over it.
  function touch(find, state) {
    const shown = find.stand ?? find.element;
    if (find.inView && state.hits++ < MANY_HITS) {
      const point = view.hitPoint(shown, widest(shown, find.visible));
      find.covered = point === null || state.covered;
      find.point = point;
    } else if (state.modal) find.covered = !view.isWithin(shown, state.modal);
  }

  const isFar = (box, pane) => !meets(box, pane) && box.width > 0 && box.height > 0;

  const part = (seen, box) => ((seen.right - seen.left) * (seen.bottom - seen.top)) / (box.width * box.height || 1);

  // Of a link over several lines that which is widest: the middle of all of them may lie beside it.
  function widest(element, visible) {
    if (WHOLE.has(view.tag(element))) return visible;
    const rows = element.getClientRects();
    if (rows.length < 2 || rows.length > 20) return visible;
    let best = null;
    for (const row of rows) {
      const seen = view.within(row, visible);
      if (seen && (!best || seen.right - seen.left > best.right - best.left)) best = seen;
    }
    return best ?? visible;
  }

  // The finds that are shown and named, as far as the time goes.
  function judged(finds, pane, state) {
    const kept = [];
    const begun = performance.now();
    let count = 0;
    for (const find of finds) {
      if (count++ >= ALWAYS && performance.now() - begun > LATEST_MS) break;
      try {
        if (!place(find, pane, state) || !view.isWanted(find)) continue;
        touch(find, state);
        if (view.name(find) || nameless(find)) kept.push(find);
      } catch {
        continue; // hostile enough to be left out
      }
    }
    return kept;
  }

  // Something without any words that is clicked all the same: a drawing, a coloured box.
  function nameless(find) {
    if (find.within > 0 || find.box.width < LEAST_BOX || find.box.height < LEAST_BOX) return false;
    find.sig = view.signature(find.element, find.kind, '', find.region);
    return true;
  }

  // Without what only holds others and says nothing itself: what is clicked there is what it holds.
  function withoutWrappers(named) {
    const controls = new Set(named.map((find) => find.element)), holding = new Set();
    for (const { element } of named)
      for (let node = view.above(element); node && !holding.has(node); node = view.above(node)) holding.add(node);
    return named.filter((find) => !find.plain || !holding.has(find.element) || saysItself(find.element, controls));
  }

  function saysItself(element, controls) {
    if (HOLDERS.has(view.attribute(element, 'role'))) return false;
    const enter = (node) => !controls.has(node) && !controls.has(node.control) && view.shows(node);
    for (const node of view.nodes(element, enter, MANY_NODES)) if (node.nodeType === Node.TEXT_NODE && /[\p{L}\p{N}]/u.test(node.data)) return true;
    return false;
  }

  // -- what scrolls --------------------------------------------------------------------------------------------------

  function percent(element) {
    const most = element.scrollHeight - element.clientHeight;
    return `${most > 0 ? Math.round((100 * element.scrollTop) / most) : 0}%`;
  }

  function scrollOf(element) {
    if (element.scrollHeight - element.clientHeight <= MORE || element.clientHeight < LEAST_SCROLL) return null;
    return { depth: percent(element), h: element.scrollHeight - element.clientHeight - element.scrollTop > MORE };
  }

  function listName(element) {
    const id = view.attribute(element, 'id') ?? '';
    return view.unsecret(view.clean(view.attribute(element, 'aria-label') || (view.generated(id) ? '' : view.spoken(id)) || view.classed(element), NAME_CHARS));
  }

  // Containers that hold more than they show; those that are controls themselves are told there.
  function scrollers(found, named, pane, state) {
    const known = new Set(named.map((find) => find.element)), kept = [];
    for (const find of found) {
      if (kept.length >= MANY_SCROLLS || known.has(find.element) || !scrollOf(find.element) || /^(?:html|body)$/.test(view.tag(find.element))) continue;
      if (!/auto|scroll/.test(getComputedStyle(find.element).overflowY) || !place(find, pane, { ...state, everywhere: true }) || (!state.everywhere && !find.inView)) continue;
      touch(find, state);
      find.label = listName(find.element);
      find.sig = view.signature(find.element, find.kind, find.label, find.region);
      find.scrolls = true;
      kept.push(find);
    }
    return kept;
  }

  // -- nodes ---------------------------------------------------------------------------------------------------------

  const idOf = (number, frame) => (frame ? `f${frame.number}_${number}` : String(number));
  const cut = (text) => view.clean(text, NAME_CHARS);

  function centred(node, box, point, frame) {
    const x = frame?.x ?? 0, y = frame?.y ?? 0;
    node.xy = [Math.round((point?.x ?? (box.left + box.right) / 2) + x), Math.round((point?.y ?? (box.top + box.bottom) / 2) + y)];
  }

  const boxed = (box, frame) => [box.left + (frame?.x ?? 0), box.top + (frame?.y ?? 0), box.right - box.left, box.bottom - box.top].map(Math.round);

  // The name of a control; the words in a drawing are those of its shapes.
  function nameOf({ find: { element, kind, label }, drawn, shape }) {
    const id = view.attribute(element, 'id') ?? '';
    const named = shape === 'drawing' ? view.unsecret(view.pictureName(element) || (view.generated(id) ? '' : view.spoken(id))) : label || drawn;
    const ticks = (kind === 'radio' || kind === 'checkbox') && element.value !== 'on' ? view.clean(element.value ?? '') : '';
    return named || view.unsecret(view.classed(element) || ticks);
  }

  function controlNode(item, options) {
    const { find } = item, { element, kind } = find, { frame } = options;
    const role = find.scrolls ? { short: view.attribute(element, 'role')?.slice(0, 4) || 'list' } : roleOf(find);
    const node = { i: idOf(view.numberOf(find), frame), r: role.short, n: cut(nameOf(item)) };
    const value = find.scrolls ? '' : view.valueOf(element, kind, find.label, find.stand);
    if (value || role.short === 'inp') node.v = value;
    const states = find.scrolls ? [] : view.statesOf(element, kind);
    if (states.length) node.s = states.join(',');
    centred(node, find.box, find.point, frame);
    if (options.boxes || item.shape || find.scrolls) node.box = boxed(find.box, frame);
    const scroll = scrollOf(element);
    if (scroll && (find.scrolls || kind !== 'link')) node.scr = scroll;
    if (find.covered) node.occ = true;
    const choices = view.optionsOf(element);
    if (choices.length) node.t = view.clean(choices.join(' | '), NAME_CHARS * 6);
    if (item.shape) node.sh = item.shape;
    return node;
  }

  function otherNode(item, { frame, boxes }) {
    const node = { i: idOf(view.numberOfOther(item.element, item.piece), frame), r: item.picture ? 'img' : item.heading ? 'h' : 'text', n: item.words };
    centred(node, item.box, null, frame);
    if (boxes || item.picture || item.shape) node.box = boxed(item.box, frame);
    if (item.shape) node.sh = item.shape;
    return node;
  }

  function described(item, options) {
    item.node = item.find ? controlNode(item, options) : otherNode(item, options);
    const element = item.find?.element ?? item.element;
    if (options.frame) item.node.f = options.frame.number;
    const colour = options.colours ? view.colourOf(element, item.shape) : '';
    if (colour) item.node.c = colour;
    if (options.selectors && item.find) item.node.sel = view.selectorOf(element);
    if (options.marks && item.find) item.node.m = view.marksOf(element, options.headings);
    return item;
  }

  // Everything that is shown, described; what cannot be described is left out.
  function capture(wanted) {
    const options = wanted.marks ? { ...wanted, headings: view.headingsOf() } : wanted;
    const { everywhere = false, text = true, colours = false, frame = null } = options;
    view.beginStamping();
    const state = { hits: 0, modal: view.modal(), everywhere, covered: frame?.covered === true, boxes: new Map() };
    const pane = paneOf(frame), away = everywhere ? () => false : outside(pane, state), seen = view.walk(false, away);
    const named = withoutWrappers(view.withoutStands(judged(seen.finds, pane, state)));
    const scrolls = scrollers(seen.scrolls, named, pane, state);
    const frames = view.framesOf(seen.frames);
    const fresh = view.assign([...named, ...scrolls, ...frames]);
    const kept = [];
    for (const item of view.ordered([...named, ...scrolls], frames, pane, { text, everywhere, colours, away })) {
      try {
        if (item.frame) item.frame.at = kept.length;
        else kept.push(described(item, options));
      } catch {
        continue;
      }
    }
    view.tell(kept);
    view.headed(kept);
    return { items: kept, frames: frames.map((find) => framed(find, pane, frame)), fresh };
  }

  // The window of a frame within the page, by which what is in it is placed.
  function framed(find, pane, outer) {
    const style = getComputedStyle(find.element), { element, box, entry } = find;
    const left = box.left + element.clientLeft + parseFloat(style.paddingLeft), top = box.top + element.clientTop + parseFloat(style.paddingTop);
    const { seen } = view.clip(element, box), shown = seen && view.within(seen, pane);
    const pieces = shown ?? { left, top, right: left, bottom: top };
    return {
      id: entry.id, number: entry.number, at: find.at ?? 0, way: view.way(element), shown: shown !== null, x: (outer?.x ?? 0) + left, y: (outer?.y ?? 0) + top,
      left: pieces.left - left, top: pieces.top - top, right: pieces.right - left, bottom: pieces.bottom - top,
      covered: outer?.covered === true || (shown !== null && view.hitPoint(element, shown) === null),
    };
  }

  function containers(nodes) {
    return nodes.filter((node) => node.scr).map((node) => ({ id: node.i, depth: node.scr.depth, hasMore: node.scr.h }));
  }

  function active() {
    let element = document.activeElement;
    for (let deep = 0; element && view.rootIn(element)?.activeElement && deep < 20; deep++) element = view.rootIn(element).activeElement;
    return element;
  }

  // The words that are selected; nothing of a field that holds something secret.
  function selection() {
    const element = active();
    return element && view.wasSecret.has(element) ? '' : view.unsecret(view.clean(String(getSelection() ?? ''), SELECTED_CHARS));
  }

  // The tree of this document; where no frame stands in it, as much of it as fits beside the whole.
  function semantic(options) {
    const { items, frames, fresh } = capture(options);
    const nodes = items.map((item) => item.node), focus = active(), held = items.find((item) => item.find?.element === focus);
    const ids = Object.fromEntries(items.filter((item) => item.find).map((item) => [item.node.i, item.find.entry.id]));
    const page = document.scrollingElement ?? view.rootElement(document);
    return {
      url: location.href, title: view.clean(view.title(document), 200), ready: view.readyState(document), fresh, frames, ids, total: nodes.length,
      focused: held ? held.node.i : '', width: innerWidth, height: innerHeight, scrollPosition: percent(page), containers: containers(nodes),
      ...(view.events?.() ?? {}), inputs: view.inputs((number) => idOf(number, options.frame)), selection: selection(), nodes: frames.length || options.frame ? nodes : [], packed: frames.length || options.frame ? null : fitting({ ...options, nodes }),
    };
  }

  // Of the nodes of a page and its frames those that fit, and what all of them come to.
  function fitting({ nodes, ...options }) {
    return { hash: view.treeHash?.(nodes) ?? '', ...view.pack({ ...options, nodes }) };
  }

  Object.assign(view, { active, semantic, fitting, capture, roleOf });
});
