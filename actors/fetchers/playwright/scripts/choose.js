// Chooses an option of a list by its value or by what it says; in a list of many it is chosen beside the others.
(list, wanted) => {
  const MANY = 30;
  const plain = (text) => String(text ?? '').replace(/\s+/g, ' ').trim();
  const options = [...list.options];
  const result = (problem, chosen = '') => ({
    problem, chosen, options: options.slice(0, MANY).map((one) => plain(one.label).slice(0, 60)),
  });
  if (!list.isConnected) return result('gone');
  if (list.matches(':disabled')) return result('disabled');
  const lower = plain(wanted).toLowerCase();
  const found = options.find((one) => one.value === wanted)
    ?? options.find((one) => plain(one.label) === plain(wanted))
    ?? options.find((one) => plain(one.label).toLowerCase() === lower || one.value.toLowerCase() === lower);
  if (!found) return result('missing');
  if (found.disabled || found.parentElement.disabled) return result('option');
  if (!found.selected) {
    list.focus({ preventScroll: true });
    found.selected = true;
    for (const name of ['input', 'change']) list.dispatchEvent(new Event(name, { bubbles: true, composed: true }));
  }
  return result('', plain(found.label));
}
