import { createEffect, createStore } from 'effector';
import { getThreads, put } from '../page.js';

const load = createEffect(getThreads);
const threads = createStore([]).on(load.doneData, (_, found) => found);
threads.updates.watch((found) => found.forEach((thread) => put(`<p>${thread.name}: ${thread.note}</p>`)));
load();
