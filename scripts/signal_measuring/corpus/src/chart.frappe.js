import { Chart } from 'frappe-charts';
import { getThreads, put } from '../page.js';

const threads = await getThreads();
put('<h1>Frappe</h1>');
new Chart(put('<div style="width:900px"></div>'), { animate: false, type: 'bar', height: 250, data: { labels: threads.map(({ name }) => name), datasets: [{ values: threads.map(({ metres }) => metres) }] } });
put(`<p>${threads.map(({ note }) => note).join(' ')}</p>`);
