import { createChart, LineSeries } from 'lightweight-charts';
import { getThreads, put } from '../page.js';

const threads = await getThreads();
put('<h1>Up and down</h1>');
const chart = createChart(put('<div style="width:600px;height:300px"></div>'));
chart.addSeries(LineSeries).setData(threads.map(({ id, metres }) => ({ time: `2024-01-0${id}`, value: metres })));
put(`<p>${threads.map(({ note }) => note).join(' ')}</p>`);
