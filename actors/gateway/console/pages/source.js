// One source of a collection: what it says, its versions, and what each has changed of the one before.
import { html } from '../htm.js';
import { get, tool } from '../api.js';
import { Diff } from '../diff.js';
import { Markdown, WebLink } from '../markdown.js';
import { Act, Badge, Card, CopyAs, Failure, Figure, Figures, Loading, Table, Time, Title, number, useLoaded } from '../parts.js';
import { go, link } from '../router.js';

const CHANGES = [
  { name: 'Section', cell: (one) => one.heading || html`<span class="soft">before the first heading</span>` },
  { name: 'Change', cell: (one) => html`<${Badge} tone=${{ added: 'good', removed: 'bad' }[one.change] ?? 'warn'}>${one.change}<//>` },
  { name: 'Lines', cell: (one) => `${number(one.addedLines)} new, ${number(one.removedLines)} gone` },
];

function Versions({ id, versions, shown, against }) {
  const columns = [
    { name: 'Version', cell: (one) => html`<a href=${link(['collections', id], { version: one.version })} aria-current=${one.version === shown ? 'true' : null}><b>${one.version}</b></a>` },
    { name: 'First read', cell: (one) => html`<${Time} at=${one.capturedAt} />` },
    { name: 'Characters', number: true, cell: (one) => number(one.chars) },
    { name: 'Sections changed', number: true, cell: (one) => number(one.changes?.length) },
    { name: 'Compare', cell: (one) => (one.version === shown ? html`<span class="soft">is shown</span>`
      : html`<a href=${link(['collections', id], { version: shown, against: one.version })} aria-current=${one.version === against ? 'true' : null}>with version ${shown}</a>`) },
  ];
  return html`<${Card} title="Versions"><${Table} caption="Versions that are kept" columns=${columns} rows=${versions} keyOf=${(one) => one.version} empty="It was not read yet." /><//>`;
}

function Compared({ path, against, shown, source }) {
  const { data, error } = useLoaded((signal) => get(`${path}?version=${against}`, { signal }), [path, against]);
  const older = against < shown;
  return html`<${Card} title=${`What version ${Math.max(against, shown)} has changed of ${Math.min(against, shown)}`}>
    ${error && html`<${Failure} error=${error} />`}${!data && !error && html`<${Loading} />`}
    ${data && html`<${Diff} before=${older ? data.markdown : source.markdown} after=${older ? source.markdown : data.markdown} />`}<//>`;
}

function Standing({ info }) {
  return html`<${Card} title="How it stands">
    ${info.url && html`<p><${WebLink} href=${info.url}>${info.url}<//></p>`}
    <${Figures}>
      <${Figure} name="Status" value=${html`<${Badge} of=${info.status} />`} about=${info.jobId ? 'is being read' : ''} />
      <${Figure} name="Version" value=${info.version ? number(info.version) : '–'} about=${info.truncated ? 'cut: the page is longer' : ''} />
      <${Figure} name="Last read" value=${html`<${Time} at=${info.capturedAt} />`} />
      <${Figure} name="How sure" value=${info.confidence ? info.confidence.toFixed(2) : '–'} about=${info.language} />
    <//>${info.error && html`<p class="bad"><b>${info.error.message}</b> <code>${info.error.code}</code></p>`}<//>`;
}

export function Source({ route }) {
  const id = route.parts[1], path = `/api/sources/${encodeURIComponent(id)}`, { version = '' } = route.query, against = Number(route.query.against) || 0;
  const { data, error, again } = useLoaded((signal) => get(version ? `${path}?version=${encodeURIComponent(version)}` : path, { signal }), [path, version]);
  const info = data?.info, shown = Number(version) || info?.version;
  const changes = data?.versions?.find((one) => one.version === shown)?.changes ?? [];
  const refresh = async () => {
    await tool('POST', `${path}/refresh`);
    go(['collections', id]);
    again();
  };
  const forget = async () => {
    await tool('DELETE', path);
    go(['collections', info.collectionId]);
  };
  return html`<${Title} about=${html`<a href=${link('collections')}>All collections</a>${info && html` · <a href=${link(['collections', info.collectionId])}>Its collection</a>`} · <code>${id}</code>`}>${info ? info.title || 'Source' : 'Source'}<//>
    ${error && html`<${Failure} error=${error} again=${again} />`}
    ${!data && !error && html`<${Loading} />`}
    ${data && html`<${Standing} info=${info} />
      <div class="row">${info.kind === 'url' && html`<${Act} words="Read anew" kind="primary" act=${refresh} />`}
        <${Act} words="Delete" sure="Delete it with all its versions, for good?" act=${forget} />
        <${CopyAs} call=${['GET', path]} tool=${['source.refresh', { sourceId: id }]} /></div>
      ${info.kind === 'url' && html`<${Versions} id=${id} versions=${data.versions ?? []} shown=${shown} against=${against} />`}
      ${against > 0 && against !== shown && html`<${Compared} path=${path} against=${against} shown=${shown} source=${data} />`}
      ${changes.length > 0 && html`<${Card} title="Sections that this version has changed"><${Table} caption="Changed sections" columns=${CHANGES} rows=${changes} /><//>`}
      <${Card} title=${shown === info.version ? 'What it says' : `What version ${shown} said`} kind="words"><${Markdown} text=${data.markdown} /><//>`}`;
}
