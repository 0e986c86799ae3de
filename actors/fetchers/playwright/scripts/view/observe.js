// Reads the page as 003's heuristics have it: its roots by text × (1 − link density) × quality, and what stands in them.
weft.part((view) => {
  const MANY_ROOTS = 1500, MANY_ROWS = 400, LEAST_ROOT = 80, LEAST_ITEMS = 3, LEAST_ITEM = 8, WORDS = 40_000, ROW = 2000;
  const NOISE = /\b(?:ad|ads|advert|sponsor(?:ed)?|promo|related|share|social|newsletter|subscribe|cookie|consent|modal|paywall|banner|nav|menu|footer|breadcrumb|sidebar)\b/;
  const GOOD = /\b(?:article|content|main|post|story|entry|body|text|docs?|markdown|prose)\b/;
  const COMMENT = /\b(?:comments?|repl(?:y|ies)|discussion|responses?|thread|answers?)\b/;
  const WORTH = { main: 1.4, article: 1.4, section: 1, div: 1, td: 0.8, form: 0.5, aside: 0.3, nav: 0.2, footer: 0.2, header: 0.4, ul: 0.7, ol: 0.7, table: 0.9 };
  const HEADINGS = 'h1, h2, h3, h4, h5, h6, [role="heading"]';
  const all = (root, selector) => [...view.findIn(root, selector)];
  const names = (element) => view.spoken(`${view.attribute(element, 'class') ?? ''} ${view.attribute(element, 'id') ?? ''}`.slice(0, 200)).toLowerCase();

  // What is not displayed counts for nothing; display:contents has no box, but what is in it has.
  const isShown = (element) => view.shows(element) || getComputedStyle(element).display === 'contents';

  function quality(element) {
    const worth = WORTH[view.tag(element)] ?? 0.6, called = names(element), role = view.attribute(element, 'role') ?? '';
    if (view.attribute(element, 'aria-modal') === 'true' || role === 'dialog') return 0;
    return worth * (NOISE.test(called) ? 0.3 : 1) * (GOOD.test(called) ? 1.2 : 1) * (role === 'main' ? 1.4 : 1);
  }

  function measured(element) {
    const length = element.textContent.replace(/\s+/g, ' ').trim().length;
    if (length < LEAST_ROOT) return { length, density: 0, score: 0 };
    const linked = all(element, 'a[href]').slice(0, MANY_ROWS).reduce((sum, one) => sum + one.textContent.trim().length, 0);
    const density = Math.min(1, linked / length);
    return { length, density, score: length * (1 - density) * quality(element) };
  }

  // The smallest of the roots that come close to the best: a wrapper says nothing that what it wraps does not.
  function primaryIn(root) {
    let best = null, score = 0;
    for (const element of [root, ...all(root, 'main, article, section, div, td, [role="main"]').slice(0, MANY_ROOTS)]) {
      const { score: own } = measured(element);
      if (own > 0 && own >= score * (best && best.contains(element) ? 0.9 : 1.0001) && isShown(element)) [best, score] = [element, Math.max(own, score)];
    }
    return best ?? root;
  }

  // The rows of the list with the most words: children of one parent that are built alike.
  function listIn(root, apart) {
    let best = [], weight = 0;
    for (const parent of [root, ...all(root, 'ul, ol, div, section, main, tbody, dl, article').slice(0, MANY_ROOTS)]) {
      if (apart?.contains(parent) || view.children(parent).length < LEAST_ITEMS) continue;
      const groups = new Map();
      for (const child of [...view.children(parent)].slice(0, MANY_ROWS)) {
        const build = `${view.tag(child)}.${(view.attribute(child, 'class') ?? '').split(/\s+/)[0]}`;
        if (!groups.has(build)) groups.set(build, []);
        groups.get(build).push(child);
      }
      for (const [build, rows] of groups) {
        if (rows.length < LEAST_ITEMS || /^(?:p|h\d|br|option|script|style)\./.test(build)) continue;
        const full = rows.filter((row) => row.textContent.trim().length >= LEAST_ITEM);
        const sum = full.length * Math.min(200, full.reduce((total, row) => total + row.textContent.trim().length, 0) / (full.length || 1)) * quality(parent);
        if (full.length >= LEAST_ITEMS && sum > weight) [best, weight] = [full, sum];
      }
    }
    return best.filter(isShown);
  }

  function commentsIn(root) {
    const roots = all(root, '[class], [id], [role="feed"]').slice(0, MANY_ROOTS * 2).filter((one) => COMMENT.test(names(one)) && !/^(?:a|button|input|textarea|form)$/.test(view.tag(one)));
    const outer = roots.find((one) => listIn(one, null).length >= LEAST_ITEMS) ?? null;
    return { outer, rows: outer ? listIn(outer, null) : [] };
  }

  function depth(element, outer) {
    let deep = 0;
    for (let node = view.above(element); node && node !== outer; node = view.above(node)) if (/^(?:li|article)$/.test(view.tag(node)) || COMMENT.test(names(node))) deep += 1;
    return deep;
  }

  function row(element, level = 0) {
    const link = view.find(element, 'a[href]') ?? (view.tag(element) === 'a' ? element : null);
    return { text: view.textOf(element, ROW), level, url: link && /^https?:/.test(link.href) ? String(link.href).slice(0, 2000) : '' };
  }

  function outline(root) {
    return all(root, HEADINGS).filter(isShown).slice(0, MANY_ROWS).map((one) => row(one, Number(view.tag(one)[1]) || Number(view.attribute(one, 'aria-level')) || 2));
  }

  function kindOf({ root, primary, items, comments }) {
    const markup = all(root, 'script[type="application/ld+json"]').slice(0, 5).map((one) => one.textContent.slice(0, 20_000)).join(' ') || [...view.findAll(document, 'script[type="application/ld+json"]')].slice(0, 5).map((one) => one.textContent.slice(0, 20_000)).join(' ');
    const prose = all(primary, 'p').reduce((sum, one) => sum + one.textContent.trim().length, 0);
    const cells = all(root, 'table').map((one) => one.rows?.length ?? 0).reduce((most, rows) => Math.max(most, rows), 0);
    const query = new URLSearchParams(location.search);
    if (['q', 'query', 'search', 's', 'text', 'p'].some((name) => query.get(name)) && items.length >= LEAST_ITEMS) return 'search';
    if (/"@type"\s*:\s*"Product"/.test(markup) || all(root, '[itemtype$="/Product"]').length === 1) return 'product';
    if (comments.length >= LEAST_ITEMS && comments.length * 60 > prose) return 'thread';
    if (cells > 8 && cells * 20 > prose / 4) return 'table';
    if (all(root, 'pre, code').length >= 3 && all(document.body ?? root, 'nav, aside').length) return 'docs';
    if (/"@type"\s*:\s*"(?:News)?Article"|BlogPosting/.test(markup) || prose > 600) return 'article';
    return items.length >= 5 ? 'feed' : '';
  }

  function observe({ id }) {
    const root = id ? view.standing(id) : document.body ?? view.rootElement(document);
    if (!root?.isConnected) return { gone: true };
    const primary = primaryIn(root), { outer, rows } = commentsIn(root), items = listIn(root, outer);
    return {
      gone: false, archetype: kindOf({ root, primary, items, comments: rows }), primary: view.textOf(primary, WORDS),
      density: measured(primary).density, words: view.textOf(root, WORDS), outline: outline(root), items: items.map((one) => row(one)),
      comments: rows.map((one) => row(one, depth(one, outer))), url: location.href, title: view.clean(view.title(document), 300),
      language: view.clean(view.attribute(view.rootElement(document), 'lang') ?? '', 20),
    };
  }

  // The links that lie in what is selected.
  function selected({ many }) {
    const selection = document.getSelection(), links = [];
    if (!selection?.rangeCount || selection.isCollapsed) return { links };
    for (const link of view.findAll(document, 'a[href]')) {
      if (links.length >= many) break;
      if (selection.containsNode(link, true) && /^https?:/.test(link.href)) links.push({ text: view.textOf(link), url: String(link.href).slice(0, 2000) });
    }
    return { links };
  }

  Object.assign(view, { observe, selected });
});
