// A site as it was walked through: its start in the middle, and around it ring by ring what is more links away.
import { html } from './htm.js';
import { link } from './router.js';

const MOST = 600;
const RING = 110;
const LINE = 14;
const BESIDE = 140;
const ABOVE = 24;

// What is drawn: each page below the page whose link led to it first; what none is known of hangs on the start.
function treeOf(items) {
  const nodes = items.slice(0, MOST).map((item) => ({ item, children: [], parent: null, leaves: 1, depth: 0 }));
  const byUrl = new Map(nodes.map((node) => [node.item.url, node]));
  const root = nodes.find((node) => !node.item.depth) ?? nodes[0];
  for (const node of nodes) {
    if (node === root) continue;
    const found = byUrl.get(node.item.foundOn);
    node.known = Boolean(found) && found !== node;
    node.parent = node.known && (found.item.depth ?? 0) < (node.item.depth ?? 0) ? found : root;
    node.parent.children.push(node);
  }
  return root;
}

// The share of the circle that each page has follows from how many ends there are below it.
function placed(root) {
  const order = [root];
  for (const node of order) {
    for (const child of node.children) child.depth = node.depth + 1;
    order.push(...node.children);
  }
  for (const node of [...order].reverse()) node.leaves = node.children.reduce((sum, child) => sum + child.leaves, 0) || 1;
  [root.from, root.to] = [0, 2 * Math.PI];
  for (const node of order) {
    let from = node.from;
    for (const child of node.children) {
      child.from = from;
      from = child.to = from + ((node.to - node.from) * child.leaves) / node.leaves;
    }
  }
  const ring = Math.max(RING, (root.leaves * 9) / (2 * Math.PI));
  for (const node of order) {
    node.angle = (node.from + node.to) / 2 - Math.PI / 2;
    [node.x, node.y] = [Math.cos(node.angle) * ring * node.depth, Math.sin(node.angle) * ring * node.depth];
    node.labelled = (node.to - node.from) * ring * node.depth >= LINE || node === root;
  }
  return order;
}

function boxOf(nodes) {
  const xs = nodes.map((node) => node.x), ys = nodes.map((node) => node.y);
  const left = Math.min(...xs) - BESIDE, top = Math.min(...ys) - ABOVE;
  return [left, top, Math.max(...xs) + BESIDE - left, Math.max(...ys) + ABOVE - top];
}

function wordsOf(item) {
  try {
    const { pathname, search } = new URL(item.url);
    const words = decodeURIComponent(pathname.split('/').filter(Boolean).at(-1) ?? '/') + search;
    return words.length > 18 ? `${words.slice(0, 17)}…` : words;
  } catch {
    return '';
  }
}

function Node({ node }) {
  const { item } = node, left = Math.cos(node.angle) < 0, size = 4.5 + Math.min(Math.sqrt(node.children.length), 6);
  return html`<a href=${link('page', { url: item.url })} tabindex="-1" class=${item.error ? 'bad' : ''}>
    <title>${item.title || item.url}${item.error ? `: ${item.error.code}` : ''}</title>
    <circle cx=${node.x} cy=${node.y} r=${size} />
    ${node.labelled && html`<text x=${node.x + (left && node.depth ? -1 : 1) * (size + 5)} y=${node.y + 4} text-anchor=${left && node.depth ? 'end' : 'start'}>${wordsOf(item)}</text>`}
  </a>`;
}

// A picture for the eye alone: what it says stands in a table beside it.
export function SiteGraph({ items }) {
  if (items.length < 2) return null;
  const order = placed(treeOf(items));
  return html`<figure class="graph" aria-label="The site, by links">
    <svg viewBox=${boxOf(order).map(Math.round).join(' ')} aria-hidden="true">
      ${order.filter((node) => node.parent).map((node) => html`<line x1=${node.parent.x} y1=${node.parent.y} x2=${node.x} y2=${node.y} stroke-dasharray=${node.known ? 'none' : '4 4'} />`)}
      ${order.map((node) => html`<${Node} node=${node} />`)}
    </svg>
    <figcaption class="soft">The start is in the middle; a line is the link by which a page was found, a broken one a site map. ${items.length > MOST && `The first ${MOST} of ${items.length} pages.`}</figcaption>
  </figure>`;
}
