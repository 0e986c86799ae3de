import ApexCharts from 'apexcharts';
import { getThreads, put } from '../page.js';

const threads = await getThreads();
put('<h1>Columns</h1>');
const chart = new ApexCharts(put('<div style="width:900px"></div>'), { chart: { type: 'bar', height: 300, animations: { enabled: false } }, series: [{ name: 'metres', data: threads.map(({ metres }) => metres) }], xaxis: { categories: threads.map(({ name }) => name) } });
await chart.render();
put(`<p>${threads.slice(0, 5).map(({ note }) => note).join(' ')}</p>`);
