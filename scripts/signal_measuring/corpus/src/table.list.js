import List from 'list.js';
import { getThreads, put } from '../page.js';

const holder = put('<div id="shelf"><input class="search"><ul class="list"></ul></div>');
new List(holder, { valueNames: ['name', 'note'], item: '<li><b class="name"></b> <span class="note"></span></li>' }, await getThreads());
