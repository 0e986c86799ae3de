import { TabulatorFull } from 'tabulator-tables';
import { getThreads, put } from '../page.js';

new TabulatorFull(put('<div></div>'), { data: await getThreads(), columns: ['name', 'stuff', 'metres', 'note'].map((field) => ({ title: field, field })) });
