import Handlebars from 'handlebars/dist/handlebars.js';
import { getThreads, put } from '../page.js';

put(`<div>${Handlebars.compile('{{#each threads}}<p>{{name}}: {{note}}</p>{{else}}<p>None</p>{{/each}}')({ threads: await getThreads() })}</div>`);
