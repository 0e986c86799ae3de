import request from 'superagent';
import { put } from '../page.js';

for (const thread of (await request.get('/apps/api/threads').set('accept', 'application/json')).body) put(`<p>${thread.name}: ${thread.note}</p>`);
