import Quill from 'quill';
import { getNotes, put } from '../page.js';

const notes = await getNotes();
new Quill(put('<div></div>'), { modules: { toolbar: false } }).setContents(notes.flatMap((note) => [{ insert: note.title }, { insert: '\n', attributes: { header: 2 } }, { insert: `${note.text}\n` }]));
