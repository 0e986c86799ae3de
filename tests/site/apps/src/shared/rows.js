// A list that is drawn again and again: by the keys of its items, by their places, or with nothing kept of what was drawn before.
const frame = () => new Promise((done) => requestAnimationFrame(done));

export const START = { items: [], mode: 'keyed', round: 0 };

export function key({ mode, round }, item, index) {
  if (mode === 'keyed') return item.id;
  return mode === 'placed' ? index : `${item.id} ${round}`;
}

// Has a program show what `draw` is called with, and then marks every control with what it really is of.
export function onRows(show) {
  globalThis.draw = async (state) => {
    show(state);
    await frame();
    await frame();
    for (const name of ['add', 'filter', 'order']) document.querySelector(`.${name}`).truth = name;
    document.querySelectorAll('.row').forEach((row, index) => {
      for (const name of ['tick', 'used', 'remove']) row.querySelector(`.${name}`).truth = `${name}:${state.items[index].id}`;
    });
    return document.querySelectorAll('.row').length;
  };
}
