import Isotope from 'isotope-layout';
import Masonry from 'masonry-layout';
import { getThreads, put } from '../page.js';

const threads = await getThreads();
new Masonry(put(`<div>${threads.map((thread) => `<div class="brick">${thread.note}</div>`).join('')}</div>`), { itemSelector: '.brick' });
new Isotope(put(`<div>${threads.map((thread) => `<div class="stone ${thread.stuff}">${thread.name}</div>`).join('')}</div>`), { itemSelector: '.stone', filter: '.wool' });
