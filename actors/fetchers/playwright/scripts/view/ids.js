// Gives every element an id that lasts: while its node stands, and when an equal one is drawn in its place.
// A node that shows something else than before is another element; an id is never given to a second one.
weft.part((view) => {
  const MANY_LAPSED = 4000, CONTEXT_CHARS = 24, REGION_CHARS = 20, FRAME_CHARS = 20;
  const KEPT_NAMES = ['data-testid', 'data-test', 'data-cy', 'data-qa', 'name'];
  const known = Object.hasOwn(globalThis, '__weftView') ? globalThis.__weftView : begin();
  let address;
  Object.assign(view, { known, wasSecret: known.secret });

  function begin() {
    const page = Array.from(crypto.getRandomValues(new Uint8Array(6)), (byte) => byte.toString(36)).join('');
    return globalThis.__weftView = {
      page, snapshots: 0, owners: new WeakMap(), byId: new Map(), numbers: new Map(), secret: new WeakSet(), clickable: new WeakSet(), seeded: false,
      next: 1, byNumber: new Map(), fresh: new Map(), placeholders: new WeakMap(),
    };
  }

  const here = () => (address ??= location.pathname + location.search);
  const blurred = (text) => text.replace(/\d+(?:[.,:]\d+)*/g, '#');
  const stem = (text) => blurred(text.toLowerCase()).replace(/[^\p{L}#]+/gu, ' ').trim();

  function strong(element, kind) {
    const parts = [];
    for (const name of KEPT_NAMES) {
      const token = view.attribute(element, name);
      if (token && token.length <= 100) parts.push(`${name}=${token}`);
    }
    const id = view.attribute(element, 'id');
    if (id && id.length <= 100 && !/\d/.test(id) && !view.generated(id)) parts.push(`id=${id}`);
    if ((kind === 'radio' || kind === 'checkbox') && element instanceof HTMLInputElement) parts.push(`value=${element.value.slice(0, 60)}`);
    return parts.join('&');
  }

  function signature(element, kind, label, region) {
    const row = view.rowOf(element);
    return {
      kind, label, region, strong: strong(element, kind), context: row.name, key: row.key, group: row.group,
      href: kind === 'link' ? (element.pathname ?? '') + (element.search ?? '') : '', place: view.placeOf(element), page: here(),
    };
  }

  const differ = (one, other) => one !== '' && other !== '' && one !== other;
  const isBare = (sig) => sig.group !== '' && sig.context === '' && sig.key === '' && sig.strong === '';

  // Whether a node that stood before shows something else now.
  function isAnother(old, now, peers) {
    if (old.kind !== now.kind || differ(old.strong, now.strong) || differ(old.context, now.context)) return true;
    if (differ(old.key, now.key) && !(old.context && old.context === now.context)) return true;
    if (old.label === now.label) return false;
    if (old.page !== now.page && !now.strong) return true;
    if (old.href !== now.href && old.href && now.href) return true;
    return isBare(now) && tellsRow(old, now, peers);
  }

  // Whether the label is all that tells a row from its peers, so that another label is another row.
  function tellsRow(old, now, peers) {
    if (peers.moved.has(now.group) || said(now.group).has(now.label)) return true;
    if (now.kind !== 'link' && now.group.endsWith('>0')) return false; // of a bar of buttons
    return stem(old.label) !== stem(now.label) || (said(now.group).stems.get(stem(now.label)) ?? 0) > 1;
  }

  // What the rows of a list said before, those that are gone with them.
  function said(group) {
    if (!known.said.has(group)) {
      const labels = new Set();
      labels.stems = new Map();
      for (const { sig } of known.byId.values()) {
        if (sig.group !== group || labels.has(sig.label)) continue;
        labels.add(sig.label);
        labels.stems.set(stem(sig.label), (labels.stems.get(stem(sig.label)) ?? 0) + 1);
      }
      known.said.set(group, labels);
    }
    return known.said.get(group);
  }

  // In which lists more than one row says something else.
  function peersOf(finds) {
    const changed = new Map();
    known.said = new Map();
    for (const { entry, sig } of finds)
      if (entry && isBare(sig) && entry.sig.label !== sig.label) changed.set(sig.group, (changed.get(sig.group) ?? 0) + 1);
    return { moved: new Set([...changed].filter(([, count]) => count > 1).map(([group]) => group)) };
  }

  function take(find, entry) {
    find.entry = entry;
    entry.ref = new WeakRef(find.element);
    known.owners.set(find.element, entry);
  }

  function grouped(items, key) {
    const groups = new Map();
    for (const item of items) {
      const name = key(item.sig);
      if (name === '') continue;
      if (groups.has(name)) groups.get(name).push(item);
      else groups.set(name, [item]);
    }
    return groups;
  }

  // Those that went last: the same thing may have had other ids before.
  function latest(entries) {
    const last = Math.max(...entries.map((entry) => entry.seen));
    return entries.filter((entry) => entry.seen === last);
  }

  // Gives lapsed ids to those that are the same by a key: one to one, or as many to as many in their order.
  function match(finds, lapsed, key, { several = false, fits = () => true } = {}) {
    const old = grouped([...lapsed], key);
    for (const [name, news] of grouped(finds.filter((find) => !find.entry), key)) {
      const former = latest(old.get(name) ?? []);
      if (former.length !== news.length || (news.length > 1 && !several)) continue;
      news.forEach((find, index) => {
        if (!fits(former[index].sig, find.sig)) return;
        take(find, former[index]);
        lapsed.delete(former[index]);
      });
    }
  }

  const joined = (...parts) => parts.join('\u0001');
  const whole = (sig) => joined(sig.kind, sig.strong, sig.label, sig.context, sig.key, sig.region, sig.href);
  const keyless = (sig) => joined(sig.kind, sig.strong, sig.label, sig.context, sig.region, sig.href);
  const unlinked = (sig) => (isBare(sig) && sig.kind === 'link' ? '' : joined(sig.kind, sig.strong, sig.label, sig.context, sig.region));
  const named = (sig) => (sig.strong && !(sig.group && !sig.context && !sig.key) ? joined(sig.kind, sig.strong, sig.context, sig.key) : '');
  const counted = (sig) => (sig.context || sig.key ? joined(sig.kind, sig.strong, stem(sig.label), sig.context, sig.key, sig.region) : '');
  const placed = (sig) => joined(sig.kind, sig.place, sig.region, sig.context, sig.strong, sig.page);

  function isLike(old, now) {
    if (old.label === now.label) return true;
    const before = stem(old.label), after = stem(now.label);
    return before !== '' && (before === after || after.startsWith(`${before} `) || before.startsWith(`${after} `));
  }

  function lapsedOf(finds) {
    const held = new Set(finds.map((find) => find.entry));
    const lapsed = new Set();
    for (const entry of known.byId.values()) if (!held.has(entry) && !entry.ref?.deref()?.isConnected) lapsed.add(entry);
    return lapsed;
  }

  function settle(finds) {
    for (const find of finds) find.entry = known.owners.get(find.element);
    const peers = peersOf(finds);
    for (const find of finds) {
      if (!find.entry || !isAnother(find.entry.sig, find.sig, peers)) continue;
      find.entry.ref = undefined;
      known.owners.delete(find.element);
      find.entry = undefined;
    }
    if (finds.every((find) => find.entry)) return;
    const lapsed = lapsedOf(finds);
    if (!lapsed.size) return;
    match(finds, lapsed, whole, { several: true });
    match(finds, lapsed, keyless);
    match(finds, lapsed, unlinked);
    match(finds, lapsed, named);
    match(finds, lapsed, counted);
    match(finds, lapsed, placed, { fits: (old, now) => !isBare(now) && isLike(old, now) });
    const left = grouped(finds.filter((find) => !find.entry), (sig) => (isBare(sig) ? sig.group : ''));
    const alone = finds.filter((find) => !find.entry && left.get(find.sig.group)?.length === 1);
    match(alone, lapsed, placed, { fits: isLike });
  }

  function isFree(id) {
    const holder = known.byId.get(id);
    if (!holder) return true;
    if (holder.ref?.deref()?.isConnected || holder.sig.page === here()) return false;
    known.numbers.clear();
    drop(holder); // of a view of the application that was left
    return true;
  }

  function baseOf(sig) {
    const words = view.slug(sig.label, sig.kind === 'frame' ? FRAME_CHARS : undefined) || view.slug(sig.strong.replace(/^[^=]*=|&.*$/g, '')) || 'unnamed';
    return `${sig.kind}_${words}`;
  }

  function nameFor(sig, { size, regions }) {
    const base = baseOf(sig);
    const row = view.slug(sig.context, CONTEXT_CHARS), region = regions.size > 1 ? view.slug(sig.region, REGION_CHARS) : '';
    const names = [];
    if (size > 1 && row) names.push(`${base}_${row}`);
    if (size > 1 && region) names.push(`${base}_${region}`);
    if (size > 1 && row && region) names.push(`${base}_${row}_${region}`);
    if (size === 1 || !names.length) names.push(base);
    const free = names.find(isFree);
    if (free) return free;
    for (let number = known.numbers.get(names[0]) ?? 2; ; number++) {
      if (!isFree(`${names[0]}_${number}`)) continue;
      known.numbers.set(names[0], number);
      return `${names[0]}_${number}`;
    }
  }

  function register(find, id) {
    const entry = { id, sig: find.sig, first: known.snapshots + 1 };
    keep(entry);
    take(find, entry);
  }

  // Keeps an entry by its id and by its number, which no other ever has.
  function keep(entry) {
    entry.number ||= known.next++;
    known.next = Math.max(known.next, entry.number + 1);
    known.byId.set(entry.id, entry);
    known.byNumber.set(String(entry.number), entry);
  }

  function drop(entry) {
    known.byId.delete(entry.id);
    known.byNumber.delete(String(entry.number));
    known.fresh.delete(entry.id);
  }

  // Those that would be called the same are called by what their row says, else by their region, else by number.
  function christen(finds) {
    if (finds.every((find) => find.entry)) return;
    const alike = new Map();
    for (const { sig } of finds) {
      const base = baseOf(sig);
      if (!alike.has(base)) alike.set(base, { size: 0, regions: new Set() });
      alike.get(base).size += 1;
      alike.get(base).regions.add(sig.region);
    }
    for (const find of finds) if (!find.entry) register(find, nameFor(find.sig, alike.get(baseOf(find.sig))));
  }

  function forget() {
    if (known.byId.size <= MANY_LAPSED * 2) return;
    const lapsed = [...known.byId.values()].filter((entry) => !entry.ref?.deref()?.isConnected);
    for (const entry of lapsed.sort((one, other) => one.seen - other.seen).slice(0, -MANY_LAPSED)) drop(entry);
  }

  // Takes what was known of this page before it was loaded again, and the number that is free in its tab.
  function seed({ next, entries }) {
    known.seeded = true;
    known.next = Math.max(known.next, next);
    for (const [id, { number, ...sig }] of entries) if (!known.byId.has(id)) keep({ id, number: Number(number), sig, seen: 0, first: 0 });
  }

  // Gives every find its entry; returns those that are new or look otherwise than when they were last told, which with `untold` happens
  // the next time.
  function assign(finds, { untold = false } = {}) {
    settle(finds);
    christen(finds);
    known.snapshots += 1;
    for (const { entry, sig } of finds) {
      if (!entry.seen || whole(entry.sig) !== whole(sig)) known.fresh.set(entry.id, { ...sig, number: String(entry.number) });
      entry.sig = sig;
      entry.seen = known.snapshots;
    }
    forget();
    view.stampAll(finds);
    view.watch();
    if (untold) return [];
    const fresh = [...known.fresh];
    known.fresh.clear();
    return fresh;
  }

  Object.assign(view, { seed, assign, signature, isAnother });
});
