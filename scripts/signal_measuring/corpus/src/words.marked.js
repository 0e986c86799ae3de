import DOMPurify from 'dompurify';
import { marked } from 'marked';
import { getNotes, put } from '../page.js';

put(`<main>${DOMPurify.sanitize(marked.parse((await getNotes()).map((note) => `## ${note.title}\n\n${note.text}\n\n- one\n- *two*`).join("\n\n")))}</main>`);
