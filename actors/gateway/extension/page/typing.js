// Writes into fields, presses keys and chooses from lists. Keys that no person pressed do nothing by themselves: what a browser does
// for them is done here, unless the page takes them for itself.
weftExecutor.part((executor) => {
  const TYPED = new Set(['text', 'search', 'url', 'tel', 'email', 'password', 'number', '']);
  const STEPPED = new Set(['number', 'date', 'time', 'month', 'week']);
  const PRESSED = new Set(['button', 'submit', 'reset', 'image', 'file', 'hidden', 'checkbox', 'radio']);
  const MODIFIERS = { control: 'ctrlKey', ctrl: 'ctrlKey', shift: 'shiftKey', alt: 'altKey', meta: 'metaKey', command: 'metaKey' };
  const CODES = { Enter: 13, Tab: 9, Escape: 27, ' ': 32, Backspace: 8, Delete: 46, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40, Home: 36, End: 35, PageUp: 33, PageDown: 34 };
  const NAMES = { esc: 'Escape', escape: 'Escape', return: 'Enter', enter: 'Enter', space: ' ', spacebar: ' ', del: 'Delete', up: 'ArrowUp', down: 'ArrowDown', left: 'ArrowLeft', right: 'ArrowRight' };
  const FOCUSABLE = 'a[href], button, input:not([type="hidden"]), select, textarea, [tabindex], [contenteditable=""], [contenteditable="true"], summary';
  const PRESSABLE = 'a[href], button, summary, input[type="submit"], input[type="image"], input[type="button"], input[type="reset"]';
  const DISABLED = ':disabled, [aria-disabled="true"]';
  const NEW_LINE = '\n', MANY_NODES = 150_000, MANY_LOOKS = 20, LOOK_MS = 50, STILL_MS = 30;

  const fieldsOf = (form) => Object.getOwnPropertyDescriptor(HTMLFormElement.prototype, 'elements').get.call(form); // a field may be called so

  const focused = () => weft.view().active();

  // Whether nobody may learn what stands in a field.
  function isSecret(element) {
    const view = weft.view(), kind = view.kindOf(element);
    return element.type === 'password' || view.valueOf(element, kind, view.nameOf(element, kind)) === '********';
  }

  // The element that holds the words: the field itself, or the one that a label or a box stands for.
  function fieldOf(element) {
    return element instanceof HTMLLabelElement && element.control ? element.control : element;
  }

  function setNatively(element, value) {
    Object.getOwnPropertyDescriptor(Object.getPrototypeOf(element), 'value').set.call(element, value);
    element.dispatchEvent(new InputEvent('input', { bubbles: true, composed: true, inputType: 'insertReplacementText', data: value }));
  }

  // As a person's input, of which the page hears by events that are the browser's own; where it takes none, by the value itself. What is
  // no field and is not to be cleared is written on at its end.
  function write(element, value, clear) {
    element.focus({ preventScroll: true });
    if (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) {
      if (TYPED.has(element.type) || element instanceof HTMLTextAreaElement) {
        element.select();
        if (value) document.execCommand('insertText', false, value);
        else if (element.value) document.execCommand('delete');
      }
      if (element.isConnected && element.value !== value) setNatively(element, value);
      if (value && !element.value) executor.refuse('FORMAT', `A field of the type ${element.type} does not take this value.`);
    } else {
      document.getSelection().selectAllChildren(element);
      if (!clear) document.getSelection().collapseToEnd();
      const done = value ? document.execCommand('insertText', false, value) : !clear || document.execCommand('delete');
      if (!done) element.textContent = (clear ? '' : element.textContent) + value;
    }
    element.dispatchEvent(new Event('change', { bubbles: true, composed: true }));
  }

  async function valueSet({ id, selector, value, clear = true }) {
    const { element: meant } = await executor.aim(id, selector);
    const element = fieldOf(meant);
    if (element instanceof HTMLSelectElement) return selected({ id, selector, value });
    if (element instanceof HTMLInputElement && /^(?:checkbox|radio)$/.test(element.type)) return executor.checked({ id, selector, on: !/^(?:false|off|no|0|)$/i.test(value) });
    if (element instanceof HTMLInputElement && PRESSED.has(element.type)) executor.refuse('NO_FIELD', `Nothing can be written into a ${element.type}.`);
    if (weft.view().matches(element, DISABLED)) executor.refuse('DISABLED', 'The field is disabled.'); // by its label one comes to it
    if (element.readOnly) executor.refuse('READ_ONLY', 'The field is read only.');
    const editable = element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement || element.isContentEditable;
    if (!editable) executor.refuse('NO_FIELD', 'Nothing can be written there.');
    const secret = isSecret(element);
    write(element, clear ? value : (element.value ?? '') + value, clear);
    return { secret: secret || isSecret(element), holds: element.value ?? element.innerText };
  }

  async function typed({ text }) {
    const element = focused();
    if (!element || element === document.body) executor.refuse('NO_FOCUS', 'Nothing has the focus.');
    let secret = isSecret(element);
    for (const line of text.split(/(\n)/)) {
      if (line === NEW_LINE && !(element instanceof HTMLTextAreaElement)) pressKey('Enter', []);
      else if (line && !document.execCommand('insertText', false, line)) executor.refuse('NO_FIELD', 'What has the focus takes no words.');
      secret ||= isSecret(element); // what it holds tells that of some, and may be sent away by the next line
    }
    return { secret };
  }

  // -- keys ----------------------------------------------------------------------------------------------------------

  function pressKey(key, modifiers) {
    const target = focused() ?? document.body, view = weft.view();
    const flags = {};
    for (const one of modifiers) if (MODIFIERS[one.toLowerCase()]) flags[MODIFIERS[one.toLowerCase()]] = true;
    const given = NAMES[key.toLowerCase()] ?? key, name = flags.shiftKey && /^[a-z]$/.test(given) ? given.toUpperCase() : given;
    const code = /^[a-z]$/i.test(name) ? `Key${name.toUpperCase()}` : /^\d$/.test(name) ? `Digit${name}` : name === ' ' ? 'Space' : name;
    const number = CODES[name] ?? (/^[a-z\d]$/i.test(name) ? name.toUpperCase().charCodeAt(0) : 0);
    const tell = (type) => {
      const keyCode = type === 'keypress' && name.length === 1 ? name.charCodeAt(0) : number; // a point is 46 there, and Delete elsewhere
      return (focused() ?? target).dispatchEvent(new KeyboardEvent(type, { key: name, code, keyCode, which: keyCode, bubbles: true, cancelable: true, composed: true, view: window, ...flags }));
    };
    let free = tell('keydown');
    if (free && (name.length === 1 || name === 'Enter')) free = tell('keypress');
    if (free) follow(view, focused() ?? target, name, flags);
    tell('keyup');
  }

  function pressed({ key, modifiers = [] }) {
    const parts = key.length > 1 && key.includes('+') ? key.split('+') : [key];
    pressKey(parts.at(-1), [...parts.slice(0, -1), ...modifiers]);
    return {};
  }

  // What a browser does for a key.
  function follow(view, element, key, flags) {
    const words = element instanceof HTMLTextAreaElement || element.isContentEditable || (element instanceof HTMLInputElement && TYPED.has(element.type));
    if ((flags.ctrlKey || flags.metaKey) && key.toLowerCase() === 'a') return words && element.select ? element.select() : document.execCommand('selectAll');
    if (flags.ctrlKey || flags.metaKey || flags.altKey) return undefined;
    if (key === 'Tab') return onward(view, element, flags.shiftKey ? -1 : 1);
    if (key === 'Enter') return entered(element);
    if (key === 'Escape') return escaped();
    if (words && key === 'Backspace') return document.execCommand('delete');
    if (words && key === 'Delete') return document.execCommand('forwardDelete');
    if (words && key.length === 1) return document.execCommand('insertText', false, key);
    if (key === ' ' && element.matches('button, summary, input[type="checkbox"], input[type="radio"], [role="button"]')) return element.click();
    return words && element.type !== 'number' ? undefined : moved(element, key); // there it is the caret that would go
  }

  function entered(element) {
    if (element instanceof HTMLTextAreaElement) return document.execCommand('insertText', false, NEW_LINE);
    if (element.isContentEditable) return document.execCommand('insertParagraph');
    if (element.matches(PRESSABLE)) return element.click();
    const form = element instanceof HTMLInputElement || element instanceof HTMLSelectElement ? element.form : null;
    if (!form) return undefined;
    const fields = [...fieldsOf(form)];
    const button = fields.find((one) => (one instanceof HTMLButtonElement || one instanceof HTMLInputElement) && /^(?:submit|image)$/.test(one.type));
    if (button) return weft.view().matches(button, ':disabled') ? undefined : button.click();
    // Without a button only a form of one field is sent (HTML, implicit submission).
    if (fields.filter((one) => one instanceof HTMLInputElement && !PRESSED.has(one.type)).length > 1) return undefined;
    return HTMLFormElement.prototype.requestSubmit.call(form);
  }

  // A dialog that keeps from all else hears Esc, no other.
  function escaped() {
    const open = [...Document.prototype.querySelectorAll.call(document, 'dialog:modal')].pop();
    if (open?.dispatchEvent(new Event('cancel', { cancelable: true }))) open.close();
  }

  function onward(view, element, by) {
    const all = [];
    for (const one of view.nodes(view.rootElement(document), () => true, MANY_NODES))
      if (view.isElement(one) && view.matches(one, FOCUSABLE) && one.tabIndex >= 0 && !view.matches(one, ':disabled') && view.isShown(one)) all.push(one);
    const at = all.indexOf(element);
    const next = at < 0 && by < 0 ? all.at(-1) : all[(at + by + all.length) % all.length];
    next?.focus();
    if (next instanceof HTMLInputElement && TYPED.has(next.type)) next.select();
  }

  // Arrows in lists and sliders, and what scrolls a page.
  function moved(element, key) {
    const by = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 }[key];
    if (by && element instanceof HTMLSelectElement) return choose(element, nextOption(element, by));
    if (by && element instanceof HTMLInputElement && (element.type === 'range' || (STEPPED.has(element.type) && /Up|Down/.test(key)))) return step(element, key === 'ArrowUp' || key === 'ArrowRight');
    if (by && element instanceof HTMLInputElement && element.type === 'radio') {
      const alike = (one) => one instanceof HTMLInputElement && one.name !== '' && one.type === 'radio' && one.name === element.name && one.form === element.form && !weft.view().matches(one, ':disabled');
      const group = [...element.getRootNode().querySelectorAll('input[type="radio"]')].filter(alike);
      const next = group[(group.indexOf(element) + by + group.length) % group.length];
      next?.focus();
      return next?.click();
    }
    const far = { PageDown: innerHeight * 0.9, PageUp: -innerHeight * 0.9, End: document.documentElement.scrollHeight, Home: -document.documentElement.scrollHeight, ArrowDown: 40, ArrowUp: -40 }[key];
    if (far) (document.scrollingElement ?? document.documentElement).scrollBy({ top: far, behavior: 'instant' });
    return undefined;
  }

  function nextOption(list, by) {
    let at = list.selectedIndex + by;
    while (list.options[at]?.disabled) at += by;
    return list.options[at];
  }

  function step(element, up) {
    if (element.readOnly || element.step === 'any') return;
    element[up ? 'stepUp' : 'stepDown']();
    for (const type of ['input', 'change']) element.dispatchEvent(new Event(type, { bubbles: true, composed: true }));
  }

  // -- lists ---------------------------------------------------------------------------------------------------------

  const same = (one, other) => String(one ?? '').replace(/\s+/g, ' ').trim().toLowerCase() === String(other ?? '').replace(/\s+/g, ' ').trim().toLowerCase();

  function choose(list, option) {
    if (!option) return;
    list.focus({ preventScroll: true });
    option.selected = true;
    for (const type of ['input', 'change']) list.dispatchEvent(new Event(type, { bubbles: true, composed: true }));
  }

  async function selected({ id, selector, value }) {
    const point = await executor.aim(id, selector), list = fieldOf(point.element);
    if (!(list instanceof HTMLSelectElement)) return drawn(point, value);
    const options = [...list.options];
    const option = options.find((one) => one.value === value) ?? options.find((one) => same(one.label, value)) ?? options.find((one) => same(one.value, value));
    if (!option) executor.refuse('NO_OPTION', `There is no option of these words; there are: ${options.slice(0, 20).map((one) => one.label).join(', ')}`.slice(0, 300));
    if (option.disabled || option.parentElement.disabled) executor.refuse('DISABLED', 'The option is disabled.');
    if (!option.selected) choose(list, option);
    return { holds: option.value };
  }

  // A list that the page draws itself: opened by a click, unless it is, and chosen from by another.
  async function drawn(point, value) {
    const { element } = point, { turn } = executor;
    let option = optionsOf(element).find((one) => says(one, value));
    if (!option) {
      executor.click(point);
      for (let looks = 0; looks < MANY_LOOKS && !option && executor.turn === turn; looks++) {
        await executor.pause(LOOK_MS);
        option = optionsOf(element).find((one) => says(one, value));
      }
    }
    if (!option) executor.refuse('NO_OPTION', `There is no option of these words; there are: ${optionsOf(element).slice(0, 20).map((one) => weft.view().textOf(one, 40)).join(', ')}`.slice(0, 300));
    option.scrollIntoView({ block: 'nearest', behavior: 'instant' });
    await executor.pause(STILL_MS);
    executor.guard(turn);
    const view = weft.view(), box = view.box(option), x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2, hit = view.hit(x, y);
    if (!hit || !view.isWithin(hit, option)) executor.refuse('COVERED', `Something else lies over the option: ${executor.named(view, hit)}.`);
    const still = () => option.isConnected && says(option, value);
    return executor.click({ x, y, hit, element: option, target: option, same: still, holds: still });
  }

  function says(option, value) {
    const view = weft.view();
    return same(view.attribute(option, 'aria-label') ?? view.textOf(option, 100), value) || view.attribute(option, 'data-value') === value;
  }

  function optionsOf(element) {
    const view = weft.view(), ids = `${view.attribute(element, 'aria-controls') ?? ''} ${view.attribute(element, 'aria-owns') ?? ''}`.trim().split(/\s+/);
    const roots = [element, ...ids.map((one) => element.getRootNode().getElementById?.(one))].filter(Boolean);
    const within = (root) => [...root.querySelectorAll('[role="option"], [role="menuitemradio"], [role="menuitem"], [role="treeitem"]')].filter((one) => view.isShown(one));
    const found = roots.flatMap(within);
    return found.length ? found : within(document);
  }

  function options({ id, selector }) {
    const element = fieldOf(executor.find(id, selector));
    const words = element instanceof HTMLSelectElement ? [...element.options].map((one) => one.label) : optionsOf(element).map((one) => weft.view().textOf(one, 100));
    return { value: words.slice(0, 100).join(' | ').slice(0, 2000) };
  }

  Object.assign(executor, { valueSet, typed, pressed, selected, options, fieldOf, isSecret });
});
