import { define, html } from 'hybrids';
import { getThreads, put } from '../page.js';

const loading = getThreads();
define({ tag: 'shelf-list', threads: undefined, content: () => html`${html.resolve(loading.then((threads) => html`${threads.map((thread) => html`<p>${thread.name}: ${thread.note}</p>`)}`), html`<p>Asking</p>`)}` });
put('<shelf-list></shelf-list>');
