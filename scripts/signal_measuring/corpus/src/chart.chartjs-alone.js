import Chart from 'chart.js/auto';
import { getNotes, getThreads, put } from '../page.js';

const threads = await getThreads();
put('<h1>Bars and what they mean</h1><canvas width="400" height="200"></canvas>');
const chart = new Chart(document.querySelector('canvas'), { type: 'line', data: { labels: threads.map(({ name }) => name), datasets: [{ label: 'metres', data: threads.map(({ metres }) => metres) }] } });
if (chart.getDatasetMeta(0).data.length) for (const note of await getNotes()) put(`<p>${note.text}</p>`);
