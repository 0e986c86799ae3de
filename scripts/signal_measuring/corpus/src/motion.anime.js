import { animate, stagger } from 'animejs';
import { getThreads, put } from '../page.js';

for (const thread of await getThreads()) put(`<p class="line">${thread.name}: ${thread.note}</p>`);
animate('.line', { translateX: 10, delay: stagger(20), duration: 200, onComplete: () => put('<b>Everything has come to rest at last, and the dust with it.</b>') });
