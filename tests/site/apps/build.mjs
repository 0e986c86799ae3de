// Builds every page of a folder of sources: node build.mjs SOURCES OUTPUT PREFIX [NAME...]
//
// A page is a folder with a main.* or a single file NAME.js(x). Each page is bundled by itself, as for production.
// A folder may hold index.html (else a template is used), server.jsx (rendered into it at build time) and workers (*.worker.js).
import { babel, vue, svelte } from './plugins.mjs';
import * as esbuild from 'esbuild';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [sources, output, prefix, ...only] = process.argv.slice(2);
const [from, to] = [path.resolve(sources), path.resolve(output)];

const template = (name) => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${name}</title><meta name="viewport" content="width=device-width"><!--styles--></head>
<body><div id="root"><!--app--></div><script type="module" src="${prefix}/${name}/main.js"></script></body>
</html>
`;

const options = {
  bundle: true,
  minify: true,
  legalComments: 'none',
  logLevel: 'silent',
  target: 'es2022',
  jsx: 'automatic',
  define: { 'process.env.NODE_ENV': '"production"', 'process.env': '{}', global: 'globalThis', ngDevMode: 'false', ngJitMode: 'true' },
  loader: { '.svg': 'dataurl', '.png': 'dataurl', '.gif': 'dataurl', '.woff': 'empty', '.woff2': 'empty', '.ttf': 'empty', '.eot': 'empty' },
  conditions: ['browser', 'production', 'default'],
  mainFields: ['browser', 'module', 'main'],
  tsconfigRaw: { compilerOptions: { experimentalDecorators: true, useDefineForClassFields: false } },
  plugins: [vue, svelte, babel],
};

function pagesOf(folder) {
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.isDirectory()) {
      const main = fs.readdirSync(path.join(folder, entry.name)).find((file) => /^(main\.[a-z.]+|index\.html)$/.test(file));
      return main ? [{ name: entry.name, folder: path.join(folder, entry.name) }] : [];
    }
    const single = /^(.+?)\.(solid\.)?(jsx?|tsx?)$/.exec(entry.name);
    return single ? [{ name: single[1], file: path.join(folder, entry.name) }] : [];
  });
}

function entriesOf(page) {
  if (page.file) return { main: page.file };
  const files = fs.readdirSync(page.folder);
  const scripts = files.filter((file) => /^main\.[a-z.]+$/.test(file) || /\.worker\.js$/.test(file));
  return Object.fromEntries(scripts.map((file) => [file.replace(/^main\..*/, 'main').replace(/\.js$/, ''), path.join(page.folder, file)]));
}

async function rendered(page, folder) {
  const server = page.folder && path.join(page.folder, 'server.jsx');
  if (!server || !fs.existsSync(server)) return '';
  const file = path.join(folder, '.server.mjs');
  await esbuild.build({ ...options, entryPoints: [server], outfile: file, format: 'cjs', platform: 'node', conditions: ['node', 'production'], mainFields: ['main'] });
  fs.renameSync(file, file.replace('.mjs', '.cjs'));
  const html = await (await import(pathToFileURL(file.replace('.mjs', '.cjs')))).default.render();
  fs.rmSync(file.replace('.mjs', '.cjs'));
  return html;
}

async function build(page) {
  const folder = path.join(to, page.name);
  fs.mkdirSync(folder, { recursive: true });
  const entryPoints = entriesOf(page);
  if (Object.keys(entryPoints).length) {
    await esbuild.build({ ...options, entryPoints, outdir: folder, format: 'esm', splitting: true, chunkNames: 'chunk-[hash]' });
  }
  const own = page.folder && path.join(page.folder, 'index.html');
  const html = own && fs.existsSync(own) ? fs.readFileSync(own, 'utf8') : template(page.name);
  const styles = fs.existsSync(path.join(folder, 'main.css')) ? `<link rel="stylesheet" href="${prefix}/${page.name}/main.css">` : '';
  const body = await rendered(page, folder);
  for (const file of page.folder ? fs.readdirSync(page.folder).filter((file) => /\.html$/.test(file)) : []) {
    fs.copyFileSync(path.join(page.folder, file), path.join(folder, file));
  }
  fs.writeFileSync(path.join(folder, 'index.html'), html.replace('<!--app-->', () => body).replace('<!--styles-->', styles));
}

const failed = [];
for (const page of pagesOf(from).filter(({ name }) => !only.length || only.includes(name))) {
  try {
    await build(page);
  } catch (error) {
    fs.rmSync(path.join(to, page.name), { recursive: true, force: true });
    failed.push(`${page.name}: ${String(error.message).split('\n').slice(0, 4).join(' | ')}`);
  }
}
if (failed.length) {
  console.error(failed.join('\n'));
  process.exit(1);
}
