// Brings an element into the window, and tells whether and where it would receive a click, or what is in the way.
(element) => {
  if (!element.isConnected) return { state: 'gone', by: '' };

  function shows(node) {
    if (!node.checkVisibility({ visibilityProperty: true })) return false;
    const box = node.getBoundingClientRect();
    return box.width > 0 && box.height > 0;
  }

  function named(node) {
    const plain = (text) => String(text ?? '').replace(/[^\w-]/g, '').slice(0, 40);
    const id = plain(node.id), role = plain(node.getAttribute('role'));
    return `${plain(node.localName)}${id && `#${id}`}${role && `[role=${role}]`}`;
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

  function within(node, outer) {
    for (let up = node; up; up = up.assignedSlot ?? up.parentElement ?? up.getRootNode().host) if (up === outer) return true;
    return false;
  }

  // What has an id or a role says more of itself than a nameless box in it.
  function telling(node) {
    for (let up = node, far = 0; up && far < 6; up = up.parentElement, far += 1)
      if (up !== document.body && !up.contains(element) && (up.id || up.getAttribute('role'))) return up;
    return node;
  }

  // Points of what the window shows of the largest piece of an element, its middle first.
  function points(node) {
    const boxes = [...node.getClientRects()].filter((box) => box.width > 0 && box.height > 0);
    const box = boxes.sort((a, b) => b.width * b.height - a.width * a.height)[0] ?? node.getBoundingClientRect();
    const left = Math.max(box.left, 0), right = Math.min(box.right, innerWidth);
    const top = Math.max(box.top, 0), bottom = Math.min(box.bottom, innerHeight);
    const at = (across, down) => [left + (right - left) * across, top + (bottom - top) * down];
    return [at(0.5, 0.5), at(0.1, 0.2), at(0.9, 0.2), at(0.1, 0.8), at(0.9, 0.8)];
  }

  // A point in an element as a driver has it: from the corner of its box within the border.
  function inside([x, y]) {
    const box = element.getBoundingClientRect();
    return { x: x - box.left - element.clientLeft, y: y - box.top - element.clientTop };
  }

  const labels = [...(element.labels ?? [])].filter(shows);
  const target = shows(element) ? element : labels[0];
  if (!target) return { state: 'hidden', by: '' };
  target.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
  if (element.matches(':disabled, [aria-disabled="true"]')) return { state: 'disabled', by: '' };
  if (target !== element) return { state: 'label', by: '' };
  const [middle, ...others] = points(element), hit = deepest(...middle);
  if (hit === null || within(hit, element)) return { state: hit ? 'clear' : 'outside', by: '' };
  if (labels.some((label) => within(hit, label))) return { state: 'label', by: '' };
  const free = others.find((point) => within(deepest(...point), element));
  return free ? { state: 'clear', by: '', at: inside(free) } : { state: 'covered', by: named(telling(hit)) };
}
