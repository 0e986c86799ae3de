import { getThread, price, put } from '../page.js';

const thread = await getThread(4);
put(`<h1>${thread.name}</h1><p>${price(thread.cents)}</p>`);
put(`<p>${thread.note}</p>`);
