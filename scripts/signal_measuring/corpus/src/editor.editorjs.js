import EditorJS from '@editorjs/editorjs';
import { getNotes, put } from '../page.js';

const notes = await getNotes();
new EditorJS({ holder: put('<div></div>'), data: { blocks: notes.map((note) => ({ type: 'paragraph', data: { text: `${note.title}: ${note.text}` } })) } });
