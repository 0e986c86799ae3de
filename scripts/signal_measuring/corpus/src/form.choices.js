import Choices from 'choices.js';
import TomSelect from 'tom-select';
import { getThreads, put } from '../page.js';

const threads = await getThreads();
const options = threads.map((thread) => `<option value="${thread.id}" selected>${thread.name}</option>`).join('');
new Choices(put(`<select multiple>${options}</select>`));
new TomSelect(put(`<select multiple>${options}</select>`), {});
for (const thread of threads) put(`<p>${thread.note}</p>`);
