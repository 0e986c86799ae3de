// Reads the words that are shown, block by block in document order, with what tells how much each matters.
weft.part((view) => {
  const MANY_NODES = 60_000, MANY_BLOCKS = 400, MANY_LINKS = 100, MANY_IMAGES = 40, CHARS = 500, LATEST_MS = 700;
  const BLOCKS = new Set(['p', 'li', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'blockquote', 'pre', 'td', 'th', 'dt', 'dd', 'figcaption', 'caption',
    'summary', 'legend', 'address', 'output']);
  const WORTH = { h1: 1, h2: 0.9, h3: 0.8, h4: 0.7, p: 0.8, blockquote: 0.8, pre: 0.75, li: 0.55, dd: 0.6, dt: 0.6, td: 0.5, th: 0.6, caption: 0.6, figcaption: 0.6 };
  const SKIPPED = new Set([...view.UNREAD, 'svg', 'select', 'option', 'button', 'input', 'textarea', 'canvas', 'iframe', 'object', 'embed', 'video', 'audio']);
  const OUTSIDE = /^(?:navigation|footer|header|aside|menu|toolbar|tabs)/;
  const META = ['description', 'author', 'keywords', 'og:title', 'og:description', 'og:type', 'og:site_name', 'article:published_time', 'article:modified_time'];

  function gather() {
    const begun = performance.now();
    const seen = { blocks: [], links: [], images: [], cut: false };
    const place = { heading: '', visited: 0 };
    const stack = [{ node: view.rootElement(document), region: 'page', main: false, block: null }];
    while (stack.length) {
      const item = stack.pop();
      if (item.end) { finish(item.end, seen, place); continue; }
      if (++place.visited > MANY_NODES || seen.blocks.length >= MANY_BLOCKS || (place.visited % 64 === 0 && performance.now() - begun > LATEST_MS)) {
        seen.cut = true;
        break;
      }
      try {
        visit(item, stack, seen);
      } catch {
        seen.cut = true;
      }
    }
    return seen;
  }

  function visit(item, stack, seen) {
    const { node } = item;
    if (node.nodeType === Node.TEXT_NODE) {
      if (item.block && item.block.size < CHARS * 2) item.block.size += item.block.parts.push(node.data.slice(0, CHARS * 2)) && node.data.length;
      return;
    }
    if (!view.isElement(node)) return;
    const tag = view.tag(node);
    if (tag === 'img') picture(node, seen);
    if (SKIPPED.has(tag) || !view.shows(node)) return;
    const region = view.regionOf(node) || item.region;
    const main = item.main || tag === 'main' || tag === 'article' || view.attribute(node, 'role') === 'main';
    if (tag === 'a') link(node, seen);
    const own = starts(node, tag) ? { tag, element: node, parts: [], size: 0, region, main } : null;
    const block = own ?? item.block;
    if (own) stack.push({ end: own });
    else if (item.block) item.block.parts.push(view.INLINE.has(tag) ? '' : ' ');
    const inner = view.below(node);
    for (let index = inner.length - 1; index >= 0; index--) stack.push({ node: inner[index], region, main, block });
  }

  // A block of its own, or one that holds words itself beside other blocks.
  function starts(node, tag) {
    if (BLOCKS.has(tag)) return true;
    if (view.INLINE.has(tag)) return false;
    for (const inner of view.below(node)) if (inner.nodeType === Node.TEXT_NODE && inner.data.trim()) return true;
    return [...view.below(node)].some((inner) => view.isElement(inner) && view.INLINE.has(view.tag(inner)) && inner.textContent.trim());
  }

  function finish(block, seen, place) {
    const text = view.clean(block.parts.join(''), CHARS);
    if (!text) return;
    const box = view.box(block.element);
    if (box.width < 2 || box.height < 2 || !view.isReached(block.element, box)) return;
    const heading = /^h[1-6]$/.test(block.tag);
    seen.blocks.push({ tag: block.tag, text, heading: heading ? '' : place.heading, ...weights(block, box, text) });
    if (heading) place.heading = view.clean(text, 120);
  }

  function weights(block, box, text) {
    const tall = Math.max(view.rootElement(document).scrollHeight, innerHeight);
    const size = parseFloat(getComputedStyle(block.element).fontSize) || 16;
    const outside = OUTSIDE.test(block.region);
    const bounded = (value) => Math.round(Math.max(0, Math.min(1, value)) * 1000) / 1000;
    return {
      position: bounded(1 - (box.top + scrollY) / tall), area: bounded((box.width * box.height) / (innerWidth * innerHeight * 0.25)),
      font: bounded((size - 8) / 24), semantics: outside ? 0.1 : WORTH[block.tag] ?? 0.4, main: block.main && !outside ? 1 : 0,
      length: bounded(text.length / 300),
    };
  }

  function link(node, seen) {
    if (seen.links.length >= MANY_LINKS || !/^https?:/.test(node.href)) return;
    const text = view.unsecret(view.nameOf(node, 'link'));
    const url = String(node.href).slice(0, 300);
    if (text && !seen.links.some((one) => one.url === url && one.text === text)) seen.links.push({ text, url });
  }

  function picture(node, seen) {
    if (seen.images.length >= MANY_IMAGES || !view.shows(node) || !/^https?:/.test(node.currentSrc || node.src)) return;
    const box = view.box(node);
    if (box.width < 32 || box.height < 32) return;
    seen.images.push({ url: String(node.currentSrc || node.src).slice(0, 500), alt: view.clean(node.alt, 200) });
  }

  function metadata() {
    const found = {};
    const all = Document.prototype.querySelectorAll.call(document, 'meta[content]');
    for (const meta of [...all].slice(0, 100)) {
      const name = (meta.getAttribute('property') ?? meta.getAttribute('name') ?? '').toLowerCase();
      if (META.includes(name) && !found[name]) found[name] = view.clean(meta.content, 300);
    }
    const canonical = Document.prototype.querySelector.call(document, 'link[rel="canonical"]')?.href;
    if (canonical && /^https?:/.test(canonical)) found.canonical = canonical.slice(0, 500);
    const language = view.clean(view.attribute(view.rootElement(document), 'lang') ?? '', 20);
    if (language) found.language = language;
    return found;
  }

  function read() {
    const { blocks, links, images, cut } = gather();
    return { title: view.clean(view.title(document), 200), blocks, links, images, metadata: metadata(), frames: document.getElementsByTagName('iframe').length, cut };
  }

  Object.assign(view, { read });
});
