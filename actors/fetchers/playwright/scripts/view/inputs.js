// Notes which elements the clicks and keys of a person or a driver really reach, and whether the page answers by changing them: it may
// move or cover at the last moment what was meant. Events that a script of the page makes itself are none.
weft.part((view) => {
  const KINDS = ['pointerdown', 'click', 'auxclick', 'dblclick', 'contextmenu', 'focusin', 'keydown', 'drop'], MANY_KEPT = 16, DEEP = 30, MANY_PIECES = 4, ANSWERED_MS = 1000;
  const known = view.known;

  function listen(root) {
    known.inputs ??= [];
    known.listening ??= new WeakSet();
    if (known.listening.has(root)) return;
    known.listening.add(root);
    for (const kind of KINDS) root.addEventListener(kind, note, { capture: true, passive: true });
  }

  function note(event) {
    if (!event.isTrusted) return;
    const path = event.composedPath().slice(0, DEEP), control = path.find((node) => known.owners.has(node));
    const numbers = [...new Set(path.flatMap(numbersOf))];
    known.inputs.push({ at: Date.now(), kind: event.type, numbers, answered: false, ref: new WeakRef(control ?? path[0]) });
    if (known.inputs.length > MANY_KEPT) known.inputs.shift();
  }

  // The numbers that an element has: its own, those of what it was found to have taken the place of, and those of its words.
  function numbersOf(element) {
    const entry = known.owners.get(element), pieces = [...(known.others.get(element)?.values() ?? [])].slice(0, MANY_PIECES);
    const former = entry ? [...known.byId.values()].filter((one) => one.healed === entry) : [];
    return [entry, ...former, ...pieces].filter(Boolean).map((one) => one.number);
  }

  // Notes that the page has changed an element: which answers what has just reached it, or something in it.
  function answerInput(changed) {
    for (const input of known.inputs ?? []) {
      if (input.answered || Date.now() - input.at > ANSWERED_MS) continue;
      const reached = input.ref.deref();
      if (reached && view.isElement(reached) && view.isWithin(changed, reached)) input.answered = true;
    }
  }

  // What was reached lately, the oldest first; of each the innermost number first.
  function inputs(idOf) {
    return (known.inputs ?? []).map(({ at, kind, numbers, answered }) => ({ at, kind, ids: numbers.map(idOf), answered }));
  }

  Object.assign(view, { listen, inputs, answerInput });
});
