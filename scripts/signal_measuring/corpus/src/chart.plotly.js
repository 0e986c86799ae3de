import Plotly from 'plotly.js-basic-dist-min';
import { getThreads, put } from '../page.js';

const threads = await getThreads();
put('<h1>Plotted</h1>');
await Plotly.newPlot(put('<div style="width:800px;height:400px"></div>'), [{ type: 'bar', x: threads.map(({ name }) => name), y: threads.map(({ metres }) => metres) }], {}, { displayModeBar: false });
put(`<p>${threads.map(({ note }) => note).join(' ')}</p>`);
