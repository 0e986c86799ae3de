import { html, render } from 'htm/preact/standalone.module.js';
import { getThreads, root } from '../page.js';

const threads = await getThreads();
render(html`<main><h1>Without a build</h1>${threads.map((thread) => html`<p>${thread.name}: ${thread.note}</p>`)}</main>`, root());
