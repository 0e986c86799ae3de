// Finds an element by the way to it, for Playwright: places among the children, 's' into a shadow root.
(() => {
  const getters = [Element, Document, DocumentFragment].map((type) => [type, Object.getOwnPropertyDescriptor(type.prototype, 'children').get]);
  const children = (node) => getters.find(([type]) => node instanceof type)[1].call(node);
  const query = (root, way) => {
    let node = root;
    for (const step of JSON.parse(way)) node = node && (step === 's' ? node.shadowRoot ?? globalThis.__weftClosed?.get(node) : children(node)[step]);
    return node ?? null;
  };
  return { query, queryAll: (root, way) => [query(root, way)].filter(Boolean) };
})()
