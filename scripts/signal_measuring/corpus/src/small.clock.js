import { put } from '../page.js';

const face = put('<time></time>');
setInterval(() => { face.dateTime = new Date().toISOString(); }, 500);
put('<h1>The tower clock</h1>');
put('<p>It goes wrong by a minute in each month, and is set right on the first.</p>');
