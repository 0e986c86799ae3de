// Runs before the page's own scripts and counts what they have put off, so that nobody leaves before it is done.
(() => {
  const TAKEOVER_MS = 2000, SHOWN_MS = 300;
  const SHORT_MS = 600, SHORT_DEPTH = 8, LATE_MS = 3000, LATE_DEPTH = 3, MANY = 60;
  const view = globalThis;
  const { apply } = Reflect;
  const now = performance.now.bind(performance);
  const timers = new Map(), frames = new Set();
  let depth = 0, counted = 0;

  function later(real) {
    return function setTimeout(callback, delay, ...given) {
      if (typeof callback !== 'function') return apply(real, view, [callback, delay, ...given]);
      const wait = Math.max(Number(delay) || 0, 0), own = depth + 1;
      const id = apply(real, view, [function (...more) {
        timers.delete(id);
        const former = depth;
        depth = own;
        try {
          return apply(callback, this, more);
        } finally {
          depth = former;
        }
      }, delay, ...given]);
      const matters = wait <= SHORT_MS ? own < SHORT_DEPTH : wait <= LATE_MS && own < LATE_DEPTH;
      if (matters && counted < MANY) {
        counted += 1;
        timers.set(id, { due: now() + wait, late: wait > SHORT_MS });
      }
      return id;
    };
  }

  function once(ask, cancel) {
    const real = view[ask], undo = view[cancel];
    if (!real) return;
    view[ask] = { [ask](callback, ...given) {
      if (typeof callback !== 'function') return apply(real, view, [callback, ...given]);
      const id = apply(real, view, [function (...more) {
        frames.delete(ask + id);
        return apply(callback, this, more);
      }, ...given]);
      frames.add(ask + id);
      return id;
    } }[ask];
    view[cancel] = { [cancel](id) {
      frames.delete(ask + id);
      return apply(undo, view, [id]);
    } }[cancel];
  }

  // A page that lets a service worker in often shows nothing until that has taken over, of which the network tells nothing.
  function takeover(container) {
    if (!container?.register) return;
    const real = container.register, wait = view.setTimeout;
    container.register = { register(...given) {
      frames.add('worker');
      apply(wait, view, [() => frames.delete('worker'), TAKEOVER_MS]);
      return apply(real, container, given);
    } }.register;
    container.addEventListener('controllerchange', () => apply(wait, view, [() => frames.delete('worker'), SHOWN_MS]));
  }

  takeover(view.navigator.serviceWorker);
  view.setTimeout = later(view.setTimeout);
  for (const name of ['clearTimeout', 'clearInterval']) {
    const real = view[name];
    view[name] = { [name](id) {
      timers.delete(id);
      return apply(real, view, [id]);
    } }[name];
  }
  once('requestAnimationFrame', 'cancelAnimationFrame');
  once('requestIdleCallback', 'cancelIdleCallback');

  Object.defineProperty(view, Symbol.for('weft'), { value() {
    const at = now();
    let soon = -1, late = -1;
    for (const timer of timers.values()) {
      const left = Math.max(timer.due - at, 0);
      if (timer.late) late = late < 0 ? left : Math.min(late, left);
      else soon = soon < 0 ? left : Math.min(soon, left);
    }
    return { soon, late, frames: frames.size, chars: document.body ? document.body.innerText.trim().length : 0 };
  } });
})()
