import { getThreads, put, root } from '../page.js';

const threads = await getThreads();
put('<h1>Without an end</h1><ul></ul><i>more</i>');
let row = 0;
new IntersectionObserver(async (entries) => {
  if (entries.at(-1).isIntersecting && row < 160) {
    for (const thread of await getThreads()) root().querySelector('ul').insertAdjacentHTML('beforeend', `<li style="height:150px">${row++} ${thread.note} ${threads.length}</li>`);
  }
}).observe(root().querySelector('i'));
