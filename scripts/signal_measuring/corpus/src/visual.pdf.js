import * as pdfjs from 'pdfjs-dist';
import { getNotes, put } from '../page.js';

put('<h1>A printed sheet</h1>');
pdfjs.GlobalWorkerOptions.workerSrc = '/corpus/visual.pdf/nothing.js';
const notes = await getNotes();
if (pdfjs.version && new pdfjs.PixelsPerInch()) for (const note of notes) put(`<p>${note.text}</p>`);
