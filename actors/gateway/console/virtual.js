// A table of which the rows in view alone are in the document, however many it has: all are of one height.
import { html, useEffect, useRef, useState } from './htm.js';

const OVER = 8;
const HEIGHTS = { wide: 42, phone: 92 };
const phone = matchMedia('(max-width: 44rem)');

function usePhone() {
  const [is, setIs] = useState(phone.matches);
  useEffect(() => {
    const changed = () => setIs(phone.matches);
    phone.addEventListener('change', changed);
    return () => phone.removeEventListener('change', changed);
  }, []);
  return is;
}

// `columns` are {name, cell(row), number, named, width}, with widths as in a grid; those `named` say on a phone, too, what they are; `rowAt(index)` is a row, or nothing while it is not there yet.
// `keyOf(row, index, slots)`: rows of one key are one element, of which there are `slots`; an element that is used again costs far less than a new one.
// `moved(from, to, first)` hears which rows are drawn and which one is the first in view; `place` is that at the beginning.
export function VirtualTable({ caption, columns, count, rowAt, keyOf, moved, place = 0, empty }) {
  const box = useRef(null), frame = useRef(0), height = HEIGHTS[usePhone() ? 'phone' : 'wide'];
  const [first, setFirst] = useState(place);
  useEffect(() => {
    if (box.current && place) box.current.scrollTop = place * height;
    return () => cancelAnimationFrame(frame.current);
  }, [count > 0]);
  const fits = Math.ceil((box.current?.clientHeight || 640) / height);
  const from = Math.max(Math.min(first, count - fits) - OVER, 0), to = Math.min(first + fits + OVER, count);
  useEffect(() => moved?.(from, to, first), [from, to, first, moved]);
  if (!count) return html`<p class="empty">${empty}</p>`;
  const scrolled = () => {
    frame.current ||= requestAnimationFrame(() => {
      frame.current = 0;
      if (!box.current) return;
      const now = Math.floor(box.current.scrollTop / height), focused = document.activeElement?.closest('.virtual-space > *')?.ariaRowIndex - 2;
      if (focused < now || focused > now + fits) box.current.focus({ preventScroll: true }); // its element may become that of another row
      setFirst(now);
    });
  };
  const slots = fits + 2 * OVER, indexes = Array.from({ length: Math.max(to - from, 0) }, (_none, index) => from + index);
  const kind = (column) => (column.number ? 'number' : '');
  return html`<div class="virtual" role="table" aria-label=${caption} aria-rowcount=${count + 1} style=${{ '--columns': columns.map((one) => one.width ?? '1fr').join(' ') }}>
    <div role="rowgroup" class="virtual-head"><div role="row" aria-rowindex="1">${columns.map((column) => html`<span role="columnheader" class=${kind(column)}>${column.name}</span>`)}</div></div>
    <div role="rowgroup" class="virtual-body" tabindex="0" aria-label=${caption} ref=${box} onScroll=${scrolled}>
      <div role="presentation" class="virtual-space" style=${{ height: `${count * height}px` }}>
        ${indexes.map((index) => {
          const row = rowAt(index);
          return html`<div role="row" aria-rowindex=${index + 2} key=${keyOf(row, index, slots)} style=${{ height: `${height}px`, top: `${index * height}px` }}>
            ${columns.map((column) => html`<div role="cell" class=${kind(column)} data-name=${column.named ? column.name : null}>${row ? column.cell(row) : '…'}</div>`)}</div>`;
        })}
      </div>
    </div>
  </div>`;
}
