// Writes the document as it is shown: through open shadow roots, slots and frames of the same origin.
// A frame that cannot be read from here is left as <!--weft-frame 0.2-->: the way to it by numbers of window.frames.
((limit) => {
  const VOID = new Set(['area', 'base', 'br', 'col', 'embed', 'hr', 'img', 'input', 'link', 'meta', 'source', 'track', 'wbr']);
  const RAW = new Set(['script', 'style', 'xmp', 'noembed', 'noframes', 'plaintext', 'noscript']);
  const LEAST = 30;
  const text = (value) => value.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/\u00a0/g, '&nbsp;');
  const quoted = (value) => value.replace(/&/g, '&amp;').replace(/"/g, '&quot;').replace(/\u00a0/g, '&nbsp;');
  const kept = globalThis.__weft?.kept; // rows of a list that shows only some of them at a time
  const out = [];
  let size = 0;

  function put(piece) {
    out.push(piece);
    size += piece.length;
  }

  function later(stack, nodes, place) {
    for (let index = nodes.length - 1; index >= 0; index--) stack.push({ node: nodes[index], ...place });
  }

  function open(element, extra = '') {
    let tag = `<${element.localName}`;
    for (const { name, value } of element.attributes) if (/^[^\s"'<>/=\u0000]+$/.test(name)) tag += ` ${name}="${quoted(value)}"`;
    put(`${tag}${extra}>`);
  }

  function way(frame, place) {
    const view = frame.ownerDocument.defaultView;
    for (let index = 0; view && index < view.length; index++)
      if (view[index] === frame.contentWindow) return [...place.way, index];
    return null;
  }

  function inner(frame) {
    try {
      return frame.contentDocument;
    } catch {
      return null;
    }
  }

  function large(element) {
    const box = element.getBoundingClientRect();
    return box.width >= LEAST && box.height >= LEAST;
  }

  function framed(stack, element, place) {
    const path = way(element, place);
    const own = inner(element);
    if (!own?.body && (path === null || !large(element))) return;
    put(`<div data-weft-frame="${quoted(element.src || '')}">`);
    stack.push('</div>');
    if (own?.body) later(stack, own.body.childNodes, { way: path ?? place.way, shadow: false, raw: false });
    else put(`<!--weft-frame ${path.join('.')}-->`);
  }

  function element(stack, node, place) {
    const name = node.localName;
    if (place.shadow) {
      if (name === 'style' || (name === 'link' && /stylesheet/i.test(node.rel))) return;
      if (getComputedStyle(node).display === 'none') return;
      if (name === 'slot') {
        const given = node.assignedNodes();
        later(stack, given.length ? given : node.childNodes, place);
        return;
      }
    }
    if (name === 'iframe' || name === 'frame') {
      framed(stack, node, place);
      return;
    }
    open(node);
    if (VOID.has(name)) return;
    stack.push(`</${name}>`);
    if (name === 'template') return;
    if (kept?.list === node && kept.rows.size > node.childElementCount) {
      for (const row of kept.rows.values()) put(row);
      return;
    }
    const root = node.shadowRoot;
    later(stack, root ? root.childNodes : node.childNodes, { ...place, shadow: place.shadow || root !== null, raw: RAW.has(name) });
  }

  const stack = [];
  later(stack, document.childNodes, { way: [], shadow: false, raw: false });
  while (stack.length && size < limit) {
    const next = stack.pop();
    if (typeof next === 'string') {
      put(next);
      continue;
    }
    const { node, ...place } = next;
    if (node.nodeType === Node.ELEMENT_NODE) element(stack, node, place);
    else if (node.nodeType === Node.TEXT_NODE) put(place.raw ? node.data : text(node.data));
    else if (node.nodeType === Node.DOCUMENT_TYPE_NODE) put(`<!doctype ${node.name}>`);
  }
  return { html: out.join(''), cut: stack.length > 0, base: document.baseURI };
})
