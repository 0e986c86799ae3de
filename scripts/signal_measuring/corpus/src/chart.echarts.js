import * as echarts from 'echarts';
import { getThreads, put } from '../page.js';

const threads = await getThreads();
put('<h1>Slices</h1>');
echarts.init(put('<div style="width:600px;height:400px"></div>'), null, { renderer: 'canvas' }).setOption({ series: [{ type: 'pie', data: threads.map(({ name, metres }) => ({ name, value: metres })) }] });
for (const thread of threads) put(`<p>${thread.name} has ${thread.metres} metres. ${thread.note}</p>`);
