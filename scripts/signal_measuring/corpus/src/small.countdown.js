import { put } from '../page.js';

put('<h1>The market opens soon</h1><p>Come with baskets, small coins and a little time.</p>');
const line = put('<p>Wait</p>');
let left = 4;
const step = () => { left -= 1; line.textContent = left ? `Wait ${left}` : 'It is open'; if (left) setTimeout(step, 50); };
step();
