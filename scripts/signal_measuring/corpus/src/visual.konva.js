import Konva from 'konva';
import { box, getThreads, put } from '../page.js';

const stage = new Konva.Stage({ container: box(), width: 400, height: 200 });
const layer = new Konva.Layer();
layer.add(new Konva.Rect({ width: 50, height: 50, fill: 'red' }), new Konva.Text({ text: 'Red' }));
stage.add(layer);
for (const thread of await getThreads()) put(`<p>${thread.name}: ${thread.note}</p>`);
