import { app, h, text } from 'hyperapp';
import { getThreads, root } from '../page.js';

const load = (dispatch) => void getThreads().then((threads) => dispatch((state) => ({ ...state, threads })));
app({ init: [{ threads: [] }, [load]], view: ({ threads }) => h('main', {}, threads.map((thread) => h('p', {}, text(`${thread.name}: ${thread.note}`)))), node: root() });
