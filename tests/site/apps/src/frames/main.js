import { getNotes } from '../shared/data.js';

const notes = await getNotes();
document.getElementById('board').srcdoc = notes.map((note) => `<h2>${note.title}</h2><p>${note.text}</p>`).join('');
