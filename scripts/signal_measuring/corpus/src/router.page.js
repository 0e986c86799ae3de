import page from 'page';
import { getNotes, getThreads, put } from '../page.js';

page.base('/corpus/router.page');
page('/', async () => { for (const thread of await getThreads()) put(`<p>${thread.name}: ${thread.note}</p>`); page.redirect('/notes'); });
page('/notes', async () => { for (const note of await getNotes()) put(`<p>${note.text}</p>`); });
page();
