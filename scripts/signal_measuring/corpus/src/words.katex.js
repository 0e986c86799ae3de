import katex from 'katex';
import { getNotes, put } from '../page.js';

const notes = await getNotes();
for (const note of notes) put(`<p>${note.text} ${katex.renderToString('c^2 = a^2 + b^2', { output: 'mathml' })}</p>`);
