// Dispatches a call to the function of its name.
((view) => {
  function answer(what, { seeds, ...args }) {
    if (what === 'at') return view.at(args.way);
    if (seeds) view.seed(seeds);
    if (!view.known.seeded) return { strange: location.href };
    try {
      return { result: view[what](args) };
    } catch {
      return { failed: true };
    }
  }

  Object.assign(view, { answer });
})
