import uPlot from 'uplot';
import { getThreads, put, root } from '../page.js';

const threads = await getThreads();
put('<h1>Small and quick</h1>');
new uPlot({ width: 600, height: 300, series: [{}, { label: 'metres', stroke: 'red' }] }, [threads.map(({ id }) => id), threads.map(({ metres }) => metres)], root());
put(`<p>${threads.map(({ note }) => note).join(' ')}</p>`);
