import * as Plot from '@observablehq/plot';
import { getThreads, put, root } from '../page.js';

const threads = await getThreads();
put('<h1>A plot</h1>');
root().append(Plot.plot({ marginLeft: 120, marks: [Plot.barX(threads, { x: 'metres', y: 'name' }), Plot.text(threads, { x: 'metres', y: 'name', text: 'stuff' })] }));
put(`<p>${threads.map(({ note }) => note).join(' ')}</p>`);
