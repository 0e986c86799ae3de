// Tells colours in plain words, for a tree that is asked for them.
weft.part((view) => {
  const HUES = [[15, 'red'], [42, 'orange'], [68, 'yellow'], [165, 'green'], [195, 'cyan'], [258, 'blue'], [292, 'purple'], [345, 'pink'], [361, 'red']];

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

  Object.assign(view, { colourOf });
});
