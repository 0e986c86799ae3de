// Draws Markdown as elements, token by token. HTML in it stands there as text, and only http and https are links: nothing is ever set as HTML.
import { html, useMemo } from './htm.js';
import { Lexer, walkTokens } from './marked.js';

const NAMED = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' };
const MAX_CHARS = 400_000, MAX_INLINE = 8_000, INLINE_MS = 500, MAX_CELLS = 200_000;

function plain(text) {
  return text.replace(/&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|(amp|lt|gt|quot|apos|nbsp));/g, (whole, decimal, hex, name) => {
    if (name) return NAMED[name];
    const code = decimal ? Number(decimal) : Number.parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : whole;
  });
}

// The address as the browser reads it, or null for all that is no page of the web.
export function webAddress(text) {
  try {
    const address = new URL(text);
    return ['http:', 'https:'].includes(address.protocol) ? address.href : null;
  } catch {
    return null;
  }
}

export function WebLink({ href, children }) {
  const address = webAddress(href);
  return address ? html`<a href=${address} rel="noopener noreferrer" target="_blank">${children}</a>` : html`<span>${children}</span>`;
}

const inner = (token) => (token.tokens ? token.tokens.map(draw) : plain(token.text ?? token.raw ?? ''));

const DRAWN = {
  space: () => null,
  def: () => null,
  hr: () => html`<hr />`,
  br: () => html`<br />`,
  paragraph: (token) => html`<p>${inner(token)}</p>`,
  blockquote: (token) => html`<blockquote>${inner(token)}</blockquote>`,
  strong: (token) => html`<strong>${inner(token)}</strong>`,
  em: (token) => html`<em>${inner(token)}</em>`,
  del: (token) => html`<del>${inner(token)}</del>`,
  codespan: (token) => html`<code>${token.text}</code>`,
  code: (token) => html`<pre tabindex="0"><code>${token.text}</code></pre>`,
  escape: (token) => token.text,
  link: (token) => html`<${WebLink} href=${plain(token.href)}>${inner(token)}<//>`,
  image: (token) => html`<span class="picture">${plain(token.text) || 'picture'}</span>`,
  checkbox: (token) => (token.checked ? '☑ ' : '☐ '),
  list: (token) => {
    const items = token.items.map((item) => html`<li>${inner(item)}</li>`);
    return token.ordered ? html`<ol start=${token.start || 1}>${items}</ol>` : html`<ul>${items}</ul>`;
  },
  table: (token) => html`<div class="wide" tabindex="0"><table>
    <thead><tr>${token.header.map((cell) => html`<th scope="col">${inner(cell)}</th>`)}</tr></thead>
    <tbody>${token.rows.map((row) => html`<tr>${row.map((cell) => html`<td>${inner(cell)}</td>`)}</tr>`)}</tbody>
  </table></div>`,
  heading: (token) => html`<div class=${`heading depth-${token.depth}`} role="heading" aria-level=${token.level}>${inner(token)}</div>`,
};

function draw(token) {
  return (DRAWN[token.type] ?? inner)(token);
}

// Headings of the page stand below those of the console, and none skips a level.
function levelled(tokens) {
  let above = 2;
  walkTokens(tokens, (token) => {
    if (token.type === 'heading') above = token.level = Math.min(token.depth + 2, above + 1, 6);
  });
  return tokens;
}

// What takes time or room without end: markers of quotes and lists that are nested ever deeper, and tables whose short rows are filled up.
const DEEP = /^(?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])[ \t])){20}|^[ \t]{80,}(?:[-*+]|\d{1,9}[.)])[ \t]/m;
function endless(text) {
  const cells = text.split('\n').map((line) => line.split('|').length - 1).filter(Boolean);
  return DEEP.test(text) || cells.reduce((most, one) => Math.max(most, one), 0) * cells.length > MAX_CELLS;
}

// Blocks that are too long, or come when the time is over, are text as they stand; so is all of a text that nobody has written to be read.
export function tokensOf(text) {
  const plainly = (words) => [{ type: 'text', text: words }];
  if (endless(text)) return [{ type: 'code', text }];
  const lexer = new Lexer({ gfm: true }), until = performance.now() + INLINE_MS;
  lexer.blockTokens(text.replaceAll(/\r\n?/g, '\n'), lexer.tokens);
  for (const { src, tokens } of lexer.inlineQueue) {
    if (src.length > MAX_INLINE || performance.now() > until) tokens.push(...plainly(src));
    else lexer.inlineTokens(src, tokens);
  }
  return levelled(lexer.tokens);
}

export function Markdown({ text }) {
  const shown = text.slice(0, MAX_CHARS), tokens = useMemo(() => tokensOf(shown), [shown]);
  return html`<div class="markdown">
    ${tokens.map(draw)}
    ${shown.length < text.length && html`<p class="soft">The rest is too long to be drawn: ${text.length.toLocaleString()} characters in all.</p>`}
  </div>`;
}
