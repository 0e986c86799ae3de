// Knows the tree as it is shown: through open shadow roots and slots. A form or a document whose fields are called like
// properties hides those, so they are read from the prototypes.
weft.part((view) => {
  const UNREAD = new Set(['script', 'style', 'template', 'noscript', 'head', 'title', 'meta', 'link', 'datalist']);
  const INLINE = new Set(['a', 'abbr', 'b', 'bdi', 'bdo', 'cite', 'code', 'data', 'dfn', 'em', 'font', 'i', 'kbd', 'mark', 'q',
    's', 'samp', 'slot', 'small', 'span', 'strong', 'sub', 'sup', 'time', 'u', 'var', 'wbr']);
  const getter = (type, name) => {
    const { get } = Object.getOwnPropertyDescriptor(type.prototype, name);
    return (node) => get.call(node);
  };
  const method = (type, name) => {
    const { value } = Object.getOwnPropertyDescriptor(type.prototype, name);
    return (node, one, other) => value.call(node, one, other); // called so often that an array of arguments would cost time
  };
  const parent = getter(Node, 'parentNode');
  const nodeType = getter(Node, 'nodeType');
  const childNodes = getter(Node, 'childNodes');
  const tag = getter(Element, 'localName');
  const openRoot = getter(Element, 'shadowRoot');
  const extension = Object.hasOwn(globalThis, 'chrome') ? globalThis.chrome?.dom : undefined;
  const isElement = (node) => nodeType(node) === Node.ELEMENT_NODE;
  const childrenOf = [Element, Document, DocumentFragment].map((type) => [type, getter(type, 'children')]);

  // The shadow tree of an element; a closed one is shown to extensions, or was told by the browser's own protocol.
  function rootIn(element) {
    const open = openRoot(element) ?? view.closedRoot?.(element);
    if (open || !extension?.openOrClosedShadowRoot || !(element instanceof HTMLElement)) return open;
    return extension.openOrClosedShadowRoot(element);
  }

  function children(node) {
    return childrenOf.find(([type]) => node instanceof type)[1](node);
  }

  function above(element) {
    if (element.assignedSlot instanceof HTMLSlotElement) return element.assignedSlot;
    const node = parent(element);
    if (node instanceof ShadowRoot) return node.host;
    return node && isElement(node) ? node : null;
  }

  function below(element) {
    if (element instanceof HTMLSlotElement) {
      const given = element.assignedNodes();
      if (given.length) return given;
    }
    const root = rootIn(element);
    if (root) view.watchRoot(root);
    return childNodes(root ?? element);
  }

  function isWithin(element, outer) {
    for (let node = element, up = 0; node && up < 500; node = above(node), up++) if (node === outer) return true;
    return false;
  }

  // The way from the document: places among the children, 's' into a shadow root.
  function way(element) {
    const steps = [];
    for (let node = element; node; ) {
      const over = parent(node);
      if (!over) return null;
      steps.push(Array.prototype.indexOf.call(children(over), node));
      if (over === document) return steps.reverse();
      if (over instanceof ShadowRoot) steps.push('s');
      node = over instanceof ShadowRoot ? over.host : over;
    }
    return null;
  }

  // Every node below in the order in which it is shown, while `enter` says to go into it, `many` at most.
  function* nodes(root, enter, many) {
    const stack = [];
    let left = many;
    const put = (inner) => {
      for (let index = Math.min(inner.length, left) - 1; index >= 0; index--) stack.push(inner[index]);
    };
    put(below(root));
    while (stack.length && left-- > 0) {
      const node = stack.pop();
      yield node;
      if (isElement(node) && !UNREAD.has(tag(node)) && enter(node)) put(below(node));
    }
  }

  Object.assign(view, {
    UNREAD, INLINE, above, below, rootIn, isWithin, way, nodes, tag, parent, children, isElement,
    attribute: method(Element, 'getAttribute'),
    attributeNames: method(Element, 'getAttributeNames'),
    setAttribute: method(Element, 'setAttribute'),
    removeAttribute: method(Element, 'removeAttribute'),
    matches: method(Element, 'matches'),
    closest: method(Element, 'closest'),
    find: method(Element, 'querySelector'),
    findFirst: method(Document, 'querySelector'),
    findAll: method(Document, 'querySelectorAll'),
    findIn: method(Element, 'querySelectorAll'),
    box: method(Element, 'getBoundingClientRect'),
    isVisible: method(Element, 'checkVisibility'),
    title: getter(Document, 'title'),
    readyState: getter(Document, 'readyState'),
    rootElement: getter(Document, 'documentElement'),
  });
});
