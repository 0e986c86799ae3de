// Names elements as assistive technology does (accname), and guesses from what else they carry where that says nothing.
weft.part((view) => {
  const MANY_NODES = 300, CHARS = 100, UP = 6;
  const CONTROL = 'input, select, textarea';
  const FIELD = `${CONTROL}, [role="switch"], [role="slider"], [role="checkbox"], [role="radio"], [role="combobox"], [role="spinbutton"]`, FAR_UP = 10;
  const FIELDS = new Set(['input', 'select', 'editor', 'checkbox', 'file']);
  const BESIDE = `${CONTROL}, button, a[href], [role="button"]`;
  const PASSING = '[role="dialog"], [role="listbox"], [role="menu"], [role="grid"], [role="tree"], [role="alert"], [role="status"], [aria-live]';
  const TYPED = new Set(['submit', 'reset', 'button', 'image']);
  const ICON = /^(?:(?:ui-)?icon|fa|fas|far|bi|mdi|glyphicon|lucide|ti|la|ri|pi|material-icons)[-_]+([a-z][a-z0-9-]*)$/i;
  const NO_ICON = /^(?:solid|regular|brands|lg|sm|xs|fw|spin|\dx|button|btn|wrapper|container|icon|only|left|right)$/i;
  const SAYING = /[\p{L}\p{N}]/u;
  const STYLED = /^(?:btn|button|icon|active|disabled|selected|open|show|hidden?|row|col|item|link|wrapper|container|inner|outer|clickable|pointer|js|is|has|ui|[a-z]{1,2})$/i;
  const AS_CONTENT = new Set(['button', 'link', 'checkbox', 'radio', 'tab', 'menuitem', 'option', 'other']);

  // Whether an element that is come to from one that is shown is shown itself; a slot has no box, but what is in it has.
  function shows(element) {
    if (view.attribute(element, 'aria-hidden') === 'true') return false;
    return view.isVisible(element, { visibilityProperty: true }) || getComputedStyle(element).display === 'contents';
  }

  function says(node) {
    const label = node.getAttribute('aria-label');
    if (label?.trim()) return label;
    if (node.localName === 'img' || node.localName === 'area') return node.getAttribute('alt') ?? '';
    if (node.localName === 'svg') return node.querySelector(':scope > title')?.textContent ?? '';
    return null;
  }

  // The words that are shown in an element; `without` is left out with all that it holds, and so are other controls, and what matches `apart`.
  function textOf(element, max = CHARS, without = null, hidden = false, apart = '') {
    if (!element.firstElementChild && !element.shadowRoot && element.localName !== 'slot') return view.clean(element.textContent, max);
    const parts = [];
    let size = 0;
    const enter = (node) => node !== without && node.localName !== 'svg' && !node.matches(CONTROL) && says(node) === null && (hidden || shows(node)) && !(apart && node.matches(apart));
    for (const node of view.nodes(element, enter, MANY_NODES)) {
      if (size > max * 2) break;
      if (node.nodeType === Node.TEXT_NODE) {
        const piece = node.data.length > max * 4 ? node.data.trimStart().slice(0, max * 4) : node.data;
        parts.push(piece);
        size += piece.trim().length;
      } else if (node.nodeType === Node.ELEMENT_NODE && node !== without) {
        const said = (hidden || shows(node)) && !(apart && node.matches(apart)) ? says(node) : '';
        if (said) parts.push(` ${said} `);
        else if (!view.INLINE.has(node.localName)) parts.push(' ');
      }
    }
    return view.clean(parts.join(''), max);
  }

  // What the elements say that are named as its label; a list that names what it holds has said its value.
  function labelled(element, kind) {
    const ids = element.getAttribute('aria-labelledby');
    if (!ids) return '';
    const root = element.getRootNode();
    const texts = [];
    for (const id of ids.trim().split(/\s+/).slice(0, 5)) {
      const found = root.getElementById?.(id);
      if (found && !(kind === 'select' && (element.contains(found) || found.matches('[role="option"]')))) texts.push(found.getAttribute('aria-label') || (found.matches(CONTROL) ? '' : textOf(found, CHARS, element, true)));
    }
    return view.clean(texts.join(' '));
  }

  // What a label says of its field: what pops up in it, or is read aloud there, comes and goes.
  function labelText(label, element) {
    const words = textOf(label, CHARS, element, false, PASSING);
    return SAYING.test(words) ? words : hinted(label) || words;
  }

  function labels(element) {
    const texts = [];
    for (const label of [...(element.labels ?? [])].slice(0, 3)) texts.push(labelText(label, element));
    return view.clean(texts.join(' '));
  }

  function native(element) {
    const name = element.localName;
    if (name === 'input' && TYPED.has(element.type)) {
      const value = element.type === 'image' ? element.alt || element.value : element.value;
      return labels(element) || view.clean(value || { submit: 'Submit', reset: 'Reset', image: 'Submit' }[element.type] || '');
    }
    if (element.labels?.length) return labels(element);
    if (name === 'area' || name === 'img') return view.clean(element.alt);
    return '';
  }

  // The words of a label that speaks, by its id, of what holds a field, or of what the page has hidden beside it to draw it anew.
  function drawnFor(element) {
    const root = element.getRootNode();
    for (let node = element, up = 0; node && view.parent(node) !== root && up < UP; node = view.parent(node), up++) {
      if ([...view.findIn(node, CONTROL)].some((other) => !element.contains(other) && !view.isAway(other))) return '';
      const siblings = [...view.children(view.parent(node))], at = siblings.indexOf(node);
      for (const one of [node, siblings[at - 1], siblings[at + 1]]) {
        const id = one && view.attribute(one, 'id');
        if (!id || (one !== node && !(view.matches(one, CONTROL) && view.isAway(one)))) continue;
        const label = root.querySelector(`label[for="${CSS.escape(id)}"]`);
        const words = label && shows(label) ? textOf(label, CHARS, element) : '';
        if (words) return words;
      }
    }
    return '';
  }

  function hinted(element) {
    for (const name of ['title', 'placeholder', 'aria-placeholder', 'data-placeholder', 'data-tooltip', 'data-original-title', 'data-label']) {
      const words = name === 'placeholder' ? placeholderOf(element) : view.clean(element.getAttribute(name) ?? '');
      if (words) return words;
    }
    return '';
  }

  // What a field asks for; many a page takes that away while the field has the focus.
  function placeholderOf(element) {
    const words = view.clean(element.getAttribute('placeholder') ?? '');
    if (words) view.known.placeholders.set(element, words);
    return words || (view.known.placeholders.get(element) ?? '');
  }

  // The words right behind a box to tick, up to the next control.
  function behind(element) {
    for (let other = element.nextSibling, on = 0; other && on < 3; other = other.nextSibling, on++) {
      if (view.isElement(other) && (view.matches(other, BESIDE) || view.find(other, BESIDE) || other.localName === 'br')) return '';
      const words = view.isElement(other) ? (shows(other) ? textOf(other) : '') : other.nodeType === Node.TEXT_NODE ? view.clean(other.data) : '';
      if (words) return words.length <= 60 ? words : '';
    }
    return '';
  }

  function beside(element) {
    for (let node = element, up = 0; node && view.isElement(node) && up < 3; node = view.parent(node), up++) {
      for (let other = node.previousSibling, back = 0; other && back < 3; other = other.previousSibling, back++) {
        if (other.nodeType === Node.ELEMENT_NODE && (view.matches(other, BESIDE) || view.find(other, BESIDE))) return '';
        const words = other.nodeType === Node.TEXT_NODE ? view.clean(other.data) : other.nodeType === Node.ELEMENT_NODE && !view.UNREAD.has(other.localName) && shows(other) ? textOf(other) : '';
        if (words) return words.length <= 60 ? words : '';
      }
    }
    return '';
  }

  // What a label that names no field says, where it stands with this one alone.
  function around(element) {
    for (let node = view.parent(element), up = 0; node && view.isElement(node) && up < FAR_UP; node = view.parent(node), up++) {
      if ([...view.findIn(node, FIELD)].some((other) => !view.isWithin(other, element) && !view.isWithin(element, other))) return '';
      const [label] = [...view.findIn(node, 'label')].filter((one) => !one.htmlFor && !one.control && shows(one));
      if (label) return labelText(label, element);
    }
    return '';
  }

  // What the classes of an element name as its icon.
  function iconOf(element) {
    for (const token of [...element.classList].slice(0, 12)) {
      const icon = ICON.exec(token)?.[1];
      if (icon && !NO_ICON.test(icon)) return view.spoken(icon);
    }
    return '';
  }

  function pictured(element) {
    const marks = [element, ...[...element.querySelectorAll('i, span, svg, use, img')].slice(0, 4)];
    for (const mark of marks) {
      if (mark.localName === 'img') {
        const file = (mark.getAttribute('src') ?? '').split(/[?#]/)[0].split('/').pop().replace(/\.\w+$/, '');
        if (file && file.length <= 30 && !file.startsWith('data:')) return view.spoken(file);
      }
      const drawn = mark.getAttribute('data-icon') || (mark.getAttribute('href') || mark.getAttribute('xlink:href') || '').match(/^[^?]*#(?:icon-)?([\w-]+)$/)?.[1];
      if (drawn && mark.localName !== 'a') return view.spoken(drawn);
      const icon = iconOf(mark);
      if (icon) return icon;
    }
    return '';
  }

  function carried(element) {
    for (const name of ['name', 'data-testid', 'data-test', 'data-cy', 'data-qa', 'id']) {
      const token = element.getAttribute(name);
      if (token && token.length <= 60 && !view.generated(token)) return view.spoken(token);
    }
    if (element.localName === 'a') {
      const last = element.pathname?.split('/').filter(Boolean).pop() ?? '';
      if (last && last.length <= 40) return view.spoken(last);
    }
    return '';
  }

  // What the classes of a control call it, for one that says nothing else: the first that is more than a way to look.
  function classed(element) {
    for (const token of [...element.classList].slice(0, 12)) {
      const words = view.spoken(token);
      if (words && !/\d/.test(token) && words.split(' ').some((word) => !STYLED.test(word))) return words;
    }
    return '';
  }

  function nameOf(element, kind) {
    const given = labelled(element, kind) || view.clean(element.getAttribute('aria-label') ?? '') || native(element);
    if (given) return given;
    const field = kind === 'select' && element.querySelector('input:not([type="hidden"]), textarea');
    if (field && labelled(field) + native(field)) return labelled(field) || native(field);
    const meant = kind === 'input' || kind === 'select' || kind === 'editor' ? drawnFor(element) : '';
    if (meant) return meant;
    const content = AS_CONTENT.has(kind) && element.localName !== 'input' ? textOf(element) : '';
    return (SAYING.test(content) && content) || hinted(element) || content || (AS_CONTENT.has(kind) ? pictured(element) : beside(element)) || (kind === 'checkbox' || kind === 'radio' ? behind(element) : '') || (FIELDS.has(kind) ? around(element) : '') || carried(element);
  }

  Object.assign(view, { textOf, labelText, placeholderOf, nameOf, shows, classed, iconOf });
});
