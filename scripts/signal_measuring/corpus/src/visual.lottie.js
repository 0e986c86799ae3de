import lottie from 'lottie-web';
import { box, getThreads, put } from '../page.js';

const animation = lottie.loadAnimation({ container: box(), renderer: 'svg', loop: false, autoplay: true, animationData: { v: '5.5.7', fr: 30, ip: 0, op: 10, w: 10, h: 10, layers: [] } });
animation.addEventListener('complete', () => put('<b>The lantern has gone out.</b>'));
for (const thread of await getThreads()) put(`<p>${thread.name}: ${thread.note}</p>`);
