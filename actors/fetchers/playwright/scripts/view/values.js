// Tells what fields hold, and hides what is secret before it leaves the page.
weft.part((view) => {
  const MASK = '********', CHARS = 200, OPTIONS = 20, OPTION_CHARS = 60;
  const SECRET_PARTS = /^(?:current-password|new-password|one-time-code|cc-.+)$/;
  const SECRET = new RegExp([
    'pass(?:word|wort|wd|code|phrase)', 'pwd', 'kennwort', 'contraseñ', 'mot de passe', 'senha', 'парол', '密码', '密碼', 'パスワード', '비밀번호',
    'secret', 'token', 'api.?key', 'access.?key', 'private.?key', 'license.?key', 'credential', '\\botp\\b', '\\b2fa\\b', '\\bmfa\\b', '\\btotp\\b',
    'one.?time', '(?:verification|security|recovery|backup|auth\\w*|sms).?code', '\\bpin\\b', 'pin.?code', '\\bcv[vc]2?\\b', '\\bcsc\\b',
    'card.?(?:number|no\\b)', 'kartennummer', 'credit.?card', '\\biban\\b', 'account.?number', 'routing.?number', '\\bssn\\b', 'social.?security',
    'seed.?phrase', 'mnemonic', 'passport',
  ].join('|'), 'i');
  const TOKENS = [
    /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/, /\b(?:sk|pk|rk|ghp|gho|ghs|ghu|glpat|xox[abprs]|hf|npm|shpat|dop_v1|whsec)[-_][\w-]{12,}/,
    /\bgithub_pat_\w{20,}/, /\bAKIA[0-9A-Z]{12,}/, /\bAIza[\w-]{30,}/, /-----BEGIN [A-Z ]*PRIVATE KEY/,
  ];
  const EVERY_TOKEN = TOKENS.map((token) => new RegExp(token, 'g')), LEAST_TOKEN = 15;
  const OPAQUE = /^(?=.*\d)(?=.*[a-z])[\w+/=-]{32,}$/i;

  function isCard(text) {
    const digits = text.replace(/[ -]/g, '');
    if (!/^\d{13,19}$/.test(digits)) return false;
    let sum = 0;
    for (let index = 0; index < digits.length; index++) {
      const digit = Number(digits[digits.length - 1 - index]) * (index % 2 + 1);
      sum += digit > 9 ? digit - 9 : digit;
    }
    return sum % 10 === 0;
  }

  function looksSecret(value) {
    const text = value.slice(0, 4000).trim();
    return TOKENS.some((token) => token.test(text)) || OPAQUE.test(text) || isCard(text);
  }

  function isSecret(element, label) {
    if (element.type === 'password') return true;
    const purpose = (view.attribute(element, 'autocomplete') ?? '').toLowerCase().split(/\s+/);
    if (purpose.some((part) => SECRET_PARTS.test(part) && part !== 'cc-name' && part !== 'cc-type')) return true;
    if (view.wasSecret.has(element)) return true;
    const names = ['name', 'id', 'placeholder', 'aria-label', 'data-testid'].map((name) => view.spoken(view.attribute(element, name) ?? ''));
    if (SECRET.test(`${label} ${names.join(' ')}`)) return true;
    return getComputedStyle(element).webkitTextSecurity !== 'none';
  }

  // What a field holds; of one that is drawn by the page what is drawn where it `stands`.
  function raw(element, kind, stand) {
    if (kind === 'file') return [...(element.files ?? [])].map((file) => file.name).join(', ');
    if (element instanceof HTMLSelectElement) return [...element.selectedOptions].slice(0, OPTIONS).map((one) => view.clean(one.label)).join(', ');
    if (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) return element.value || (stand ? view.textOf(stand, CHARS, element) : '');
    if (kind === 'editor') return view.textOf(element, CHARS);
    return view.attribute(element, 'aria-valuetext') ?? view.attribute(element, 'aria-valuenow') ?? (kind === 'select' || kind === 'input' ? view.textOf(element, CHARS) : '');
  }

  function valueOf(element, kind, label, stand) {
    if (element.type === 'password') view.wasSecret.add(element); // it stays one when it is made readable
    if (kind === 'checkbox' || kind === 'radio' || kind === 'button' || kind === 'link') return '';
    const value = raw(element, kind, stand);
    if (!value) return '';
    return isSecret(element, label) || looksSecret(value) ? MASK : view.clean(value, CHARS);
  }

  // Words without what looks like a key in them.
  function unsecret(text) {
    return text.length < LEAST_TOKEN ? text : EVERY_TOKEN.reduce((left, token) => left.replace(token, MASK), text);
  }

  function optionsOf(element) {
    if (!(element instanceof HTMLSelectElement)) return [];
    const options = [];
    for (let index = 0; index < element.options.length && options.length < OPTIONS; index++) {
      const words = view.clean(element.options[index].label, OPTION_CHARS);
      if (words) options.push(words);
    }
    if (element.options.length > OPTIONS) options.push(`… (${element.options.length})`);
    return options;
  }

  Object.assign(view, { valueOf, optionsOf, unsecret });
});
