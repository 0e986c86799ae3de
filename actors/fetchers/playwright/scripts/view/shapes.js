// Reads drawings: their shapes with size and place, and the names of pictures.
weft.part((view) => {
  const MANY_SHAPES = 80, LEAST = 3, ICON = 40, CHARS = 50;
  const SHAPES = new Set(['circle', 'ellipse', 'rect', 'line', 'polyline', 'polygon', 'path', 'text', 'image']);
  const UNDRAWN = new Set(['defs', 'clippath', 'clipPath', 'mask', 'pattern', 'symbol', 'marker', 'lineargradient', 'linearGradient', 'style', 'title', 'desc', 'metadata']);

  function pictureName(element) {
    const file = (view.attribute(element, 'src') ?? '').split(/[?#]/)[0].split('/').pop().replace(/\.\w+$/, '');
    const given = view.attribute(element, 'aria-label') || view.attribute(element, 'alt') || view.attribute(element, 'title');
    return view.clean(given || (file && file.length <= 40 && !view.generated(file) ? view.spoken(file) : ''), CHARS);
  }

  // A triangle is a polygon of three corners; the others are called as they are drawn.
  function shapeOf(element) {
    const tag = view.tag(element);
    if (tag !== 'polygon') return tag;
    const corners = (view.attribute(element, 'points') ?? '').trim().split(/[\s,]+/).length / 2;
    return corners === 3 ? 'triangle' : 'polygon';
  }

  // The shapes of a drawing; an icon is one picture.
  function shapes(svg, { controls, items }) {
    const found = [], box = view.box(svg);
    const title = view.clean(view.attribute(svg, 'aria-label') || view.find(svg, ':scope > title')?.textContent || '', CHARS);
    for (const element of view.findIn(svg, '*')) {
      if (found.length >= MANY_SHAPES) break;
      const tag = view.tag(element);
      if (!SHAPES.has(tag) || UNDRAWN.has(view.tag(view.above(element) ?? svg))) continue;
      const own = view.box(element);
      if (own.width < LEAST && own.height < LEAST) continue;
      const find = controls.get(element);
      const words = tag === 'text' ? view.clean(element.textContent, CHARS) : view.clean(view.find(element, ':scope > title')?.textContent ?? '', CHARS);
      found.push(find ? { find, shape: shapeOf(element), drawn: words } : { picture: tag !== 'text', words, element, box: own, shape: shapeOf(element) });
    }
    const drawn = found.some((one) => one.find) || (box.width >= ICON && box.height >= ICON && found.length > 0);
    for (const item of items) if (item.find?.element === svg) item.shape = 'drawing';
    return drawn ? found : title ? [{ picture: true, words: title, element: svg, box, shape: '' }] : [];
  }

  Object.assign(view, { shapes, pictureName, shapeOf });
});
