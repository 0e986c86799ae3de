import 'trix';
import { getNotes, put } from '../page.js';

const notes = await getNotes();
put('<input id="x" type="hidden"><trix-editor input="x"></trix-editor>');
document.querySelector('trix-editor').editor?.loadHTML(notes.map((note) => `<h1>${note.title}</h1><div>${note.text}</div>`).join(''));
