import axios from 'axios';
import { put } from '../page.js';

const { data } = await axios.create({ baseURL: '/apps/api' }).get('/threads', { params: { page: 1 } });
for (const thread of data) put(`<p>${thread.name}: ${thread.note}</p>`);
await axios.get('/apps/api/nothing').catch((error) => put(`<p>Asked for more: ${error.response.status}</p>`));
