// Reads drawings: their shapes with size and place, the names of pictures, and colours in plain words.
weft.part((view) => {
  const MANY_SHAPES = 80, LEAST = 3, ICON = 40, CHARS = 50;
  const SHAPES = new Set(['circle', 'ellipse', 'rect', 'line', 'polyline', 'polygon', 'path', 'text', 'image']);
  const UNDRAWN = new Set(['defs', 'clippath', 'clipPath', 'mask', 'pattern', 'symbol', 'marker', 'lineargradient', 'linearGradient', 'style', 'title', 'desc', 'metadata']);
  const HUES = [[15, 'red'], [42, 'orange'], [68, 'yellow'], [165, 'green'], [195, 'cyan'], [258, 'blue'], [292, 'purple'], [345, 'pink'], [361, 'red']];

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

  function channels(colour) {
    const parts = /^rgba?\(([\d.]+),\s*([\d.]+),\s*([\d.]+)(?:,\s*([\d.]+))?\)$/.exec(colour);
    if (!parts || parts[4] === '0') return null;
    return parts.slice(1, 4).map(Number);
  }

  function nameOfColour([red, green, blue]) {
    const most = Math.max(red, green, blue) / 255, least = Math.min(red, green, blue) / 255, light = (most + least) / 2, span = most - least;
    const full = span === 0 ? 0 : span / (1 - Math.abs(2 * light - 1));
    if (light > 0.95) return 'white';
    if (light < 0.08) return 'black';
    if (full < 0.14 || span < 0.06) return 'grey';
    const [r, g, b] = [red / 255, green / 255, blue / 255];
    const sixth = most === r ? ((g - b) / span + 6) % 6 : most === g ? (b - r) / span + 2 : (r - g) / span + 4;
    const hue = HUES.find(([end]) => sixth * 60 < end)[1];
    if (hue === 'orange' && light < 0.4) return 'brown';
    return hue === 'pink' && light < 0.35 ? 'purple' : hue;
  }

  // The colour of a drawing, or what lies behind the words of an element, as a word and as digits.
  function colourOf(element, shape) {
    const style = getComputedStyle(element);
    const drawn = element instanceof SVGElement && view.tag(element) !== 'svg';
    const candidates = drawn ? [shape === 'line' ? style.stroke : style.fill, style.stroke] : [style.backgroundColor];
    for (const one of candidates) {
      const found = channels(one);
      if (found) return `${nameOfColour(found)} #${found.map((value) => Math.round(value).toString(16).padStart(2, '0')).join('')}`;
    }
    return '';
  }

  Object.assign(view, { shapes, pictureName, colourOf, shapeOf });
});
