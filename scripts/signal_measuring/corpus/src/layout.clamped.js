import { getThreads, put } from '../page.js';

const threads = await getThreads();
const room = put('<div style="height:120px;overflow:hidden"></div>');
let shown = 0;
for (const thread of threads) { if (room.scrollHeight > 125) break; put(`<p style="height:50px;margin:0">${thread.name}: ${thread.note}</p>`, room); shown += 1; }
put(`<a href="#">${threads.length - shown} more</a>`);
