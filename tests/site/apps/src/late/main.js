import { getNotes, getThreads } from '../shared/data.js';

// Each place is filled by one kind of delay, so that the order on the page does not hang on who comes first.
const say = (place, text) => { document.getElementById(place).textContent = text; };

setTimeout(() => say('timer', 'The post has come, and with it two letters that nobody will open today.'), 350);
requestAnimationFrame(() => requestAnimationFrame(() => say('frame', 'The cart stands in the yard before anybody heard it.')));
(globalThis.requestIdleCallback ?? setTimeout)(() => say('idle', 'When there is nothing left to do, somebody sweeps the floor.'));
getThreads().then((threads) => setTimeout(() => say('fetched', threads.map((thread) => thread.note).join(' ')), 200));
import('./evening.js').then(async ({ evening }) => say('imported', evening(await getNotes())));
