import mermaid from 'mermaid';
import { getThreads, put } from '../page.js';

const threads = await getThreads();
mermaid.initialize({ startOnLoad: false });
const { svg } = await mermaid.render('plan', `graph TD\n${threads.map(({ id, name, stuff }) => `A[Mill] --> T${id}[${name} of ${stuff}]`).join('\n')}`);
put(`<figure>${svg}</figure>`);
put(`<p>${threads.slice(0, 3).map(({ note }) => note).join(' ')}</p>`);
