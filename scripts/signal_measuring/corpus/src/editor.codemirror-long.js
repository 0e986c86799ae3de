import { basicSetup, EditorView } from 'codemirror';
import { getThreads, root } from '../page.js';

const threads = await getThreads();
const lines = Array.from({ length: 300 }, (_, line) => `${line} ${threads[line % threads.length].note}`);
new EditorView({ doc: lines.join('\n'), extensions: [basicSetup, EditorView.theme({ '&': { height: '400px' } })], parent: root() });
