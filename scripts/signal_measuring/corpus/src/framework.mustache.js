import Mustache from 'mustache';
import { getThreads, put } from '../page.js';

put(`<div>${Mustache.render('{{#threads}}<p>{{name}}: {{note}}</p>{{/threads}}', { threads: await getThreads() })}</div>`);
