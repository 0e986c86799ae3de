import Alpine from 'alpinejs';
import { getThreads, price } from '../shared/data.js';

Alpine.data('shop', () => ({ threads: [], price, async init() { this.threads = await getThreads(); } }));
Alpine.start();
