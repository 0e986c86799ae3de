import '../hidden.css';
import { getThreads, put } from '../page.js';

for (const thread of await getThreads()) put(`<section><p>${thread.name}: ${thread.note}</p><p class="only-print">Printed on the ${thread.id}. day by the clerk, for the files of the house and for nobody else.</p></section>`);
