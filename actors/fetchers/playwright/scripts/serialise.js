// Writes the document as it is shown: through open shadow roots, slots and frames of the same origin.
// What is not displayed is marked as hidden, unless that is all there is: whoever reads it has not all styles.
// A frame that cannot be read from here is left as <!--weft-frame 0.2-->: the way to it by numbers of window.frames.
((limit) => {
  const VOID = new Set(['area', 'base', 'br', 'col', 'embed', 'hr', 'img', 'input', 'link', 'meta', 'source', 'track', 'wbr']);
  const RAW = new Set(['script', 'style', 'xmp', 'noembed', 'noframes', 'plaintext', 'noscript']);
  const UNMARKED = new Set(['template', 'head', 'title', 'dialog', 'details', ...RAW, ...VOID]);
  const LEAST = 30, STAMP = 'data-llm-id'; // ours, and none of the page's
  const text = (value) => value.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/\u00a0/g, '&nbsp;');
  const quoted = (value) => value.replace(/&/g, '&amp;').replace(/"/g, '&quot;').replace(/\u00a0/g, '&nbsp;');
  const kept = Object.hasOwn(globalThis, '__weft') ? globalThis.__weft.kept : undefined; // rows of a list that shows only some of them at a time
  let out = [];
  let size = 0, count = 0, shown = 0, gone = 0, marks = true;

  function put(piece) {
    out.push(piece);
    size += piece.length;
  }

  function later(stack, nodes, place) {
    for (let index = nodes.length - 1; index >= 0; index--) stack.push({ node: nodes[index], ...place });
  }

  // A set of frames holds their content, which no parser would take there.
  function written(element) {
    return element.localName === 'frameset' ? 'div' : element.localName;
  }

  function hides(element, place) {
    if (!marks || !place.body || place.hidden || place.shadow || UNMARKED.has(element.localName)) return false;
    // The first question costs a quarter of the second, and nearly always answers it.
    return !element.checkVisibility() && getComputedStyle(element).display === 'none';
  }

  function open(element, extra = '') {
    count++;
    let tag = `<${written(element)}`;
    for (const { name, value } of element.attributes)
      if (/^[^\s"'<>/=\u0000]+$/.test(name) && name !== STAMP && !(extra && name === 'hidden')) tag += ` ${name}="${quoted(value)}"`;
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
    const hidden = hides(element, place);
    put(`<div data-weft-frame="${quoted(element.src || '')}"${hidden ? ' hidden=""' : ''}>`);
    stack.push('</div>');
    const inside = { way: path ?? place.way, shadow: false, raw: false, body: true, hidden: place.hidden || hidden };
    if (own?.body) later(stack, own.body.childNodes, inside);
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
    if (name === 'noframes') return;
    const hidden = hides(node, place);
    open(node, hidden ? ' hidden=""' : '');
    if (VOID.has(name)) return;
    stack.push(`</${written(node)}>`);
    if (name === 'template') return;
    if (kept?.list === node && kept.rows.size > node.childElementCount) {
      for (const row of kept.rows.values()) put(row);
      return;
    }
    const root = node.shadowRoot;
    const inside = {
      ...place, shadow: place.shadow || root !== null, raw: RAW.has(name), body: place.body || name === 'body' || name === 'frameset',
      hidden: place.hidden || hidden,
    };
    later(stack, root ? root.childNodes : node.childNodes, inside);
  }

  function words(node, place) {
    put(place.raw ? node.data : text(node.data));
    if (place.raw) return;
    if (place.hidden) gone += node.data.trim().length;
    else shown += node.data.trim().length;
  }

  function write() {
    const stack = [];
    out = [];
    size = count = shown = gone = 0;
    later(stack, document.childNodes, { way: [], shadow: false, raw: false, body: false, hidden: false });
    while (stack.length && size < limit) {
      const next = stack.pop();
      if (typeof next === 'string') {
        put(next);
        continue;
      }
      const { node, ...place } = next;
      if (node.nodeType === Node.ELEMENT_NODE) element(stack, node, place);
      else if (node.nodeType === Node.TEXT_NODE) words(node, place);
      else if (node.nodeType === Node.DOCUMENT_TYPE_NODE) put(`<!doctype ${node.name}>`);
    }
    return stack.length > 0;
  }

  let cut = write();
  if (gone && !shown) {
    marks = false;
    cut = write();
  }
  return { html: out.join(''), cut, elements: count, base: document.baseURI };
})
