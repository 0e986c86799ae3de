import { CountUp } from 'countup.js';
import { getThreads, put } from '../page.js';

for (const thread of await getThreads()) {
  const line = put(`<p>${thread.note} <b>0</b> metres</p>`);
  new CountUp(line.querySelector('b'), thread.metres, { duration: 0.8 }).start();
}
