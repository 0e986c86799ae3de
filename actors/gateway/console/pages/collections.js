// Collections of pages and notes: the list, and one of them with its sources, what is made of it, and what can be done with it.
import { html, useEffect, useState } from '../htm.js';
import { call, download, follow, get, tool, upload } from '../api.js';
import { WebLink } from '../markdown.js';
import { Act, Badge, Card, CopyAs, Failure, Figure, Figures, Loading, Pager, Refused, Table, Time, Title, duration, number, useLoaded } from '../parts.js';
import { go, link } from '../router.js';
import { Source } from './source.js';

const LIMIT = 50, GATHERED_MS = 1_000;
const EVERY = { '': 'never', '1h': 'every hour', '12h': 'every 12 hours', '1d': 'every day', '7d': 'every week' };

const COLUMNS = [
  { name: 'Collection', cell: (one) => html`<a href=${link(['collections', one.id])}><b>${one.title}</b></a> ${(one.tags ?? []).map((tag) => html`<${Badge} of=${tag} tone="plain">${tag}<//> `)}` },
  { name: 'Sources', number: true, cell: (one) => number(one.sources) },
  { name: 'Read', number: true, cell: (one) => number(one.captured) },
  { name: 'Failed', number: true, cell: (one) => html`<span class=${one.failed ? 'bad' : ''}>${number(one.failed)}</span>` },
  { name: 'Read anew', cell: (one) => (one.watchEveryMs ? `every ${duration(one.watchEveryMs)}` : html`<span class="soft">never</span>`) },
  { name: 'Last changed', cell: (one) => html`<${Time} at=${one.updatedAt} />` },
];

// A form whose fields become a call of a tool; what fails, or waits for a person, is said below it.
export function ToolForm({ label, words, act, children }) {
  const [busy, setBusy] = useState(false), [error, setError] = useState(null);
  const submit = async (event) => {
    event.preventDefault();
    const form = event.currentTarget;
    setBusy(true);
    setError(null);
    try {
      await act(new FormData(form));
      form.reset();
    } catch (failure) {
      setError(failure);
    }
    setBusy(false);
  };
  return html`<form class="fields" aria-label=${label} onSubmit=${submit}>${children}
    <div class="row"><button class="primary" disabled=${busy}>${busy ? 'At work…' : words}</button>${error && html`<${Refused} error=${error} />`}</div></form>`;
}

export function Collections({ route }) {
  const offset = Number(route.query.offset) || 0, path = `/api/collections?limit=${LIMIT}&offset=${offset}`;
  const { data, error, again } = useLoaded((signal) => get(path, { signal }), [path]);
  const make = async (form) => {
    const tags = form.get('tags').split(',').map((tag) => tag.trim()).filter(Boolean);
    const made = await tool('POST', '/api/collections', { title: form.get('title').trim(), ...(tags.length && { tags }) });
    go(['collections', made.payload.collectionId]);
  };
  return html`<${Title} about="Pages and notes that are kept, each page in its last versions.">Collections<//>
    <${Card} title="Begin one"><${ToolForm} label="Begin a collection" words="Begin it" act=${make}>
      <label for="title">Title</label><input id="title" name="title" required maxlength="500" autocomplete="off" />
      <label for="tags">Tags, with commas between</label><input id="tags" name="tags" autocomplete="off" />
    <//><//>
    ${error && html`<${Failure} error=${error} again=${again} />`}
    ${!data && !error && html`<${Loading} />`}
    ${data && html`<${Card} title=${`${number(data.total)} ${data.total === 1 ? 'collection' : 'collections'}`}>
      <${Table} caption="Collections, newest first" columns=${COLUMNS} rows=${data.collections} keyOf=${(one) => one.id} empty="Nothing is kept with this key yet." />
      <${Pager} parts="collections" query=${route.query} offset=${offset} limit=${LIMIT} total=${data.total} />
    <//>`}
    <${CopyAs} call=${['GET', path]} shell=${['collections', 'list']} />`;
}

const SOURCES = [
  { name: 'Source', cell: (one) => html`<a href=${link(['collections', one.id])}><b>${one.title || one.url || 'Note'}</b></a>
    ${one.url && html`<br /><span class="soft">${one.url}</span>`}` },
  { name: 'Stands', cell: (one) => html`<${Badge} of=${one.status} /> ${one.error && html`<code>${one.error.code}</code>`}` },
  { name: 'Version', number: true, cell: (one) => (one.version ? number(one.version) : '–') },
  { name: 'Characters', number: true, cell: (one) => number(one.chars) },
  { name: 'Last read', cell: (one) => html`<${Time} at=${one.capturedAt} />` },
  { name: 'Changed', cell: (one) => html`<${Time} at=${one.changedAt} />` },
];

const TEXTS = [
  { name: 'Text', cell: (one) => html`<b>${one.title}</b> <code>${one.type}</code>` },
  { name: 'Stands', cell: (one) => html`<${Badge} of=${one.status} />` },
  { name: 'Made', cell: (one) => html`<${Time} at=${one.createdAt} />` },
  { name: 'Download', cell: (one) => (one.status === 'completed' ? html`<${Act} words="Markdown" kind="small" act=${() => download(`/api/texts/${encodeURIComponent(one.id)}/file?format=markdown`, `${one.title}.md`)} />` : '–') },
];

// What happens to a collection from now on has it asked for anew, once for all that happens within a second.
function useChanges(id, again) {
  useEffect(() => {
    const stop = new AbortController();
    let timer = 0;
    const changed = () => {
      timer ||= setTimeout(() => {
        timer = 0;
        again();
      }, GATHERED_MS);
    };
    follow(`/api/collections/${encodeURIComponent(id)}/events`, changed, { signal: stop.signal, opened: changed }).catch(() => {});
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [id]);
}

function Adding({ path, again }) {
  const [imported, setImported] = useState(null);
  const add = (type, name) => async (form) => {
    await tool('POST', `${path}/sources`, { sources: [{ type, [name]: form.get(name).trim() }] });
    again();
  };
  const bring = async (form) => {
    setImported(await upload(`${path}/import`, form.get('file')));
    again();
  };
  return html`<${Card} title="Add to it"><div class="forms">
    <${ToolForm} label="Add a page" words="Add it" act=${add('url', 'url')}>
      <label for="address">Address of a page</label><input id="address" name="url" type="url" required placeholder="https://example.com" autocomplete="off" spellcheck="false" /><//>
    <${ToolForm} label="Add a note" words="Keep it" act=${add('note', 'text')}>
      <label for="note">A note of yours</label><textarea id="note" name="text" rows="2" required></textarea><//>
    <${ToolForm} label="Import a list" words="Import" act=${bring}>
      <label for="file">A list of addresses: OPML, bookmarks, a site map, a feed, CSV, or one a line</label><input id="file" name="file" type="file" required />
      ${imported && html`<p role="status">${number(imported.read)} read: ${number(imported.added)} are new, ${number(imported.known)} were there, ${number(imported.refusedCount)} cannot be kept${imported.refused?.length ? `, such as ${imported.refused[0].url}` : ''}.</p>`}<//>
  </div><//>`;
}

function Watching({ of, path, again }) {
  const [every, setEvery] = useState(null);
  const watch = async () => {
    await tool('PUT', `${path}/watch`, { every: every || null });
    again();
  };
  return html`<div class="row"><label>Read its pages anew <select value=${every ?? ''} onChange=${(event) => setEvery(event.currentTarget.value)}>
    ${Object.entries(EVERY).map(([value, words]) => html`<option value=${value}>${words}</option>`)}</select></label>
    <${Act} words="Set" act=${watch} /> <span class="soft">${of.watchEveryMs ? `Now: every ${duration(of.watchEveryMs)}.` : 'Now: never.'}</span></div>`;
}

function One({ route }) {
  const id = route.parts[1], path = `/api/collections/${encodeURIComponent(id)}`, offset = Number(route.query.offset) || 0;
  const { data, error, again } = useLoaded((signal) => get(`${path}?limit=${LIMIT}&offset=${offset}`, { signal }), [path, offset]);
  const { data: texts } = useLoaded((signal) => get(`/api/texts?collection=${encodeURIComponent(id)}&limit=20`, { signal }), [id, data]);
  useChanges(id, again);
  const of = data?.collection;
  const forget = async () => {
    await tool('DELETE', path);
    go('collections');
  };
  return html`<${Title} about=${html`<a href=${link('collections')}>All collections</a> · <code>${id}</code>`}>${of?.title ?? 'Collection'}<//>
    ${error && html`<${Failure} error=${error} again=${again} />`}
    ${!data && !error && html`<${Loading} />`}
    ${data && html`<${Card} title="How it stands"><${Figures}>
        <${Figure} name="Sources" value=${number(of.sources)} about=${(of.tags ?? []).join(', ')} />
        <${Figure} name="Read" value=${number(of.captured)} about=${of.pending ? `${number(of.pending)} wait` : ''} />
        <${Figure} name="Failed" value=${number(of.failed)} tone=${of.failed ? 'bad' : ''} />
        <${Figure} name="Last changed" value=${html`<${Time} at=${of.updatedAt} />`} />
      <//><${Watching} of=${of} path=${path} again=${again} />
      <div class="row"><${Act} words="Export" act=${() => download(`${path}/export`, `${of.title}.zip`)} />
        <${Act} words="Delete" sure="Delete it with all its sources, for good?" act=${forget} />
        <${CopyAs} call=${['GET', path]} tool=${['collection.list_sources', { collectionId: id }]} shell=${['collections', 'export', id, '.']} /></div><//>
      <${Adding} path=${path} again=${again} />
      <${Card} title="Sources"><${Table} caption="Sources, in the order in which they came" columns=${SOURCES} rows=${data.sources} keyOf=${(one) => one.id} empty="Nothing is in it yet." />
        <${Pager} parts=${['collections', id]} query=${route.query} offset=${offset} limit=${LIMIT} total=${data.total} /><//>
      ${texts?.artifacts.length > 0 && html`<${Card} title="Made of it"><${Table} caption="Texts made of this collection" columns=${TEXTS} rows=${texts.artifacts} keyOf=${(one) => one.id} /><//>`}`}`;
}

export const Collection = (given) => (given.route.parts[1].startsWith('src_') ? html`<${Source} ...${given} />` : html`<${One} ...${given} />`);
