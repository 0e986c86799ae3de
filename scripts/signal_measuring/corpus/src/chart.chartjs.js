import Chart from 'chart.js/auto';
import { getThreads, put } from '../page.js';

const threads = await getThreads();
put('<h1>Bars</h1><canvas width="400" height="200"></canvas>');
new Chart(document.querySelector('canvas'), { type: 'bar', data: { labels: threads.map(({ name }) => name), datasets: [{ label: 'metres', data: threads.map(({ metres }) => metres) }] } });
for (const thread of threads) put(`<p>${thread.name}: ${thread.note}</p>`);
