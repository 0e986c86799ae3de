import localforage from 'localforage';
import { getThreads, put } from '../page.js';

await localforage.setItem('threads', await getThreads());
for (const thread of await localforage.getItem('threads')) put(`<p>${thread.name}: ${thread.note}</p>`);
