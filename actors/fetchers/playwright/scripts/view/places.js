// Tells in which part of the page an element is, and of which row of a list.
weft.part((view) => {
  const LANDMARKS = {
    main: 'main', nav: 'navigation', aside: 'aside', dialog: 'dialog', search: 'search', fieldset: 'group',
  };
  const ROLES = {
    main: 'main', navigation: 'navigation', complementary: 'aside', banner: 'header', contentinfo: 'footer', search: 'search',
    dialog: 'dialog', alertdialog: 'dialog', form: 'form', tablist: 'tabs', toolbar: 'toolbar', menu: 'menu', menubar: 'menu', listbox: 'options',
    radiogroup: 'group', alert: 'alert', tabpanel: 'panel',
  };
  const ROWS = 'li, tr, article, [role="row"], [role="listitem"], [role="article"], [role="treeitem"]';
  const KEYS = ['data-id', 'data-key', 'data-row-key', 'data-item-id', 'data-index', 'data-uid', 'key'];
  const MANY_UP = 8, NEAR = 3, NAME_CHARS = 40, MANY_NODES = 60;
  const LISTS = '[role="combobox"]', LIVE = '[aria-live], [role="status"], [role="alert"], [role="log"]', MANY_LISTS = 5;
  const UNROWED = new Set(['body', 'td', 'th', 'option', 'path', 'g']);
  const CONTROLS = new Set(['button', 'input', 'select', 'textarea']);
  const MANY_SIBLINGS = 2000;
  const among = new Map(), rows = new Map(), named = new Map();
  const HEADINGS = 'h1, h2, h3, h4, h5, h6, th, strong';
  const GENERATED = /^[:«_]?r[0-9a-z]{0,4}[:»_]?$|^(?:radix|headlessui|mui|ember|ext|yui|mat|cdk|react-aria|downshift|el-id|svelte|__|chakra|mantine|rc)[-_:\d]|[0-9a-f]{8}|\d{4}/i;

  // Ids that a program makes up afresh, so that nothing follows from them.
  function generated(token) {
    return GENERATED.test(token);
  }

  function words(element) {
    const by = view.attribute(element, 'aria-labelledby')?.split(/\s+/)[0];
    const found = by ? element.getRootNode().getElementById?.(by) : null;
    return view.clean(view.attribute(element, 'aria-label') || (found ? view.textOf(found, NAME_CHARS) : ''), NAME_CHARS);
  }

  function formName(form) {
    const said = words(form) || view.clean(view.attribute(form, 'name') ?? '', 30);
    const id = view.attribute(form, 'id');
    if (said) return said;
    if (view.find(form, 'input[type="password"]')) return 'login';
    if (view.find(form, 'input[type="search"], [role="searchbox"]') || view.attribute(form, 'role') === 'search') return 'search';
    return id && !generated(id) ? view.spoken(id) : '';
  }

  // The part of the page that an element begins, or nothing.
  function regionOf(element) {
    const tag = view.tag(element);
    const role = view.attribute(element, 'role');
    if (tag === 'form' || role === 'form') {
      const name = view.slug(formName(element), 30);
      return name ? `form:${name}` : 'form';
    }
    const modal = view.attribute(element, 'aria-modal') === 'true';
    const page = tag === 'header' ? 'header' : tag === 'footer' ? 'footer' : undefined;
    const region = modal ? 'dialog' : ROLES[role] ?? (role ? undefined : LANDMARKS[tag] ?? (tag === 'section' ? 'section' : page));
    if (!region) return '';
    const name = region === 'main' || region === 'header' || region === 'footer' ? '' : view.slug(words(element) || legend(element, tag), 30);
    if (!name) return region === 'group' || region === 'section' ? '' : region;
    return `${region}:${name}`;
  }

  function legend(element, tag) {
    const found = tag === 'fieldset' ? view.find(element, ':scope > legend') : null;
    return found ? view.textOf(found, NAME_CHARS) : '';
  }

  function alike(one, other) {
    return one && other && view.tag(one) === view.tag(other) && shape(one) === shape(other);
  }

  // What rows of one list have in common: not the words for states that come and go.
  function shape(element) {
    return (view.attribute(element, 'class') ?? '').trim().split(/[\s]+/)[0];
  }

  // Told once for all that is in it.
  function isRow(element) {
    let row = rows.get(element);
    if (row === undefined) rows.set(element, (row = looksLikeRow(element)));
    return row;
  }

  function looksLikeRow(element) {
    const over = view.parent(element);
    if (!over || UNROWED.has(view.tag(element))) return false;
    if (view.matches(element, ROWS)) return true;
    for (let back = element.previousElementSibling, on = element.nextElementSibling, far = 0; far < NEAR && (back || on); far++) {
      if (alike(element, back) || alike(element, on)) return true;
      back = back?.previousElementSibling;
      on = on?.nextElementSibling;
    }
    return false;
  }

  // What a row is called beside an element in it: told once for all its controls, whose own words are never among those.
  function rowName(row, element) {
    if (row === element || !CONTROLS.has(view.tag(element)) || view.closest(element, HEADINGS)) return wordsOf(row, element);
    let name = named.get(row);
    if (name === undefined) named.set(row, (name = wordsOf(row, element)));
    return name;
  }

  // The words that tell a row from the others, without those of its controls, of what is drawn for them or announced, and of `without`.
  function wordsOf(row, without) {
    let first = '', heading = '';
    const drawn = view.findIn(row, LISTS).length ? [...view.findIn(row, LISTS)].slice(0, MANY_LISTS).map((list) => view.drawnAround(list)).filter(Boolean) : [];
    if (drawn.some((one) => view.isWithin(row, one))) return '';
    const enter = (node) => node !== without && !drawn.includes(node) && !view.matches(node, LIVE) && !CONTROLS.has(view.tag(node)) && view.shows(node) && view.attribute(node, 'role') !== 'button';
    for (const node of view.nodes(row, enter, MANY_NODES)) {
      if (node.nodeType === Node.ELEMENT_NODE && node !== without && /^(?:h[1-6]|th|strong)$/.test(node.localName)) heading = view.textOf(node, NAME_CHARS, without);
      if (heading) return heading;
      if (node.nodeType !== Node.TEXT_NODE || without.contains(node)) continue;
      const piece = view.clean(node.data, NAME_CHARS);
      if (/\p{L}/u.test(piece)) first = first || piece;
      if (first && view.tag(row) === 'tr') return first;
    }
    return first;
  }

  function rowKey(row) {
    for (const name of KEYS) {
      const key = view.attribute(row, name);
      if (key) return `${name}=${key.slice(0, 60)}`;
    }
    const id = view.attribute(row, 'id');
    return id && id.length <= 60 ? `id=${id}` : '';
  }

  // Of which row an element is: the words and the key of it, and what the list of them is known by.
  function rowOf(element) {
    for (let node = element, up = 0; node && up < MANY_UP; node = view.above(node), up++) {
      if (!isRow(node)) continue;
      const name = rowName(node, element);
      if (!name && inRow(node)) continue;
      return { name, key: rowKey(node), group: `${view.tag(node)}.${shape(node)}>${up}` };
    }
    return { name: '', key: '', group: '' };
  }

  function inRow(element) {
    for (let node = view.above(element), up = 0; node && up < MANY_UP - 1; node = view.above(node), up++) if (isRow(node)) return true;
    return false;
  }

  // Which of its kind an element is among its siblings, and how many those are: told once for all of them.
  function amongAlike(element) {
    const told = among.get(element);
    if (told) return told;
    const over = view.parent(element), siblings = over ? view.children(over) : [element], kinds = new Map();
    for (let index = 0; index < siblings.length; index++) {
      const tag = view.tag(siblings[index]);
      let kind = kinds.get(tag);
      if (!kind) kinds.set(tag, (kind = { tag, count: 0 }));
      among.set(siblings[index], { kind, index: kind.count++, far: index >= MANY_SIBLINGS });
    }
    return among.get(element);
  }

  function stepOf(element) {
    const { kind, index, far } = amongAlike(element);
    return far ? kind.tag : kind.tag + index;
  }

  function placeOf(element) {
    const path = [];
    for (let node = element, up = 0; node && up < 6; node = view.above(node), up++) path.push(stepOf(node));
    return path.join('<');
  }

  Object.assign(view, { regionOf, rowOf, placeOf, amongAlike, generated });
});
