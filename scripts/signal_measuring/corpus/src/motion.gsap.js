import gsap from 'gsap';
import { getThreads, put } from '../page.js';

const threads = await getThreads();
for (const thread of threads) gsap.from(put(`<p>${thread.name}: ${thread.note}</p>`), { opacity: 0, duration: 0.3 });
gsap.to({}, { duration: 0.5, onComplete: () => put('<b>Everything has come to rest at last, and the dust with it.</b>') });
