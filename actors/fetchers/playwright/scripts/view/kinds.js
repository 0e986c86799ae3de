// Tells what one does with an element, and in which states it is.
weft.part((view) => {
  const TYPES = {
    submit: 'button', button: 'button', reset: 'button', image: 'button', checkbox: 'checkbox', radio: 'radio', file: 'file', hidden: '',
  };
  const ROLES = {
    button: 'button', link: 'link', checkbox: 'checkbox', switch: 'checkbox', radio: 'radio', tab: 'tab', menuitem: 'menuitem',
    menuitemcheckbox: 'menuitem', menuitemradio: 'menuitem', option: 'option', treeitem: 'option', combobox: 'select',
    listbox: 'select', textbox: 'input', searchbox: 'input', spinbutton: 'input', slider: 'input',
  };
  const FIELDS = new Set(['input', 'select', 'checkbox', 'radio', 'file', 'editor']);
  const STATED = ['expanded', 'selected', 'pressed', 'current', 'busy', 'readonly', 'required', 'disabled', 'invalid', 'checked'];
  const SCROLLS = /auto|scroll/;

  function nativeKind(element, tag) {
    switch (tag) {
      case 'input': return TYPES[element.type] ?? 'input';
      case 'textarea': return 'input';
      case 'select': return 'select';
      case 'button': return 'button';
      case 'summary': return view.tag(view.above(element) ?? element) === 'details' ? 'button' : '';
      case 'a': case 'area': return element.hasAttribute('href') ? 'link' : '';
      default: return '';
    }
  }

  function edits(element) {
    const given = view.attribute(element, 'contenteditable');
    if (given === null) return tagIsBody(element) && document.designMode === 'on';
    return given !== 'false' && !view.above(element)?.isContentEditable;
  }

  function tagIsBody(element) {
    return element instanceof HTMLBodyElement;
  }

  // What an element is by its markup; nothing for what markup says nothing of.
  function kindOf(element) {
    const tag = view.tag(element);
    const native = nativeKind(element, tag);
    const role = view.attribute(element, 'role')?.trim().split(/\s+/)[0].toLowerCase();
    if (native === 'input' || native === 'select' || native === 'file') return native;
    if (edits(element)) return 'editor';
    if (role === 'presentation' || role === 'none') return native;
    const kind = ROLES[role] ?? native;
    if (kind === 'select' && role === 'listbox' && element.querySelector('[role="option"]')) return '';
    return kind;
  }

  // Whether something that is no control by its markup is there to be clicked all the same. What can be given the focus by scripts alone
  // is so within something clickable: the entries of a menu that listens for all of them.
  function isPlain(element, style, { pointed, clickable, inside }) {
    if (view.attribute(element, 'onclick') !== null || clickable || isDragged(element)) return true;
    const index = view.attribute(element, 'tabindex'), least = inside?.plain ? -1 : 0;
    if (index !== null && Number(index) >= least && !SCROLLS.test(`${style.overflowX} ${style.overflowY}`) && !view.attribute(element, 'role')) return true;
    return style.cursor === 'pointer' && !pointed;
  }

  // Whether the markup of an element says that it is there to be dragged.
  function isDragged(element) {
    return view.attribute(element, 'draggable') === 'true';
  }

  function held(element, name) {
    const said = view.attribute(element, `aria-${name}`);
    if (name === 'required' || name === 'disabled') return element[name] === true || said === 'true';
    if (name === 'readonly') return element.readOnly === true || said === 'true';
    if (name === 'checked') return said === null ? element.checked === true : said === 'true' || said === 'mixed';
    return said !== null && said !== 'false' && said !== '';
  }

  function statesOf(element, kind) {
    const states = STATED.filter((name) => held(element, name) && (name !== 'checked' || kind === 'checkbox' || kind === 'radio' || kind === 'menuitem'));
    if (element.localName === 'summary' && element.parentElement?.open) states.push('expanded');
    if (view.attribute(element, 'aria-expanded') === 'false') states.push('collapsed');
    if (element.disabled !== true && view.matches(element, ':disabled')) states.push('disabled');
    if (FIELDS.has(kind) && element.willValidate && element.value && !element.validity.valid) states.push('invalid');
    if (element.multiple === true) states.push('multiple');
    if (element.getRootNode().activeElement === element) states.push('focused');
    return [...new Set(states)];
  }

  Object.assign(view, { kindOf, isPlain, isDragged, statesOf });
});
