// Goes one step down: the window, or the largest thing that scrolls; keeps the rows of lists that forget them.
(async (press) => {
  const MORE = /^(load|show|view|see) (more|all)\b|^more( results| items)?$|^mehr (laden|anzeigen)|^(charger|voir|afficher) plus|^(cargar|mostrar|ver) más|^carica altro|^carregar mais|^meer (laden|tonen)/i;
  const ROWS = 3, MANY_ROWS = 3000, STEP = 0.85, MANY = 4000, FRAMES_MS = 1000;
  const known = Object.hasOwn(globalThis, '__weft') ? globalThis.__weft : (globalThis.__weft = { last: performance.now(), roots: new WeakSet(), observer: new MutationObserver(() => {}) });
  const kept = known.kept ?? (known.kept = { list: null, rows: new Map(), pressed: 0 });
  const root = document.scrollingElement ?? document.documentElement;

  function scroller() {
    if (root.scrollHeight > innerHeight + 4) return root;
    let best = root, size = 0, looked = 0;
    for (const element of document.querySelectorAll('*')) {
      if (++looked > MANY) break;
      if (element.scrollHeight <= element.clientHeight + 4 || element.clientHeight < 100) continue;
      if (!/auto|scroll|overlay/.test(getComputedStyle(element).overflowY)) continue;
      const area = element.clientWidth * element.clientHeight;
      if (area > size) [best, size] = [element, area];
    }
    return best;
  }

  function list(within) {
    let best = null, most = ROWS - 1, looked = 0;
    for (const element of within.querySelectorAll('*')) {
      if (++looked > MANY) break;
      const first = element.firstElementChild;
      if (!first || element.childElementCount <= most || /^(head|select|datalist|svg|tr)$/.test(element.localName)) continue;
      let same = 0;
      for (const child of element.children) if (child.localName === first.localName) same += 1;
      if (same > most && same * 2 > element.childElementCount && element.getBoundingClientRect().height > 100) [best, most] = [element, same];
    }
    return best;
  }

  function key(row) {
    const place = row.getAttribute('aria-rowindex') ?? row.getAttribute('aria-posinset') ?? row.dataset.index ??
      row.dataset.itemIndex ?? row.dataset.rowIndex ?? row.id;
    return place ? `#${place}` : row.textContent.trim();
  }

  function keep(within) {
    if (!kept.list?.isConnected) {
      const found = list(within);
      if (found !== kept.list && kept.rows.size === 0) kept.list = found;
      else if (found) kept.list = found;
    }
    for (const row of kept.list?.children ?? []) {
      if (kept.rows.size >= MANY_ROWS) break;
      const name = key(row);
      if (name && name !== '#') kept.rows.set(name, row.outerHTML);
    }
  }

  function more() {
    for (const element of document.querySelectorAll('button, [role="button"], a')) {
      const words = (element.innerText || '').trim();
      if (words.length > 40 || !MORE.test(words) || element.disabled) continue;
      const target = element.closest('a[href]')?.getAttribute('href') ?? '';
      if ((target === '' || /^(#|javascript:)/.test(target)) && element.checkVisibility()) return element;
    }
    return null;
  }

  const box = scroller();
  keep(box === root ? document : box);
  const before = box.scrollTop;
  box.scrollTop = before + Math.max((box === root ? innerHeight : box.clientHeight) * STEP, 100);
  const end = box.scrollTop <= before + 1;
  let pressed = false;
  if (end && press) {
    const button = more();
    if (button) {
      button.scrollIntoView({ block: 'center' });
      button.click();
      pressed = true;
    }
  }
  // What a page draws because it was scrolled it draws in the next frame; one that is not drawn at all has none.
  const frames = new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
  await Promise.race([frames, new Promise((late) => setTimeout(late, FRAMES_MS))]);
  return { end, pressed, height: box.scrollHeight, rows: kept.rows.size, present: kept.list?.childElementCount ?? 0 };
})
