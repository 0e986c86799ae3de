// Gives a tab the session storage that its origin had, before the page's own scripts run, once.
((kept) => {
  const own = kept[location.origin];
  try {
    if (!own || sessionStorage.length) return;
    for (const [name, value] of Object.entries(own)) sessionStorage.setItem(name, value);
  } catch {
    // an opaque origin has none
  }
})
