import { Application, Text } from 'pixi.js';
import { getThreads, put, root } from '../page.js';

const application = new Application();
await application.init({ width: 300, height: 200 });
root().append(application.canvas);
application.stage.addChild(new Text({ text: 'Painted' }));
for (const thread of await getThreads()) put(`<p>${thread.name}: ${thread.note}</p>`);
