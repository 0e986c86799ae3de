import Embla from 'embla-carousel';
import { getThreads, put } from '../page.js';

const view = put(`<div><div>${(await getThreads()).map((thread) => `<div style="flex:0 0 100%">${thread.name}: ${thread.note}</div>`).join('')}</div></div>`);
const embla = Embla(view, { loop: true });
put(`<footer>There are ${embla.slideNodes().length} slides.</footer>`);
