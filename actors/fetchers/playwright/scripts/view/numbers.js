// Numbers what is known of a page and, once its tree has been read, stamps it with the number, for whoever reads the page beside us.
// The truth is what we know of the nodes, never the attribute: a page that takes it away, copies it or writes its own changes nothing.
weft.part((view) => {
  const NAME = 'data-llm-id', MANY_TIMES = 20, MANY_COPIES = 2000, MANY_NUMBERS = 20_000;
  const known = view.known;
  known.stamped ??= new WeakMap();
  known.others ??= new WeakMap();

  // The number of a find, or of its entry.
  function numberOf(one) {
    return (one.entry ?? one).number;
  }

  // The number of an element that is nothing to act on: words, of which each piece has its own, a heading, a picture. It has it for as
  // long as its node stands.
  function numberOfOther(element, piece = 0) {
    const entry = piece ? null : known.owners.get(element);
    if (entry) return entry.number;
    if (!known.others.has(element)) known.others.set(element, new Map());
    const pieces = known.others.get(element);
    if (!pieces.has(piece)) number(element, pieces, piece);
    return pieces.get(piece).number;
  }

  function number(element, pieces, piece) {
    const other = { ref: new WeakRef(element), number: known.next++ };
    pieces.set(piece, other);
    known.byNumber.set(String(other.number), other);
    if (known.byNumber.size > MANY_NUMBERS) forget();
  }

  function forget() {
    for (const [number, { id, ref }] of known.byNumber) if (!id && !ref.deref()?.isConnected) known.byNumber.delete(number);
  }

  // What has a number.
  function numbered(id) {
    return known.byNumber.get(String(id)) ?? null;
  }

  function isStamped(element, entry) {
    return view.attribute(element, NAME) === String(entry.number);
  }

  // A page that takes the attribute away again and again gets its way.
  function stamp(element, entry) {
    if (isStamped(element, entry)) return;
    const stamped = known.stamped.get(element);
    const times = stamped?.entry === entry ? stamped.times + 1 : 1;
    if (times > MANY_TIMES) return;
    known.stamped.set(element, { entry, times });
    view.setAttribute(element, NAME, String(entry.number));
  }

  function stampAll(finds) {
    if (known.stamping) for (const { element, entry } of finds) stamp(element, entry);
  }

  // Has the numbers stand on the page from now on; until then the page sees nothing of us.
  function beginStamping() {
    if (known.stamping) return { done: true };
    known.stamping = true;
    for (const entry of known.byId.values()) {
      const element = entry.ref?.deref();
      if (element?.isConnected) stamp(element, entry);
    }
    return { done: true };
  }

  // Puts right what a page did to the attribute of one element.
  function restamp(element) {
    const entry = known.owners.get(element);
    if (entry) stamp(element, entry);
    else if (view.attribute(element, NAME) !== null) view.removeAttribute(element, NAME);
  }

  // Takes the numbers off the copies in what was added.
  function unstamp(added) {
    if (view.attribute(added, NAME) !== null) restamp(added);
    const copies = view.findIn(added, `[${NAME}]`);
    for (let index = 0; index < copies.length && index < MANY_COPIES; index++) restamp(copies[index]);
  }

  const WORDS = new Set(['text', 'h', 'img']);

  // The same as long as nothing to act on has changed, wherever it stands (001: interactiveTreeHash).
  function treeHash(nodes) {
    return view.sha256(JSON.stringify(nodes.map(({ i, r, n, v, s }) => [WORDS.has(r) ? '' : i, r, n ?? '', v ?? '', s ?? '']))).slice(0, 32);
  }

  Object.assign(view, { STAMP: NAME, numberOf, numberOfOther, numbered, stampAll, beginStamping, restamp, unstamp, treeHash });
});
