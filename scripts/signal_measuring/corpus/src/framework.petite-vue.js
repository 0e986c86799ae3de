import { createApp } from 'petite-vue';
import { getThreads, put, root } from '../page.js';

put('<main @vue:mounted="load"><p v-for="thread in threads">{{ thread.name }}: {{ thread.note }}</p><b v-if="threads.length">{{ threads.length }} kinds</b></main>');
createApp({ threads: [], async load() { this.threads = await getThreads(); } }).mount(root());
