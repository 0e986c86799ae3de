import flatpickr from 'flatpickr';
import { getThreads, put } from '../page.js';

flatpickr(put('<input>'), { inline: true, defaultDate: '2024-03-05' });
for (const thread of await getThreads()) put(`<p>${thread.name}: ${thread.note}</p>`);
