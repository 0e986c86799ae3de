import * as Comlink from 'comlink';
import { getThreads, put } from '../page.js';

const { port1, port2 } = new MessageChannel();
Comlink.expose({ turn: (threads) => threads.map((thread) => `${thread.name}: ${thread.note}`) }, port1);
for (const line of await Comlink.wrap(port2).turn(await getThreads())) put(`<p>${line}</p>`);
