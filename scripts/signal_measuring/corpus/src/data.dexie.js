import Dexie from 'dexie';
import { getThreads, put } from '../page.js';

const store = new Dexie('shelf');
store.version(1).stores({ threads: 'id,name' });
await store.threads.bulkPut(await getThreads());
for (const thread of await store.threads.orderBy('name').toArray()) put(`<p>${thread.name}: ${thread.note}</p>`);
