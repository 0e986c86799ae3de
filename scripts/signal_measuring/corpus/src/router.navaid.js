import navaid from 'navaid';
import { getThreads, put } from '../page.js';

const router = navaid('/corpus/router.navaid');
router.on('/', async () => { for (const thread of await getThreads()) put(`<p>${thread.name}: ${thread.note}</p>`); }).listen();
