import * as echarts from 'echarts';
import { getThreads, put } from '../page.js';

const threads = await getThreads();
put('<h1>Axes with names</h1>');
echarts.init(put('<div style="width:900px;height:400px"></div>'), null, { renderer: 'svg' }).setOption({ animation: false, xAxis: { data: threads.map(({ name }) => name) }, yAxis: {}, series: [{ type: 'bar', data: threads.map(({ metres }) => metres) }] });
put(`<p>${threads.map(({ note }) => note).join(' ')}</p>`);
