import bb, { bar } from 'billboard.js';
import { getThreads, put } from '../page.js';

const threads = await getThreads();
put('<h1>Seen from the road</h1>');
bb.generate({ bindto: put('<div style="width:900px"></div>'), transition: { duration: 0 }, data: { columns: threads.slice(0, 4).map(({ name, metres }) => [name, metres]), type: bar() } });
put(`<p>${threads.map(({ note }) => note).join(' ')}</p>`);
