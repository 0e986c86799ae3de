// Describes what a page has to act on, and finds single elements of it again, for the browser tier.
weft.part((view) => {
  const MANY_FITTING = 20, UP = 3, HREF = 300;

  function rounded(box) {
    return box && { x: Math.round(box.x), y: Math.round(box.y), width: Math.round(box.width), height: Math.round(box.height) };
  }

  function described({ element, kind, label, region, box, inView, covered, entry, stand }) {
    const states = view.statesOf(element, kind);
    if (covered) states.push('covered');
    if (!box) states.push('hidden');
    return {
      id: entry.id, type: kind, label, region, value: view.valueOf(element, kind, label, stand),
      href: kind === 'link' && /^(?:https?|mailto|tel|ftp):/.test(element.href) ? String(element.href).slice(0, 2000) : '',
      placeholder: view.clean(view.attribute(element, 'placeholder') ?? ''), options: view.optionsOf(element), states,
      inView: inView === true, box: rounded(box),
      input: element instanceof HTMLInputElement ? element.type : view.tag(element),
      marks: marksOf(element),
    };
  }

  function marksOf(element) {
    const marks = [];
    for (const name of ['id', 'name', 'data-testid', 'title', 'autocomplete', 'role', 'rel', 'alt', 'value']) {
      if (name === 'value' && !/^(?:radio|checkbox)$/.test(element.type ?? '')) continue;
      const token = view.attribute(element, name);
      if (token && token.length <= 80) marks.push(view.spoken(token));
    }
    return marks;
  }

  function safely(find) {
    try {
      return [described(find)];
    } catch {
      return [];
    }
  }

  function framed({ element, entry, box, inView, covered }) {
    const style = getComputedStyle(element);
    const left = box.x + element.clientLeft + parseFloat(style.paddingLeft), top = box.y + element.clientTop + parseFloat(style.paddingTop);
    return { id: entry.id, number: entry.number, way: view.way(element), box: rounded({ x: left, y: top, width: box.width, height: box.height }), inView, covered: covered === true };
  }

  function snapshot({ hidden = false }) {
    const { named, frames, fresh, total, cut } = view.gather(hidden);
    return {
      page: view.known.page, url: location.href, title: view.clean(view.title(document), 200), ready: view.readyState(document),
      elements: named.flatMap(safely), frames: frames.map(framed), width: innerWidth, height: innerHeight, total, cut,
      markers: view.markers(named), fresh, news: view.news(),
    };
  }

  function wayTo({ id }) {
    const element = view.standing(id);
    return { way: element && view.way(element) };
  }

  function size() {
    return { nodes: document.getElementsByTagName('*').length, page: view.known.page, hosts: view.hosts() };
  }

  // The way to an element by its id, as it is now, or to what has taken its place beyond doubt; nothing where it is gone.
  function locate({ id }) {
    const { named, fresh } = view.gather(false);
    const match = view.held(id) ? null : view.heal(id, named);
    const element = view.standing(id);
    const way = element && view.way(element);
    const healed = match && { id: match.find.entry.id, label: match.find.label, score: match.score };
    return { url: location.href, way, elements: way ? [] : named.flatMap(safely), fresh, healed };
  }

  // What a selector fits and is shown: first what one acts on, for which a part of it stands as well, then the rest, to be dragged or read.
  function select({ selector }) {
    let fitting;
    try {
      fitting = view.findAll(document, selector);
    } catch {
      return { valid: false, elements: [], fresh: [], url: location.href };
    }
    const { named, fresh } = view.gather(false);
    const finds = new Map(named.map((find) => [find.element, find]));
    const found = new Set(), others = [];
    for (let index = 0; index < fitting.length && found.size < MANY_FITTING; index++) {
      const find = around(fitting[index], finds);
      if (find) found.add(find);
      else if (others.length < MANY_FITTING) others.push(...other(fitting[index]));
    }
    const more = others.length ? view.assign(others) : [];
    return { valid: true, elements: [...found, ...others].flatMap(safely), fresh: [...fresh, ...more], url: location.href };
  }

  function around(element, finds) {
    let node = element;
    for (let up = 0; node && up < UP && !finds.has(node); up++) node = view.above(node);
    return finds.get(node);
  }

  // An element that is shown, and that nothing says of that one acts on it; nothing for a frame, which has an id as such.
  function other(element) {
    try {
      const kind = view.kindOf(element) || 'other', region = regionAround(element);
      const find = { element, kind, region, plain: true, off: false, within: 0 };
      view.measure(find, { hits: 0, modal: view.modal() });
      if (!find.box || /^i?frame$/.test(view.tag(element))) return [];
      find.label = view.unsecret(view.nameOf(element, kind) || view.classed(element));
      find.sig = view.signature(element, kind, find.label, region);
      return [find];
    } catch {
      return []; // hostile enough to be left out
    }
  }

  function regionAround(element) {
    for (let node = element; node; node = view.above(node)) {
      const region = view.regionOf(node);
      if (region) return region;
    }
    return 'page';
  }

  // Conceals the value of an element from now on, whatever kind of field it is.
  function conceal({ id }) {
    const element = view.standing(id);
    if (element) view.wasSecret.add(element);
    return { done: element !== null };
  }

  function hrefOf(element) {
    return /^(?:https?|mailto|tel|ftp):/.test(element.href ?? '') ? String(element.href).slice(0, HREF) : '';
  }

  // Nodes with whole keys, without what a page does not say.
  function v2(options) {
    return view.capturedControls(options).map(({ node, find }) => {
      const { element } = find, full = { id: node.i, role: view.roleOf(find).whole, name: node.n };
      const more = {
        value: node.v, state: node.s, type: element instanceof HTMLInputElement ? element.type : undefined,
        placeholder: view.clean(view.attribute(element, 'placeholder') ?? '') || undefined, href: hrefOf(element) || undefined,
        isInShadow: element.getRootNode() instanceof ShadowRoot || undefined, frameId: node.f,
        bounds: options.boxes ? { x: node.box[0], y: node.box[1], width: node.box[2], height: node.box[3] } : undefined,
      };
      for (const [name, value] of Object.entries(more)) if (value !== undefined && value !== '') full[name] = value;
      return full;
    });
  }

  Object.assign(view, { v2, snapshot, locate, wayTo, size, select, conceal });
});
