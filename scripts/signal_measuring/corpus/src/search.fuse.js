import Fuse from 'fuse.js';
import { getThreads, put } from '../page.js';

const fuse = new Fuse(await getThreads(), { keys: ['note'], threshold: 0.8 });
for (const { item } of fuse.search('the')) put(`<p>${item.name}: ${item.note}</p>`);
