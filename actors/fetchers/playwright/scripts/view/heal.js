// Finds what stands now for an element that is gone, where that is beyond doubt. Nothing is a better answer than something else: who
// asks for an element looks again when there is none, and never learns that another was clicked.
weft.part((view) => {
  const LEAST = 0.75, AHEAD = 0.1, LIKE = 0.6, FAR = 400;
  const WEIGHTS = { label: 0.5, strong: 0.2, context: 0.15, href: 0.1, region: 0.08, group: 0.05, place: 0.08 };
  const GRAVE = /(?<!\p{L})(?:delet|remov|eras|discard|destroy|cancel|unsubscrib|deactivat|terminat|pay|buy|purchas|order|transfer|send|publish|confirm|lösch|entfern|kauf|bezahl|bestell|send|supprim|effac|achet|pay|annul|elimin|borr|compr|pag|acquist|cancell|apag|verwijder|koop|betaal)/iu;
  const known = view.known;
  const words = (text) => text.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean);

  // How alike two names are: what share of their words they have in common.
  function alike(one, other) {
    if (one === other) return 1;
    const former = words(one), latter = words(other);
    if (!former.length || !latter.length) return 0;
    if (former.join(' ') === latter.join(' ')) return 1;
    const common = former.filter((word) => latter.includes(word)).length;
    return (2 * common) / (former.length + latter.length);
  }

  // How sure it is that two signatures are of one thing, from 0 to 1; of what neither says nothing follows.
  function likeness(old, now) {
    if (old.kind !== now.kind) return 0;
    for (const name of ['strong', 'context', 'key']) if (old[name] && now[name] && old[name] !== now[name]) return 0;
    const named = alike(old.label ?? '', now.label);
    if ((old.label || now.label) && named < LIKE) return 0;
    if (named < 1 && (GRAVE.test(old.label) || GRAVE.test(now.label))) return 0;
    let sum = 0, most = 0;
    for (const [name, weight] of Object.entries(WEIGHTS)) {
      const former = old[name] ?? '', latter = now[name] ?? '';
      if (!former && !latter) continue;
      most += weight;
      sum += weight * (name === 'label' ? named : former === latter ? 1 : 0);
    }
    return most ? sum / most : 0;
  }

  // Of finds that are not known to be others, the one that an element is now; `facts` are its last signature, or what of it is known:
  // kind, label, region, context, and `xy` where it stood.
  function best(facts, finds) {
    const scored = [];
    for (const find of finds) {
      const score = likeness(facts, find.sig) * nearness(facts.xy, find.box);
      if (score >= LEAST - AHEAD) scored.push({ find, score: Math.round(score * 1000) / 1000 });
    }
    scored.sort((one, other) => other.score - one.score);
    const [first, second] = scored;
    return first && first.score >= LEAST && first.score - (second?.score ?? 0) >= AHEAD ? first : null;
  }

  function nearness(xy, box) {
    if (!xy || !box) return 1;
    const far = Math.hypot((box.left + box.right) / 2 - xy[0], (box.top + box.bottom) / 2 - xy[1]);
    return 1 - 0.2 * Math.min(1, far / FAR);
  }

  // What an id or a number that is gone stands for now, with how sure that is. What stood beside it before is something else.
  function heal(what, finds) {
    if (typeof what !== 'string') return best(what, finds);
    const gone = known.byId.get(what) ?? view.numbered(what);
    if (!gone?.sig) return null;
    const match = best(gone.sig, finds.filter(({ entry }) => entry !== gone && entry.first > gone.seen));
    if (match) gone.healed = match.find.entry;
    return match;
  }

  Object.assign(view, { heal, likeness });
});
