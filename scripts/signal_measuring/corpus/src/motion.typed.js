import Typed from 'typed.js';
import { getThreads, put } from '../page.js';

for (const thread of await getThreads()) put(`<p>${thread.name}: ${thread.note}</p>`);
new Typed(put('<b></b>'), { strings: ['Slow and steady'], typeSpeed: 20, showCursor: false });
