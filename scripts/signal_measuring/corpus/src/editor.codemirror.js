import { javascript } from '@codemirror/lang-javascript';
import { basicSetup, EditorView } from 'codemirror';
import { getNotes, root } from '../page.js';

new EditorView({ doc: (await getNotes()).map((note) => `// ${note.title}\nsay("${note.text}");`).join('\n'), extensions: [basicSetup, javascript()], parent: root() });
