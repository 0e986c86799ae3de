import ky from 'ky';
import { put } from '../page.js';

for (const thread of await ky('/apps/api/threads').json()) put(`<p>${thread.name}: ${thread.note}</p>`);
