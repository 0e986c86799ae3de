// Says on the page that it is being driven, and hears Esc: a closed tree that nothing of the page reads, writes or clicks. What a page draws
// that looks like it does nothing; whether a page is driven stands in the panel.
weftExecutor.part((executor) => {
  const STYLE = `:host { all: initial !important; position: fixed !important; inset: 0 !important; z-index: 2147483647 !important; pointer-events: none !important; }
    .edge { position: absolute; inset: 0; border: 3px solid #1f6feb; box-sizing: border-box; }
    .words { position: absolute; right: 12px; bottom: 12px; padding: 6px 12px; border-radius: 6px; font: 600 13px/1.4 system-ui, sans-serif; background: #0b3d91; color: #fff; }`;
  const HEARTBEAT_MS = 10_000;
  const marks = new WeakSet();
  let mark = null, beating = 0;

  function show() {
    if (mark?.isConnected) return {};
    mark ??= made();
    document.documentElement.append(mark);
    if (!beating) {
      beating = setInterval(() => send('alive'), HEARTBEAT_MS);
      addEventListener('keydown', heard, true);
    }
    return {};
  }

  function made() {
    const host = document.createElement('div'); // what has a name of its own a page may define, and look into
    host.setAttribute('data-weft-mark', '');
    host.setAttribute('aria-hidden', 'true'); // the panel tells it to whoever does not see
    const root = host.attachShadow({ mode: 'closed' }), sheet = new CSSStyleSheet();
    const edge = document.createElement('div'), words = document.createElement('div');
    sheet.replaceSync(STYLE);
    root.adoptedStyleSheets = [sheet];
    edge.className = 'edge';
    words.className = 'words';
    words.textContent = 'Weft is at work here. Esc stops it.';
    root.append(edge, words);
    marks.add(host);
    return host;
  }

  function hidden({ away }) {
    if (away) mark?.remove();
    else if (beating) show();
    return {};
  }

  function unmark() {
    mark?.remove();
    mark = null;
    clearInterval(beating);
    beating = 0;
    removeEventListener('keydown', heard, true);
  }

  // A key that a person pressed: what a page makes up is no wish of anybody's.
  function heard(event) {
    if (event.key !== 'Escape' || !event.isTrusted) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    executor.turn += 1;
    unmark();
    send('stop');
  }

  function send(type) {
    try {
      chrome.runtime.sendMessage({ type })?.catch(() => unmark());
    } catch {
      unmark(); // the extension is gone
    }
  }

  Object.assign(executor, { show, unmark, hidden, isMark: (node) => marks.has(node) });
});
