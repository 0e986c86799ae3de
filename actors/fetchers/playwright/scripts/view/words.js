// Cleans the words of a page, and makes parts of ids of them.
weft.part((view) => {
  const RAW_CHARS = 4000, SLUG_CHARS = 40;
  // What steers or hides text without being seen: bidi controls, zero width, tags, private use, halves of pairs.
  const UNSEEN = /[\p{Cf}\p{Co}\p{Cs}\u115f\u1160\u3164\uffa0\ufe00-\ufe0f]/gu;
  const BLANK = /[\p{Cc}\p{Z}\s]+/gu;
  // What joins words, but no sign and no point of a number.
  const JOINTS = /(?:[_/:[\]]|-(?!\d)|(?<=[\p{L}\p{N}_])-|\.(?!\d)|(?<!\d)\.)+/gu;
  const PILED = /(\p{M}{3})\p{M}+/gu;
  const PLAIN = /^[ -~]*$/, BLANKS = / {2,}/g; // most words are, and have nothing in them that must go

  function cut(text, max) {
    if (text.length <= max) return text;
    return `${text.slice(0, max - 1).replace(/[\ud800-\udbff]$/, '').trimEnd()}…`;
  }

  function clean(text, max = 100) {
    if (typeof text !== 'string' || text === '') return '';
    const raw = text.length > RAW_CHARS ? text.trimStart().slice(0, RAW_CHARS) : text;
    const even = PLAIN.test(raw) ? raw.replace(BLANKS, ' ') : raw.replace(UNSEEN, '').replace(BLANK, ' ').replace(PILED, '$1');
    return cut(even.trim(), max);
  }

  function slug(text, max = SLUG_CHARS) {
    const plain = text.normalize('NFKD').replace(/[\u0300-\u036f]/g, '').normalize('NFC').toLowerCase();
    const words = plain.replace(/[^\p{L}\p{N}\p{M}]+/gu, '_').replace(/^_+|_+$/g, '');
    if (words.length <= max) return words;
    const end = words.lastIndexOf('_', max);
    return words.slice(0, end > max / 2 ? end : max).replace(/[\ud800-\udbff]$/, '').replace(/_+$/, '');
  }

  // userName, user-name and user_name are two words.
  function spoken(token) {
    return clean(token.slice(0, 200).replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(JOINTS, ' '), 60);
  }

  Object.assign(view, { clean, slug, spoken });
});
