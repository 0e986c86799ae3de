// Writes the document as it is now, in a world of its own: shadow trees, slots and frames in place, what was typed kept.
// Walks with a stack of its own, as deep documents overflow that of the engine.
(maxChars, maxText) => {
  const VOID = new Set(['area', 'base', 'br', 'col', 'embed', 'hr', 'img', 'input', 'link', 'meta', 'source', 'track', 'wbr']);
  const DROPPED = new Set(['noscript', 'noframes', 'template']);
  const RAW = new Set(['script', 'style', 'xmp', 'plaintext']);
  const INLINE = new Set(['a', 'abbr', 'b', 'bdi', 'bdo', 'cite', 'code', 'data', 'del', 'em', 'font', 'i', 'ins', 'kbd', 'label',
    'mark', 'q', 's', 'samp', 'slot', 'small', 'span', 'strong', 'sub', 'sup', 'time', 'u', 'var', 'wbr']);
  const NAME = /^[^\s"'<>\/=\u0000]+$/;
  const XHTML = 'http://www.w3.org/1999/xhtml';
  const counts = { media: 0, canvases: 0, foreign: 0, scripts: 0, missing: 0, tall: 0 };
  const TALL = /(?:^|[;\s])(?:height\s*:\s*(?:[3-9]\d{3}|\d{5,})|padding-(?:top|bottom)\s*:\s*\d{4,})(?:\.\d+)?px/i;
  const out = ['<!DOCTYPE html>'];
  const text = [];
  let size = 0, unseen = 0, truncated = false, styled = true;

  const put = (piece) => { out.push(piece); size += piece.length; };
  const escaped = (value) => value.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
  const quoted = (value) => value.replace(/&/g, '&amp;').replace(/"/g, '&quot;').replace(/</g, '&lt;');
  // What the page's styles take away is marked as hidden: whoever reads the text has only some of the styles.
  const hidden = (element, within) => {
    if (within.gone || within.closed || !within.body || !styled) { return element.hasAttribute('hidden'); }
    return getComputedStyle(element).display === 'none';
  };
  const attributes = (element, tag, gone) => {
    let line = gone ? ' hidden=""' : '';
    const list = element.attributes;
    for (let at = 0; at < list.length; at += 1) {
      const { name, value } = list[at];
      const told = name === 'hidden' || (tag === 'input' && (name === 'value' || name === 'checked')) || (tag === 'option' && name === 'selected');
      if (NAME.test(name) && !told) { line += ` ${name}="${quoted(value)}"`; }
    }
    if (tag === 'input') {
      if (element.type !== 'password' && element.value) { line += ` value="${quoted(element.value)}"`; }
      if (element.checked) { line += ' checked=""'; }
    }
    if (tag === 'option' && element.selected) { line += ' selected=""'; }
    return line;
  };
  const framed = (element) => {
    try { return element.contentDocument; } catch { return null; }
  };
  const inner = (element, tag) => {
    if (tag === 'iframe' || tag === 'frame') {
      const body = framed(element)?.body;
      if (!body) { counts.foreign += element.getAttribute('src') ? 1 : 0; }
      return body ? body.childNodes : [];
    }
    if (tag === 'slot') {
      const assigned = element.assignedNodes();
      return assigned.length ? assigned : element.childNodes;
    }
    if (tag === 'textarea') { return [document.createTextNode(element.value)]; }
    return element.shadowRoot ? element.shadowRoot.childNodes : element.childNodes;
  };
  const open = (element, within) => {
    const html = element.namespaceURI === XHTML;
    const tag = html ? element.localName : element.nodeName;
    if (DROPPED.has(tag) || !NAME.test(tag) || ((within.shadow || !styled) && tag === 'style')) { return null; }
    if (tag === 'video' || tag === 'audio') { counts.media += 1; }
    if (tag === 'canvas') { counts.canvases += 1; }
    if (TALL.test(element.getAttribute('style') || '')) { counts.tall += 1; }
    if (tag === 'script') { counts.scripts += 1; }
    if (html && tag.includes('-') && !element.matches(':defined')) { counts.missing += 1; }
    const written = tag === 'iframe' || tag === 'frame' || tag === 'frameset' ? 'div' : tag === 'slot' ? 'span' : tag;
    const raw = html && RAW.has(tag), empty = html && VOID.has(tag);
    const gone = !within.mute && !raw && !empty && hidden(element, within);
    put(`<${written}${tag === 'slot' ? '' : attributes(element, tag, gone)}>`);
    if (empty) { return null; }
    const apart = !INLINE.has(tag);
    if (apart) { text.push(' '); }
    const children = raw ? [] : inner(element, tag);
    if (raw) {
      const content = element.textContent;
      if (size + content.length < maxChars && !new RegExp(`</${tag}`, 'i').test(content)) { put(content); }
    }
    return {
      children, at: 0, end: `</${written}>`, apart, shadow: tag === 'slot' ? within.outer : !!element.shadowRoot || within.shadow,
      outer: element.shadowRoot ? within.shadow : within.outer, mute: within.mute || raw || tag === 'title',
      gone: within.gone || gone || (within.closed && tag !== 'summary'), body: within.body || tag === 'body' || tag === 'frameset', closed: tag === 'details' && !element.open,
    };
  };
  const walk = () => {
    const stack = [{ children: document.documentElement ? [document.documentElement] : [], at: 0, end: '', shadow: false, outer: false, mute: false, gone: false, body: false, closed: false }];
    while (stack.length) {
      const top = stack[stack.length - 1];
      if (top.at >= top.children.length || truncated) {
        put(top.end);
        if (top.apart) { text.push(' '); }
        stack.pop();
        continue;
      }
      const node = top.children[top.at];
      top.at += 1;
      if (size > maxChars) { truncated = true; continue; }
      if (node.nodeType === 3) {
        const data = size + node.length > maxChars ? '' : node.data;
        truncated ||= size + node.length > maxChars;
        put(escaped(data));
        if (top.mute) { continue; }
        if (top.gone) { unseen += data.trim().length; } else { text.push(data); }
      } else if (node.nodeType === 1) {
        const entered = open(node, top);
        if (entered) { stack.push(entered); }
      }
    }
  };
  walk();
  const seen = () => text.join('').replace(/\s+/g, ' ').trim();
  if (unseen > seen().length) {  // styles that take away most of a page wait for something that the engine lacks
    styled = false;
    truncated = false;
    size = 0;
    out.length = 1;
    text.length = 0;
    for (const name of Object.keys(counts)) { counts[name] = 0; }
    walk();
  }
  const whole = seen();
  const wide = (whole.match(/[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]/g) || []).length;
  const roots = document.querySelectorAll('#root, #app, #__next, #___gatsby, app-root, #svelte, [data-reactroot]');
  let empty = 0;
  for (const root of roots) { empty += !root.textContent.trim() && !root.shadowRoot ? 1 : 0; }
  return JSON.stringify({
    href: location.href, html: out.join(''), text: whole.slice(0, maxText), words: whole.split(' ').filter(Boolean).length + wide, chars: whole.length,
    empty_roots: empty, truncated, ...counts,
  });
}
