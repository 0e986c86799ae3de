// Runs before the scripts of a page that has a login: keeps out of it the frames that the page wants to be confined.
// The engine knows no `sandbox`, and runs what a page writes into a frame as the page itself, without any script of ours.
(alarm) => {
  'use strict';
  const { apply, defineProperty, getOwnPropertyDescriptor } = Reflect;
  const view = globalThis;
  const ask = (url, later) => {
    const told = new XMLHttpRequest();
    told.open('GET', url, later);
    try { told.send(); } catch { return; }
  };
  if (view !== view.top) {
    const owner = view.frameElement;
    const allowed = owner ? owner.getAttribute('sandbox') : null;
    if (allowed !== null && !(/allow-scripts/i.test(allowed) && /allow-same-origin/i.test(allowed))) { ask(alarm, false); }
  }

  const INNER = /(<iframe\b[^>]{0,2000}?\s)(srcdoc\s*=|src\s*=\s*["']?\s*blob:)/gi;
  const left = () => ask(alarm + 'left-out', true);
  const without = (html) => {
    const given = String(html);
    const changed = given.replace(INNER, '$1data-$2');
    if (changed !== given) { left(); }
    return changed;
  };
  const method = (kind, name, at) => {
    const found = kind && getOwnPropertyDescriptor(kind.prototype, name);
    if (!found) { return; }
    defineProperty(kind.prototype, name, { ...found, value(...given) {
      for (let i = at; i < given.length; i += 1) { given[i] = without(given[i]); }
      return apply(found.value, this, given);
    } });
  };
  const setter = (kind, name, change) => {
    const found = kind && getOwnPropertyDescriptor(kind.prototype, name);
    if (!found || !found.set) { return; }
    defineProperty(kind.prototype, name, { ...found, set(value) { change(this, value, (now) => apply(found.set, this, [now])); } });
  };
  for (const kind of [Element, view.ShadowRoot]) {
    setter(kind, 'innerHTML', (_, value, set) => set(value === null ? value : without(value)));
    method(kind, 'setHTMLUnsafe', 0);
  }
  setter(Element, 'outerHTML', (_, value, set) => set(value === null ? value : without(value)));
  method(Element, 'insertAdjacentHTML', 1);
  method(Document, 'write', 0);
  method(Document, 'writeln', 0);
  method(view.Range, 'createContextualFragment', 0);
  const inner = (name, value) => name === 'srcdoc' || (name === 'src' && /^\s*blob:/i.test(value));
  const plain = Element.prototype.setAttribute;
  const aside = (element, name, value) => { left(); apply(plain, element, ['data-' + name, value]); };
  defineProperty(Element.prototype, 'setAttribute', { ...getOwnPropertyDescriptor(Element.prototype, 'setAttribute'),
    value(name, value) {
      const low = String(name).toLowerCase();
      if (this instanceof HTMLIFrameElement && inner(low, value)) { aside(this, low, value); return; }
      apply(plain, this, [name, value]);
    } });
  for (const name of ['srcdoc', 'src']) {
    setter(HTMLIFrameElement, name, (element, value, set) => (inner(name, value) ? aside(element, name, value) : set(value)));
  }
}
