import Prism from 'prismjs';
import { getNotes, put } from '../page.js';

const notes = await getNotes();
put(`<pre><code class="language-js">${notes.map((note) => `// ${note.text}\nconst title = '${note.title}';`).join('\n')}</code></pre>`);
Prism.highlightAll();
