// Answers what is asked of the document.
((view) => {
  function answer(what, { seeds, ...args }) {
    if (what === 'at') return view.at(args.way);
    if (seeds) view.seed(seeds);
    if (!view.known.seeded) return { strange: location.href };
    return { told: view[what](args) };
  }

  Object.assign(view, { answer });
})
