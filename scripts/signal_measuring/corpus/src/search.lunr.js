import lunr from 'lunr';
import MiniSearch from 'minisearch';
import { getThreads, put } from '../page.js';

const threads = await getThreads();
const index = lunr(function build() { this.field('note'); for (const thread of threads) this.add(thread); });
for (const { ref } of index.search('old wash* bridge vat mill')) put(`<p>${threads[ref - 1].note}</p>`);
const mini = new MiniSearch({ fields: ['note', 'name'], storeFields: ['name', 'note'] });
mini.addAll(threads);
for (const { name, note } of mini.search('summer winter day cones', { fuzzy: 0.2 })) put(`<p>${name}: ${note}</p>`);
