import { put } from '../page.js';

const counts = new Map([['Wool', 12], ['Linen', 7]]);
put(`<fieldset><legend>What do you weave with most?</legend>${[...counts].map(([name, count]) => `<label><input type="radio"> ${name} ${count}</label>`).join('')}</fieldset>`);
put('<button>Vote</button>');
