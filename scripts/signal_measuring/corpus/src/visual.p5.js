import p5 from 'p5';
import { box, getThreads, put } from '../page.js';

new p5((sketch) => {
  sketch.setup = async () => { sketch.createCanvas(200, 200); for (const thread of await getThreads()) put(`<p>${thread.name}: ${thread.note}</p>`); };
  sketch.draw = () => { sketch.circle(100, 100, 50); if (sketch.frameCount === 10) { sketch.noLoop(); put('<b>Ten pictures were drawn, then the pencil broke.</b>'); } };
}, box());
