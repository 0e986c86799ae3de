import { getThreads, put } from '../page.js';

const threads = await getThreads();
const shelf = put('<div style="width:600px"></div>');
for (const thread of threads) {
  const line = put(`<p style="white-space:nowrap;display:inline-block">${thread.name}: ${thread.note}</p>`, shelf);
  if (line.offsetWidth > 400) line.textContent = `${thread.note.slice(0, 20)}...`;
}
put(`<footer>The shelf is ${shelf.clientWidth > 500 ? 'wide' : 'narrow'} and its lines were cut to fit.</footer>`);
