// Brings an element into the window, and tells whether and where it would receive a click, or what is in the way; the second call
// gives what is to be clicked for it.
(element, give) => {
  // A form hides its own properties behind fields of their names: they are read from the prototypes.
  const of = (type, name) => {
    const { get, value } = Object.getOwnPropertyDescriptor(type.prototype, name);
    return (node, ...given) => (get ?? value).call(node, ...given);
  };
  const parent = of(Node, 'parentNode'), contains = of(Node, 'contains'), find = of(Element, 'querySelectorAll');
  const attribute = of(Element, 'getAttribute'), box = of(Element, 'getBoundingClientRect'), isVisible = of(Element, 'checkVisibility');

  // What Playwright asks of all that is around an element: where a form hides it, it goes in circles, or fails.
  const ASKED = ['parentNode', 'parentElement', 'getAttribute', 'hasAttribute'];
  const FIELDS = 'input:not([type="hidden"], [aria-hidden="true"]), select, textarea, button, [role="combobox"]', MANY_AROUND = 5, LEAST = 8;
  if (!element.isConnected) return give ? element : { state: 'gone', by: '' };

  function shows(node) {
    if (!isVisible(node, { visibilityProperty: true })) return false;
    const { width, height } = box(node);
    return width > 0 && height > 0;
  }

  function isClobbered() {
    for (let up = element; up; up = above(up)) if (up instanceof HTMLFormElement && ASKED.some((name) => Object.hasOwn(up, name))) return true;
    return false;
  }

  function named(node) {
    const plain = (text) => String(text ?? '').replace(/[^\w-]/g, '').slice(0, 40);
    const id = plain(attribute(node, 'id')), role = plain(attribute(node, 'role')), look = id || role ? '' : plain((attribute(node, 'class') ?? '').trim().split(/\s/)[0]);
    return `${plain(node.localName)}${id && `#${id}`}${role && `[role=${role}]`}${look && `.${look}`}`;
  }

  // The shadow trees around the element, also those that are closed to everybody else.
  const around = new Map();
  for (let root = element.getRootNode(); root instanceof ShadowRoot; root = root.host.getRootNode()) around.set(root.host, root);

  function deepest(x, y) {
    let hit = document.elementFromPoint(x, y);
    for (let root; (root = hit && (hit.shadowRoot ?? around.get(hit))); ) {
      const inner = root.elementFromPoint(x, y);
      if (!inner || inner === hit) break;
      hit = inner;
    }
    return hit;
  }

  function above(node) {
    if (node.assignedSlot instanceof HTMLSlotElement) return node.assignedSlot;
    const up = parent(node);
    return up instanceof ShadowRoot ? up.host : up instanceof Element ? up : null;
  }

  function within(node, outer) {
    for (let up = node; up; up = above(up)) if (up === outer) return true;
    return false;
  }

  // What has an id or a role says more of itself than a nameless box in it.
  function telling(node) {
    for (let up = node, far = 0; up && far < 6; up = above(up), far += 1)
      if (up !== document.body && !contains(up, element) && (attribute(up, 'id') || attribute(up, 'role'))) return up;
    return node;
  }

  // Points of what the window shows of the largest piece of an element, its middle first.
  function points(node) {
    const boxes = [...node.getClientRects()].filter((one) => one.width > 0 && one.height > 0);
    const largest = boxes.sort((a, b) => b.width * b.height - a.width * a.height)[0] ?? box(node);
    const left = Math.max(largest.left, 0), right = Math.min(largest.right, innerWidth);
    const top = Math.max(largest.top, 0), bottom = Math.min(largest.bottom, innerHeight);
    const at = (across, down) => [left + (right - left) * across, top + (bottom - top) * down];
    return [at(0.5, 0.5), at(0.1, 0.2), at(0.9, 0.2), at(0.1, 0.8), at(0.9, 0.8)];
  }

  // A point in an element as a driver has it: from the corner of its box within the border.
  function inside([x, y], node = element) {
    const { left, top } = box(node);
    return { x: x - left - node.clientLeft, y: y - top - node.clientTop };
  }

  // What a page keeps hidden and out of the order of fields stands for no other field: it only sends what is chosen in this one.
  const isTwin = (other) => attribute(other, 'tabindex') === '-1' && !isVisible(other, { opacityProperty: true, visibilityProperty: true });

  // What a page draws around a field that is not seen or hit itself, and where, if that is what would be hit.
  function drawnAround(middle, hit) {
    if (!hit || (element.checkVisibility({ opacityProperty: true }) && getComputedStyle(element).pointerEvents !== 'none')) return null;
    let tried = false;
    for (let up = above(element), far = 0; up && far < MANY_AROUND; up = above(up), far++) {
      if ([...find(up, FIELDS)].some((other) => !contains(other, element) && !isTwin(other))) return null;
      const { width, height } = box(up), [own] = points(up);
      if (within(hit, up) && shows(up)) return { node: up, at: inside(middle, up) };
      if (tried || Math.min(width, height) < LEAST || !shows(up)) continue;
      tried = true; // the field may lie beside what is drawn for it, which is the next box around it
      if (within(deepest(...own), up)) return { node: up, at: inside(own, up) };
    }
    return null;
  }

  const labels = [...(element.labels ?? [])].filter(shows);
  const answer = (state, { by = '', node = element, at = undefined } = {}) => (give ? node : { state, by, at, clobbered: isClobbered() });
  const target = shows(element) ? element : labels[0];
  if (!target) return answer('hidden');
  target.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
  if (element.matches(':disabled, [aria-disabled="true"]')) return answer('disabled');
  if (target !== element) return answer('label', { node: labels[0] });
  const [middle, ...others] = points(element), hit = deepest(...middle);
  if (hit === null || within(hit, element)) return answer(hit ? 'clear' : 'outside');
  if (labels.some((label) => within(hit, label))) return answer('label', { node: labels[0] });
  const drawn = drawnAround(middle, hit);
  if (drawn) return answer('drawn', drawn);
  const free = others.find((point) => within(deepest(...point), element));
  return free ? answer('clear', { at: inside(free) }) : answer('covered', { by: named(telling(hit)) });
}
