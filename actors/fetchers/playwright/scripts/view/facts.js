// Says what an element is for whoever decides about it, and holds an action to that: at the moment it happens the element
// is still the one that was decided about, or nothing is done.
weft.part((view) => {
  const CHARS = 200, NEAR_CHARS = 300, FIELDS = 20, FIELD_CHARS = 100, UP = 4, HEADINGS = 300, LEAST_NEAR = 12;
  const CONTROLS = 'input, select, textarea, [contenteditable=""], [contenteditable="true"], [role="textbox"]';
  const known = view.known;
  const own = (type, name) => {
    const { get } = Object.getOwnPropertyDescriptor(type.prototype, name);
    return (node) => (node instanceof type ? get.call(node) : null);
  };
  const formOf = { input: own(HTMLInputElement, 'form'), button: own(HTMLButtonElement, 'form'), select: own(HTMLSelectElement, 'form'), textarea: own(HTMLTextAreaElement, 'form') };
  const text = (value, max = CHARS) => view.clean(String(value ?? ''), max);
  const said = (element, name, max = CHARS) => text(view.attribute(element, name), max);

  function form(element) {
    return formOf[view.tag(element)]?.(element) ?? null;
  }

  function typeOf(element, kept = view.wasSecret.has(element)) {
    const tag = view.tag(element);
    if (kept && tag === 'input') return 'password';
    if (tag === 'input' && getComputedStyle(element).webkitTextSecurity !== 'none') return 'password';
    return tag === 'input' || tag === 'button' ? String(element.type) : '';
  }

  function roleOf(element) {
    if (element.isContentEditable && !formOf[view.tag(element)]) return 'textbox';
    return said(element, 'role', 40).toLowerCase();
  }

  function unique(words) {
    const kept = [];
    for (const one of words) if (one && !kept.some((other) => other.includes(one))) kept.push(one);
    return kept.join(' ');
  }

  // The words of the labels that are shown, whatever an attribute says besides.
  function shownLabels(element) {
    const words = [];
    for (const label of [...(element.labels ?? [])].slice(0, 4)) words.push(view.labelText(label, element));
    return words;
  }

  function described(element) {
    const root = element.getRootNode();
    const ids = (view.attribute(element, 'aria-describedby') ?? '').trim().split(/\s+/).filter(Boolean).slice(0, 3);
    return ids.map((id) => root.getElementById?.(id)).filter(Boolean).map((one) => view.textOf(one, CHARS, element, true));
  }

  function labelOf(element) {
    const tokens = ['name', 'id', 'data-testid', 'data-test', 'data-cy', 'data-qa'].map((name) => view.spoken(view.attribute(element, name) ?? ''));
    const named = view.nameOf(element, view.kindOf(element) || 'other');
    return text(unique([tokens.includes(named) ? '' : named, ...shownLabels(element), ...described(element)]), CHARS * 2);
  }

  // The words around it: its group and, as far up as it takes, what stands beside it.
  function nearOf(element) {
    const words = [];
    for (let node = view.above(element), up = 0; node && up < UP; node = view.above(node), up++) {
      if (node === document.body) break;
      const inner = view.textOf(node, NEAR_CHARS, element);
      if (inner.length >= LEAST_NEAR) {
        words.push(inner);
        break;
      }
    }
    for (let node = view.above(element), up = 0; node && up < UP * 3; node = view.above(node), up++) {
      if (view.tag(node) === 'fieldset') words.push(view.textOf(view.find(node, 'legend') ?? node, 120, element));
      else if (view.attribute(node, 'role') === 'group' || view.attribute(node, 'role') === 'dialog') words.push(said(node, 'aria-label', 120));
    }
    return text(unique(words), NEAR_CHARS * 2);
  }

  function headingOf(element) {
    let last = '';
    const all = [...view.findAll(document, 'h1, h2, h3, h4, h5, h6, [role="heading"]')].slice(0, HEADINGS);
    for (const one of all) {
      if (!(one.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING)) continue;
      if (view.isVisible(one, { visibilityProperty: true })) last = view.textOf(one, CHARS) || last;
    }
    return last;
  }

  // The fields that it stands among: those of its form, or of the next thing around that holds others.
  function siblings(element) {
    const around = form(element);
    if (around) return [...view.findIn(around, CONTROLS)].filter((one) => one !== element);
    for (let node = view.above(element), up = 0; node && up < UP * 2; node = view.above(node), up++) {
      const others = [...view.findIn(node, CONTROLS)].filter((one) => one !== element);
      if (others.length) return others;
    }
    return [];
  }

  function fieldsOf(element) {
    const fields = [];
    for (const one of siblings(element).slice(0, FIELDS)) {
      const type = typeOf(one);
      if (type === 'hidden') continue;
      const words = [said(one, 'autocomplete', 40), type, said(one, 'name', 60), text(view.placeholderOf(one), 60), ...shownLabels(one)];
      fields.push(text(words.filter(Boolean).join(' '), FIELD_CHARS));
    }
    return fields;
  }

  function resolved(address) {
    try {
      return new URL(address, document.baseURI).href.slice(0, 2000);
    } catch {
      return '';
    }
  }

  // The address of the page without the place on it, which many note in it as they are scrolled.
  const address = () => location.href.split('#')[0];

  // Where a link or the form of a button or field leads.
  function targetOf(element) {
    const link = element.closest('a[href], area[href]');
    if (link) return resolved(view.attribute(link, 'href'));
    const around = form(element);
    const given = view.attribute(element, 'formaction') ?? (around ? view.attribute(around, 'action') : null);
    return around ? resolved(given || address()) : '';
  }

  function factsOf(element) {
    const facts = {
      url: location.href, tag: view.tag(element), type: typeOf(element), name: said(element, 'name'), id: said(element, 'id'),
      autocomplete: said(element, 'autocomplete'), inputmode: said(element, 'inputmode'), pattern: said(element, 'pattern'),
      maxlength: element.maxLength >= 0 ? element.maxLength : null, placeholder: text(view.placeholderOf(element), CHARS) || said(element, 'aria-placeholder'),
      label: labelOf(element), role: roleOf(element), title: said(element, 'title'), heading: headingOf(element),
      form_fields: fieldsOf(element), target: targetOf(element), secret: view.wasSecret.has(element) && typeOf(element) !== 'password',
      language: text(element.closest('[lang]')?.getAttribute('lang') ?? '', 20),
    };
    // A field stays the same one when something secret is put into it.
    const same = { ...facts, url: address(), type: typeOf(element, false), secret: false };
    return { ...facts, near: nearOf(element), digest: view.sha256(JSON.stringify(same)) };
  }

  // -- what is found again by ----------------------------------------------------------------------------------------

  const TESTS = ['data-testid', 'data-test', 'data-test-id', 'data-cy', 'data-qa'], BESIDE_CHARS = 80;

  // The words next to it: of the smallest thing around that says anything else.
  function besideOf(element) {
    for (let node = view.above(element), up = 0; node && node !== document.body && up < UP; node = view.above(node), up++) {
      const words = view.textOf(node, BESIDE_CHARS, element);
      if (words) return text(words, BESIDE_CHARS);
    }
    return '';
  }

  // The last heading before it that is shown; `headings` are those of the document, told once for all elements.
  function under(element, headings) {
    for (let at = headings.length - 1; at >= 0; at--)
      if (headings[at].compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING && view.shows(headings[at])) return view.textOf(headings[at], CHARS);
    return '';
  }

  const headingsOf = () => [...view.findAll(document, 'h1, h2, h3, h4, h5, h6, [role="heading"]')].slice(0, HEADINGS);

  // What an element is found again by in another load of its page, or another version of it.
  function marksOf(element, headings) {
    const id = said(element, 'id', 100), link = element.closest('a[href]'), secret = typeOf(element) === 'password';
    const marks = {
      test: TESTS.map((name) => said(element, name, 100)).find(Boolean) ?? '', id: view.generated(id) ? '' : id, name: said(element, 'name', 100),
      type: typeOf(element), placeholder: said(element, 'placeholder', 100), href: link ? resolved(view.attribute(link, 'href')) : '',
      beside: besideOf(element), near: nearOf(element).slice(0, NEAR_CHARS), heading: under(element, headings),
      secret: secret || view.wasSecret.has(element) ? 'yes' : '',
    };
    for (const [name, value] of Object.entries(marks)) if (!value) delete marks[name];
    return marks;
  }

  // -- what is called ------------------------------------------------------------------------------------------------

  function focused() {
    let element = document.activeElement;
    for (let deep = 0; element && view.rootIn(element)?.activeElement && deep < 20; deep++) element = view.rootIn(element).activeElement;
    return element === document.body ? null : element;
  }

  // What lies at a point; nothing where that is the page itself.
  function lyingAt([x, y]) {
    let element = document.elementFromPoint(x, y);
    for (let deep = 0; element && view.rootIn(element) && deep < 20; deep++) {
      const inner = view.rootIn(element).elementFromPoint(x, y);
      if (!inner || inner === element) break;
      element = inner;
    }
    return element === document.body || element === document.documentElement ? null : element;
  }

  function found(id, at = null) {
    if (id !== null) return view.standing(id);
    return at ? lyingAt(at) : focused();
  }

  // What an element is; of a frame that has the focus the way to it.
  function describe({ id, at = null }) {
    const element = found(id, at);
    if (!element?.isConnected) return { facts: null, frame: null };
    if (id === null && !at && /^i?frame$/.test(view.tag(element))) return { facts: null, frame: view.way(element) };
    return { facts: factsOf(element), frame: null };
  }

  function isSame(element, expects) {
    return element?.isConnected === true && factsOf(element).digest === expects;
  }

  // Stops whatever a click or a submit would do once the element is another.
  function watch(event) {
    const armed = known.armed;
    if (!armed) return;
    if (event.type === 'submit' ? event.target !== armed.form : !event.composedPath().includes(armed.element)) return;
    if (isSame(armed.element, armed.expects)) return;
    armed.tripped = true;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  // Begins to hold what follows to an element as it is; false where it is another already.
  function arm({ id, expects, at = null }) {
    const element = found(id, at);
    if (!isSame(element, expects)) return { done: false };
    if (!known.watches) {
      known.watches = true;
      for (const type of ['pointerdown', 'mousedown', 'click', 'submit']) addEventListener(type, watch, true);
    }
    known.armed = { element, expects, form: form(element), tripped: false };
    return { done: true };
  }

  // Ends it; false where something was stopped.
  function disarm() {
    const armed = known.armed;
    known.armed = null;
    return { done: !armed?.tripped };
  }

  // Puts words into a field in the same step in which it is looked at: no script of the page runs between.
  function put({ id, expects, words }) {
    const element = found(id);
    if (!element?.isConnected) return { problem: 'gone' };
    element.focus({ preventScroll: true }); // handlers of the page run here, before the last look
    if (!isSame(element, expects)) return { problem: 'another' };
    if (view.matches(element, ':disabled, [aria-disabled="true"]')) return { problem: 'disabled' };
    if (element.readOnly) return { problem: 'readonly' };
    if (focused() !== element) return { problem: 'another' };
    if (element.select && /^(?:input|textarea)$/.test(view.tag(element))) element.select();
    else document.getSelection().selectAllChildren(element);
    const done = words ? document.execCommand('insertText', false, words) : document.execCommand('delete');
    return { problem: done || !words ? '' : 'kept' };
  }

  Object.assign(view, { describe, arm, disarm, put, headingsOf, marksOf });
});
