import van from 'vanjs-core';
import { getThreads, root } from '../page.js';

const threads = van.state([]);
const { b, main, p } = van.tags;
van.add(root(), () => main(threads.val.map((thread) => p(b(thread.name), ' ', thread.note))));
threads.val = await getThreads();
