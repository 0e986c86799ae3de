// Points and clicks: the events that a mouse makes, in their order, on what lies under it. What the page does on the first of them may
// take away what the last was meant for; then there is no last.
weftExecutor.part((executor) => {
  const OVER = ['pointerover', 'pointerenter', 'mouseover', 'mouseenter', 'pointermove', 'mousemove'];
  const LEAVING = new Set(['mouseenter', 'pointerenter']);
  const FOCUSABLE = 'a[href], button, input, select, textarea, [tabindex], [contenteditable=""], [contenteditable="true"], summary';
  const DRAG_STEPS = 8, DRAG_MS = 15;

  function fire(target, type, { x, y }, more = {}) {
    const facts = {
      bubbles: !LEAVING.has(type), cancelable: !LEAVING.has(type), composed: true, view: window, clientX: x, clientY: y,
      screenX: screenX + x, screenY: screenY + y, detail: /click|down|up/.test(type) ? 1 : 0, ...more,
    };
    if (!type.startsWith('pointer')) return target.dispatchEvent(new MouseEvent(type, facts));
    return target.dispatchEvent(new PointerEvent(type, { ...facts, pointerId: 1, pointerType: 'mouse', isPrimary: true }));
  }

  function focusOn(element) {
    const view = weft.view();
    for (let node = element; node; node = view.above(node)) if (view.matches(node, FOCUSABLE)) return (node instanceof HTMLElement ? HTMLElement.prototype : node).focus.call(node, { preventScroll: true });
    document.activeElement?.blur();
  }

  function over(point) {
    for (const type of OVER) fire(point.hit, type, point);
  }

  // Where a link opens a window of its own, which a browser keeps from whoever is no person, its address is handed on instead.
  function newWindow(event) {
    const link = event.composedPath().find((node) => node instanceof HTMLAnchorElement || node instanceof HTMLAreaElement);
    if (!link?.href || !/^https?:/.test(link.href) || !/^_blank$/i.test(link.target || document.querySelector('base')?.target || '')) return '';
    return link.href;
  }

  function press(point, button, count) {
    const more = { button, buttons: button ? 2 : 1, detail: count };
    const down = [fire(point.hit, 'pointerdown', point, more), fire(point.hit, 'mousedown', point, more)];
    if (down[1]) focusOn(point.hit);
    const holds = point.holds();
    if (!holds) return { holds };
    for (const type of ['pointerup', 'mouseup']) fire(point.hit, type, point, { ...more, buttons: 0 });
    return { holds: point.holds(), more: { ...more, buttons: 0 } };
  }

  function click(point, { button = 0, count = 1 } = {}) {
    over(point);
    const { holds, more } = press(point, button, count);
    if (!holds && !point.same()) executor.refuse('MOVED', 'Something else came into its place under the mouse.');
    if (!holds) return { open: '', cut: true }; // a menu that opens under the mouse has had what it waits for
    let open = '';
    const last = (event) => {
      open = event.defaultPrevented ? '' : newWindow(event);
      if (open) event.preventDefault();
    };
    addEventListener('click', last, { once: true });
    fire(point.hit, button ? 'contextmenu' : 'click', point, more);
    removeEventListener('click', last);
    return { open, cut: false };
  }

  // Where a click leads, as far as that stands in the page.
  function leads(hit) {
    const view = weft.view(), link = view.closest(hit, 'a[href], area[href]');
    return String(link?.href ?? view.closest(hit, 'button, input')?.form?.action ?? '').slice(0, 2000);
  }

  async function clicked({ id, selector }) {
    const point = await executor.aim(id, selector), to = leads(point.hit);
    return { ...click(point), leads: to };
  }

  async function doubleClicked({ id, selector }) {
    const point = await executor.aim(id, selector);
    const first = click(point);
    if (first.cut || !point.holds()) return first;
    const second = click(point, { count: 2 });
    if (!second.cut && point.holds()) fire(point.hit, 'dblclick', point, { detail: 2 });
    return second;
  }

  async function rightClicked({ id, selector }) {
    return click(await executor.aim(id, selector), { button: 2 });
  }

  async function hovered({ id, selector }) {
    over(await executor.aim(id, selector));
    return {};
  }

  // A point that the server has chosen by what it was shown: whatever lies there is what was meant.
  function at(x, y) {
    const view = weft.view(), hit = view.hit(x, y);
    if (!hit) executor.refuse('HIDDEN', 'There is nothing at this point of the window.');
    const says = view.textOf(hit, 100);
    const holds = () => hit.isConnected && weft.view().textOf(hit, 100) === says;
    return { x, y, hit, element: hit, target: hit, same: () => true, holds };
  }

  function clickedAt({ x, y }) {
    return click(at(x, y));
  }

  // -- dragging ------------------------------------------------------------------------------------------------------

  function draggable(hit) {
    for (let node = hit; node; node = weft.view().above(node)) if (node.draggable === true) return node;
    return null;
  }

  // As HTML has it: what is dragged carries its data from event to event.
  async function carry(source, from, to) {
    const dataTransfer = new DataTransfer();
    const tell = (target, type, point) => target.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, composed: true, view: window, clientX: point.x, clientY: point.y, dataTransfer }));
    if (!tell(source, 'dragstart', from)) return;
    tell(source, 'drag', from);
    await executor.pause(DRAG_MS);
    tell(to.hit, 'dragenter', to);
    const taken = !tell(to.hit, 'dragover', to);
    if (taken) tell(to.hit, 'drop', to);
    tell(source, 'dragend', to);
  }

  // What a mouse selects that is drawn over words.
  function sweep(from, to) {
    const [start, end] = [from, to].map(({ x, y }) => document.caretRangeFromPoint(x, y));
    if (start && end) document.getSelection().setBaseAndExtent(start.startContainer, start.startOffset, end.startContainer, end.startOffset);
  }

  async function drag(from, to) {
    const { turn } = executor, view = weft.view(), held = { button: 0, buttons: 1 };
    over(from);
    const source = draggable(from.hit);
    const down = [fire(from.hit, 'pointerdown', from, held), fire(from.hit, 'mousedown', from, held)];
    if (source && down[1]) {
      await carry(source, from, to);
    } else {
      for (let step = 1; step <= DRAG_STEPS; step++) {
        const point = { x: from.x + ((to.x - from.x) * step) / DRAG_STEPS, y: from.y + ((to.y - from.y) * step) / DRAG_STEPS };
        const hit = view.hit(point.x, point.y) ?? from.hit;
        for (const type of ['pointermove', 'mousemove']) fire(hit, type, point, held);
        await executor.pause(DRAG_MS);
        if (executor.turn !== turn) break;
      }
      if (down[1]) sweep(from, to);
    }
    const end = view.hit(to.x, to.y) ?? from.hit;
    for (const type of ['pointerup', 'mouseup']) fire(end, type, to, { button: 0, buttons: 0 });
    return {};
  }

  async function dragged({ id, selector, to, from, point }) {
    const start = from ? at(...from) : await executor.aim(id, selector);
    if (point) return drag(start, { x: point[0], y: point[1], hit: weft.view().hit(...point) ?? start.hit });
    const end = await executor.aim(to);
    // Bringing the end into the window may have moved the beginning.
    const { left, top, right, bottom } = weft.view().box(start.target);
    return drag({ ...start, x: (left + right) / 2, y: (top + bottom) / 2 }, end);
  }

  Object.assign(executor, { click, clicked, doubleClicked, rightClicked, hovered, clickedAt, dragged, focusOn });
});
