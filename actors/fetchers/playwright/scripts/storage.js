// Gives a tab the storage that its origin had, before the page's own scripts run.
((kept) => {
  const own = kept[location.origin];
  if (!own || window !== window.top) return;
  const restore = (storage, entries) => {
    if (storage.length) return;
    for (const [name, value] of Object.entries(entries)) storage.setItem(name, value);
  };
  try {
    restore(localStorage, own.local);
    restore(sessionStorage, own.session);
  } catch {
    // a sandboxed document has none
  }
})
