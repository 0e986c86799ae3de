import Sortable from 'sortablejs';
import tippy from 'tippy.js';
import { getThreads, put } from '../page.js';

const list = put(`<ul>${(await getThreads()).map((thread) => `<li data-id="${thread.id}">${thread.name}: ${thread.note}</li>`).join('')}</ul>`);
Sortable.create(list).sort(['3', '2', '1']);
tippy(list, { content: 'Drag what you like least to the end.', showOnCreate: true, trigger: 'manual' });
