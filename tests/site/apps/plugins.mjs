// What esbuild needs to read .vue, .svelte and .solid.jsx files.
import { transformAsync } from '@babel/core';
import solid from 'babel-preset-solid';
import { compile } from 'svelte/compiler';
import { compileScript, parse } from '@vue/compiler-sfc';
import fs from 'node:fs/promises';
import path from 'node:path';

const plugin = (name, filter, turn) => ({
  name,
  setup(build) {
    build.onLoad({ filter }, async ({ path: file }) => ({
      contents: await turn(await fs.readFile(file, 'utf8'), file),
      resolveDir: path.dirname(file),
      loader: 'ts',
    }));
  },
});

export const vue = plugin('vue', /\.vue$/, (source, filename) => {
  const { descriptor, errors } = parse(source, { filename });
  if (errors.length) throw errors[0];
  return compileScript(descriptor, { id: path.basename(filename), inlineTemplate: true, isProd: true }).content;
});

export const svelte = plugin('svelte', /\.svelte$/, (source, filename) =>
  compile(source, { filename, generate: 'client', css: 'injected', dev: false }).js.code);

export const babel = plugin('solid', /\.solid\.jsx$/, async (source, filename) =>
  (await transformAsync(source, { filename, presets: [solid], babelrc: false, configFile: false })).code);
