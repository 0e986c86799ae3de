// Scrolls the window by most of its height or by so many pixels, or else the largest thing on it that scrolls.
((down, by = null) => {
  const STEP = 0.85, MANY = 4000;
  const root = document.scrollingElement ?? document.documentElement;

  function area(element) {
    const box = element.getBoundingClientRect();
    const width = Math.min(box.right, innerWidth) - Math.max(box.left, 0);
    const height = Math.min(box.bottom, innerHeight) - Math.max(box.top, 0);
    return width > 0 && height > 0 ? width * height : 0;
  }

  function scroller() {
    if (root.scrollHeight > innerHeight + 4 && !/hidden|clip/.test(getComputedStyle(root).overflowY)) return root;
    let best = root, size = 0, looked = 0;
    for (const element of document.querySelectorAll('*')) {
      if (++looked > MANY) break;
      if (element.scrollHeight <= element.clientHeight + 4 || element.clientHeight < 80) continue;
      if (!/auto|scroll|overlay/.test(getComputedStyle(element).overflowY)) continue;
      const seen = area(element);
      if (seen > size) [best, size] = [element, seen];
    }
    return best;
  }

  const what = scroller();
  const height = what === root ? innerHeight : what.clientHeight;
  const before = what.scrollTop;
  what.scrollBy({ top: by ?? (down ? 1 : -1) * height * STEP, behavior: 'instant' });
  return { by: what.scrollTop - before, top: what.scrollTop, window: height, height: what.scrollHeight };
})
