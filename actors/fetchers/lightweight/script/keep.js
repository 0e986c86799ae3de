// Gives what the page's origin has stored, as far as it may be kept.
(maxChars) => {
  const all = (store) => {
    const found = {};
    let size = 0;
    for (let at = 0; at < store.length; at += 1) {
      const name = store.key(at), value = store.getItem(name);
      size += name.length + value.length;
      if (size > maxChars) { break; }
      found[name] = value;
    }
    return found;
  };
  try {
    return JSON.stringify({ origin: self.origin, local: all(localStorage), session: all(sessionStorage) });
  } catch {
    return 'null';
  }
}
