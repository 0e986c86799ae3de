import { component } from 'riot';
import { getThreads, put, root } from '../page.js';

const threads = await getThreads();
component({ name: 'shelf-list', exports: { onMounted() { this.root.innerHTML = threads.map((thread) => `<p>${thread.name}: ${thread.note}</p>`).join(''); } }, template: (template) => template('<main></main>', []) })(root());
put('<footer>Riots were rare in the mill, and short.</footer>', document.body);
