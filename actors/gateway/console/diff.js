// Two texts beside each other, line by line: what came, what went, and where they agree.
import { html, useMemo } from './htm.js';

const MAX_CELLS = 4_000_000;
const AROUND = 3;

// The longest lines in common (LCS) as rows of [kind, line]; kind is ' ', '-' or '+'. What is too long is told as one block for another.
export function diffLines(before, after) {
  let start = 0, ends = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  while (ends < before.length - start && ends < after.length - start && before.at(-1 - ends) === after.at(-1 - ends)) ends += 1;
  const old = before.slice(start, before.length - ends), now = after.slice(start, after.length - ends);
  const same = (line) => [' ', line];
  return [...before.slice(0, start).map(same), ...middle(old, now), ...before.slice(before.length - ends).map(same)];
}

function middle(old, now) {
  const wide = now.length + 1;
  if (old.length * now.length > MAX_CELLS) return [...old.map((line) => ['-', line]), ...now.map((line) => ['+', line])];
  const common = new Uint32Array((old.length + 1) * wide);
  for (let row = old.length - 1; row >= 0; row -= 1) {
    for (let column = now.length - 1; column >= 0; column -= 1) {
      const below = common[(row + 1) * wide + column], right = common[row * wide + column + 1];
      common[row * wide + column] = old[row] === now[column] ? common[(row + 1) * wide + column + 1] + 1 : Math.max(below, right);
    }
  }
  const rows = [];
  for (let row = 0, column = 0; row < old.length || column < now.length;) {
    if (row < old.length && column < now.length && old[row] === now[column]) {
      rows.push([' ', old[row]]);
      row += 1;
      column += 1;
    } else if (column === now.length || (row < old.length && common[(row + 1) * wide + column] >= common[row * wide + column + 1])) {
      rows.push(['-', old[row]]);
      row += 1;
    } else {
      rows.push(['+', now[column]]);
      column += 1;
    }
  }
  return rows;
}

// The rows that changed with a few around each; a number stands for so many rows that are left out.
function shortened(rows) {
  const near = new Uint8Array(rows.length);
  rows.forEach(([kind], place) => kind !== ' ' && near.fill(1, Math.max(place - AROUND, 0), place + AROUND + 1));
  const shown = [];
  rows.forEach((row, place) => {
    if (near[place]) shown.push(row);
    else if (typeof shown.at(-1) === 'number') shown[shown.length - 1] += 1;
    else shown.push(1);
  });
  return shown;
}

const WORDS = { '-': 'gone: ', '+': 'new: ' };
const KINDS = { '-': 'gone', '+': 'new', ' ': '' };

export function Diff({ before, after }) {
  const rows = useMemo(() => diffLines(before.split('\n'), after.split('\n')), [before, after]);
  const count = (wanted) => rows.filter(([kind]) => kind === wanted).length;
  const came = count('+'), went = count('-');
  if (!came && !went) return html`<p class="empty">Both say the same.</p>`;
  return html`<p role="status">${came} ${came === 1 ? 'line' : 'lines'} new, ${went} gone.</p>
    <div class="diff" tabindex="0" role="region" aria-label="Lines that differ"><ol>${shortened(rows).map((row) => (typeof row === 'number'
      ? html`<li class="gap">${row} ${row === 1 ? 'line is' : 'lines are'} the same</li>`
      : html`<li class=${KINDS[row[0]]}><span aria-hidden="true">${row[0]}</span><span class="sr">${WORDS[row[0]]}</span>${row[1]}</li>`))}</ol></div>`;
}
