import { TabulatorFull } from 'tabulator-tables';
import { getThreads, put } from '../page.js';

const threads = await getThreads();
const data = Array.from({ length: 200 }, (_, id) => ({ ...threads[id % threads.length], id }));
new TabulatorFull(put('<div style="height:300px"></div>'), { height: 300, data, columns: ['id', 'name', 'note'].map((field) => ({ title: field, field })) });
