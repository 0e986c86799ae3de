// Sets what a field or an editor holds, so that the page hears of it as of a person's input.
(element, { value, html }) => {
  const MARKED = ['checkbox', 'radio'], PRESSED = ['button', 'submit', 'reset', 'image'];

  const result = (problem, holds = '', kind = '') => ({ problem, holds: String(holds).slice(0, 200), kind });
  const tell = (...names) => {
    for (const name of names) element.dispatchEvent(new Event(name, { bubbles: true, composed: true }));
  };

  // A framework may have put a property of its own over the real one.
  function put(field, name, given) {
    Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), name).set.call(field, given);
  }

  function mark() {
    const on = { true: true, on: true, yes: true, 1: true, checked: true, false: false, off: false, no: false, 0: false, unchecked: false, '': false }[value.trim().toLowerCase()];
    if (on === undefined && value !== element.value) return result('mark');
    const wanted = on ?? true;
    if (element.type === 'radio' && !wanted) return result(element.checked ? 'radio' : '', element.checked);
    if (element.checked !== wanted) element.click();
    return result(element.checked === wanted ? '' : 'kept', element.checked);
  }

  function field() {
    if (element.readOnly) return result('readonly');
    const former = element.value;
    element.focus({ preventScroll: true });
    put(element, 'value', value);
    if (value && !element.value) {
      put(element, 'value', former);
      return result('format', '', element.type);
    }
    element.dispatchEvent(new InputEvent('input', { bubbles: true, composed: true, inputType: 'insertReplacementText', data: value }));
    tell('change');
    return result('', element.value, element.type);
  }

  // Nothing of it runs: it is parsed where nothing is loaded, and loses what could.
  function harmless() {
    const parsed = new DOMParser().parseFromString(value, 'text/html');
    for (const node of parsed.querySelectorAll('script, iframe, frame, object, embed, base, meta, link, style, template, noscript'))
      node.remove();
    for (const node of parsed.querySelectorAll('*'))
      for (const { name, value: given } of [...node.attributes])
        if (/^on/i.test(name) || /^(srcdoc|formaction|action)$/i.test(name) || /^[\s\0-\x1f]*(javascript|vbscript|data:text)/i.test(given))
          node.removeAttribute(name);
    return parsed.body.innerHTML;
  }

  function editor() {
    element.focus({ preventScroll: true });
    const selection = element.ownerDocument.getSelection();
    selection.selectAllChildren(element);
    const given = html ? harmless() : value;
    const done = given
      ? element.ownerDocument.execCommand(html ? 'insertHTML' : 'insertText', false, given)
      : element.ownerDocument.execCommand('delete');
    if (!done && html) element.innerHTML = given;
    else if (!done) element.textContent = given;
    if (!done) element.dispatchEvent(new InputEvent('input', { bubbles: true, composed: true }));
    tell('change');
    return result('', element.innerText);
  }

  if (!element.isConnected) return result('gone');
  if (element.matches(':disabled, [aria-disabled="true"]')) return result('disabled');
  const tag = element.localName;
  if (html && !element.isContentEditable) return result('html');
  if (tag === 'select') return result('select');
  if (tag === 'input' && element.type === 'file') return result('file');
  if (tag === 'input' && PRESSED.includes(element.type)) return result('none');
  if (tag === 'input' && MARKED.includes(element.type)) return mark();
  if (tag === 'input' || tag === 'textarea') return field();
  if (element.isContentEditable) return editor();
  if (['checkbox', 'switch', 'radio'].includes(element.getAttribute('role'))) {
    const wanted = { true: 'true', on: 'true', yes: 'true', 1: 'true', false: 'false', off: 'false', no: 'false', 0: 'false' }[value.trim().toLowerCase()];
    if (wanted === undefined) return result('mark');
    if ((element.getAttribute('aria-checked') ?? 'false') !== wanted) element.click();
    return result('', wanted);
  }
  return result('none');
}
