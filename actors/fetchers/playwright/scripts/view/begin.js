// Gathers the parts of the view, which follow one after another: sent by the browser's own protocol into a world of ours, or as
// content scripts of an extension. Every call begins with a view of its own; what lasts stands in `view.known`.
globalThis.weft = (() => {
  const parts = [];

  function part(one) {
    parts.push(one);
  }

  function view() {
    const made = {};
    for (const one of parts) one(made);
    return made;
  }

  function answer(what, args) {
    return view().answer(what, args);
  }

  return { part, view, answer };
})();
