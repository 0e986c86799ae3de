// Finds, in a list that a page draws itself, the option with these words; the second call gives the element.
([list, wanted, give]) => {
  const MANY = 30;
  const plain = (text) => String(text ?? '').replace(/\s+/g, ' ').trim();
  const shows = (node) => node.checkVisibility({ visibilityProperty: true }) && node.getBoundingClientRect().height > 0;
  const named = (list.getAttribute('aria-controls') ?? list.getAttribute('aria-owns') ?? '').split(/\s+/).filter(Boolean);
  const roots = [list, ...named.map((id) => list.getRootNode().getElementById(id))].filter(Boolean);
  const within = (root) => [...root.querySelectorAll('[role="option"], [role="menuitemradio"], [role="menuitem"]')].filter(shows);
  let options = roots.flatMap(within);
  if (!options.length) options = within(list.ownerDocument);
  const says = (node) => plain(node.getAttribute('aria-label') ?? node.innerText);
  const value = (node) => node.getAttribute('data-value') ?? node.getAttribute('value') ?? node.id;
  const lower = plain(wanted).toLowerCase();
  const found = options.find((one) => says(one) === plain(wanted)) ?? options.find((one) => value(one) === wanted)
    ?? options.find((one) => says(one).toLowerCase() === lower);
  if (give) return found ?? null;
  return { found: Boolean(found), options: options.slice(0, MANY).map((one) => says(one).slice(0, 60)) };
}
