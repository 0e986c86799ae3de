// Collects what hints at the purpose of a page.
weft.part((view) => {
  const MANY = 300, CHARS = 20_000;
  const PRICE = /[$€£¥]\s?\d|\d[.,]\d\d\s?(?:€|EUR|USD|GBP|CHF)/g;
  const TYPES = /"@type"\s*:\s*\[?\s*"(\w{2,40})"/g;
  const all = (selector) => [...Document.prototype.querySelectorAll.call(document, selector)];

  function kinds() {
    const found = [];
    for (const script of all('script[type="application/ld+json"]').slice(0, 5))
      for (const [, type] of script.textContent.slice(0, CHARS).matchAll(TYPES)) found.push(type);
    const type = all('meta[property="og:type"]')[0];
    if (type) found.push(`og:${view.clean(type.content, 40)}`);
    return [...new Set(found)].slice(0, 20);
  }

  function prose() {
    return all('p').slice(0, MANY).reduce((sum, one) => sum + (one.textContent.length > 40 ? one.textContent.length : 0), 0);
  }

  function rows(finds) {
    const counts = new Map();
    for (const { sig, box } of finds) if (box && sig.group && sig.kind === 'link') counts.set(sig.region + sig.group, (counts.get(sig.region + sig.group) ?? 0) + 1);
    return Math.max(0, ...counts.values());
  }

  function isMedia(element) {
    const box = element.getBoundingClientRect();
    return element.localName === 'audio' ? element.controls : box.width * box.height > innerWidth * innerHeight * 0.15 && !element.autoplay;
  }

  // What the page announces beside everything else.
  function notices() {
    const found = [];
    for (const one of all('[role="alert"], [role="status"], [aria-live]').slice(0, 50)) {
      const words = view.shows(one) ? view.textOf(one, 120) : '';
      if (words && found.length < 3) found.push(words);
    }
    return found;
  }

  // Something that is another number where the words of the page are others.
  function hash() {
    const text = view.rootElement(document).textContent.slice(0, CHARS * 10);
    let sum = text.length;
    for (let index = 0; index < text.length; index++) sum = (Math.imul(sum, 31) + text.charCodeAt(index)) | 0;
    return sum;
  }

  // Each as far as the page lets itself be read.
  function markers(finds) {
    try {
      return read(finds);
    } catch {
      return {};
    }
  }

  function read(finds) {
    const heading = all('h1').slice(0, 5).find(view.shows);
    const prices = (all('main')[0] ?? view.rootElement(document))?.textContent.slice(0, CHARS * 2).match(PRICE)?.length ?? 0;
    return {
      heading: heading ? view.textOf(heading, 200) : '', kinds: kinds(), prose: prose(), rows: rows(finds), prices,
      tables: all('table').slice(0, MANY).filter((table) => table.rows.length > 3).length,
      media: all('video, audio').slice(0, 10).some(isMedia),
      notices: notices(), words: hash(),
      dialogs: all('dialog[open], [role="dialog"], [role="alertdialog"], [aria-modal="true"]').slice(0, 50).filter(view.shows).length,
    };
  }

  Object.assign(view, { markers });
});
