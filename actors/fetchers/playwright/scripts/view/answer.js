// Dispatches a call to the function of its name.
weft.part((view) => {
  function answer(what, { seeds, ...args }) {
    if (what === 'at') return view.at(args.way);
    if (seeds) view.seed(seeds);
    if (!view.known.seeded) return { strange: location.href };
    try {
      return { result: view[what](args), next: view.known.next };
    } catch {
      return { failed: true };
    }
  }

  Object.assign(view, { answer });
});
