import { Canvas, Rect } from 'fabric';
import { getThreads, put } from '../page.js';

const canvas = new Canvas(put('<canvas width="300" height="200"></canvas>'));
canvas.add(new Rect({ width: 50, height: 50, fill: 'red' }));
canvas.renderAll();
for (const thread of await getThreads()) put(`<p>${thread.name}: ${thread.note}</p>`);
