import { eventListenersModule, h, init, propsModule } from 'snabbdom';
import { getThreads, root } from '../page.js';

const patch = init([propsModule, eventListenersModule]);
const first = patch(root(), h('main', [h('p', 'Asking')]));
patch(first, h('main', (await getThreads()).map((thread) => h('p', `${thread.name}: ${thread.note}`))));
